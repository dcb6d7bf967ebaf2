/* A first program for a flashtrain device: it opens the device, stores data, and finds them after a power
 * cut.
 *
 * Each start appends one array to the stream "inputs" and reads all of them back. See docs/c-driver.md.
 */
#include "flashtrain_driver.h"

#define INPUTS 1 /* NSID of the stream in the node's table */
#define BLOCKS 4 /* of one array */

static const struct ft_stream streams[] = {FLASHTRAIN_NODE_SINGLE(FT_STREAM)};

static const struct ft_config config = {
    .streams = streams,
    .stream_count = sizeof streams / sizeof streams[0],
    .queue_entries = 16,
    .note_bytes = 256,
    .command_polls = 1000000, /* times the duration of a pause */
    .state_polls = 1000000,
    .corrects_errors = false, /* as the device's configuration says */
    .randomizes = false,
};

static struct ft_device device;
static uint64_t work[1024]; /* ft_requirements says how much a device needs */

/* Byte `i` of array number `number`. */
static uint8_t sample(uint32_t number, uint32_t i) { return (uint8_t)(number * 31 + i * 7); }

static enum ft_error store(uint32_t zone, uint32_t number) {
    const uint64_t address = ft_data_address(&device);
    uint64_t lba;
    for (uint32_t i = 0; i < BLOCKS * device.info.page_bytes; ++i)
        ft_pointer(&device, address)[i] = sample(number, i);
    return ft_append(&device, FLASHTRAIN_PORT_HOST, INPUTS, zone, address, BLOCKS, &lba);
}

/* Two reads in flight at a time, each into its own half of the memory. */
static enum ft_error check(uint32_t zone, uint32_t first, uint32_t count) {
    struct ft_request requests[2];
    const uint32_t bytes = BLOCKS * device.info.page_bytes;
    for (uint32_t number = 0; number < count + 1; ++number) {
        if (number < count) {
            const uint64_t lba = (uint64_t)zone * device.info.zone_size + number * BLOCKS;
            const uint64_t address = ft_data_address(&device) + number % 2 * bytes;
            const enum ft_error error = ft_submit_read(&device, &requests[number % 2], FLASHTRAIN_PORT_CORE,
                                                       INPUTS, lba, address, BLOCKS);
            if (error != FT_OK) return error;
        }
        if (number > 0) {
            const uint32_t before = number - 1;
            const uint8_t* data = ft_pointer(&device, ft_data_address(&device) + before % 2 * bytes);
            const enum ft_error error = ft_wait(&device, &requests[before % 2]);
            if (error != FT_OK) return error;
            for (uint32_t i = 0; i < bytes; ++i)
                if (data[i] != sample(first + before, i)) return FT_ERR_PROTOCOL;
        }
    }
    return FT_OK;
}

/* One start of the firmware. new_flash: nothing was ever stored. *stored: the arrays there are afterwards. */
enum ft_error demo(const struct ft_platform* platform, bool new_flash, uint32_t* stored) {
    struct ft_zone zone;
    enum ft_error error = ft_init(&device, platform, &config, work, sizeof work);
    if (error == FT_OK) error = new_flash ? ft_format(&device, false) : ft_recover(&device, NULL);
    if (error != FT_OK) return error;
    error = ft_report(&device, FLASHTRAIN_PORT_HOST, INPUTS, 0, &zone, 1);
    if (error == FT_OK && zone.room < BLOCKS) /* full, or closed by a power cut: begin anew */
        error = ft_stream_reset(&device, FLASHTRAIN_PORT_HOST, INPUTS);
    if (error == FT_OK) error = ft_report(&device, FLASHTRAIN_PORT_HOST, INPUTS, 0, &zone, 1);
    if (error != FT_OK) return error;
    const uint32_t before = (zone.capacity - zone.room) / BLOCKS;
    error = store(0, before);
    if (error == FT_OK) error = check(0, 0, before + 1);
    *stored = before + 1;
    return error == FT_OK ? ft_shutdown(&device) : error;
}
