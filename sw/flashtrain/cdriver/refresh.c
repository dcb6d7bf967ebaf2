/* The end of a refresh of old data that a loss of power has interrupted (flashtrain.host.streams.refresh).
 *
 * A refresh copies a zone to a spare zone of its stream, resets it, and copies the content back. The journal
 * shows which of the two has the whole content. The data pass through the scratch memory.
 */
#include "internal.h"

/* The stream of a refresh, and the ports that may read it and append to it; zones count within the stream. */
struct refresh {
    uint8_t nsid, reads, appends;
    uint32_t zone, spare;
};

static uint8_t port_with(const struct ft_stream* stream, uint8_t access) {
    return stream->host & access ? FLASHTRAIN_PORT_HOST : FLASHTRAIN_PORT_CORE;
}

static bool find_refresh(const struct ft_device* device, struct refresh* found) {
    const struct ft_journal* journal = &device->journal;
    for (unsigned i = 0; i < device->config.stream_count; ++i) {
        const struct ft_stream* stream = &device->config.streams[i];
        if (!ft_holds_zone(device, stream->nsid, journal->copy_zone) ||
            !ft_holds_zone(device, stream->nsid, journal->copy_spare))
            continue;
        const uint32_t first = device->first_zone[stream->nsid - 1];
        *found = (struct refresh){.nsid = stream->nsid,
                                  .reads = port_with(stream, FLASHTRAIN_ACCESS_READ),
                                  .appends = port_with(stream, FLASHTRAIN_ACCESS_APPEND),
                                  .zone = journal->copy_zone - first,
                                  .spare = journal->copy_spare - first};
        return true;
    }
    return false;
}

/* FT_ERR_FOREIGN_CONTENT if a refresh has not ended, and the table of streams has no such zones. */
enum ft_error ft_check_refresh(const struct ft_device* device) {
    struct refresh found;
    return device->journal.copied && !find_refresh(device, &found) ? FT_ERR_FOREIGN_CONTENT : FT_OK;
}

static enum ft_error report(struct ft_device* device, const struct refresh* of, uint32_t zone,
                            struct ft_zone* found) {
    return ft_report_zones(device, of->appends, of->nsid, zone, found, 1);
}

static enum ft_error manage(struct ft_device* device, const struct refresh* of, uint32_t zone, uint8_t action,
                            bool unsure) {
    const struct ft_command command = {.opcode = FLASHTRAIN_OPCODE_ZONE_MANAGEMENT_SEND,
                                       .nsid = of->nsid,
                                       .slba = (uint64_t)zone * device->info.zone_size,
                                       .action = action,
                                       .unsure = unsure};
    return ft_execute(device, of->appends, &command, NULL);
}

/* The reset is not recorded. */
static enum ft_error empty(struct ft_device* device, const struct refresh* of, uint32_t zone) {
    struct ft_zone found;
    const enum ft_error error = report(device, of, zone, &found);
    if (error != FT_OK || found.state == FLASHTRAIN_ZONE_STATE_EMPTY) return error;
    return manage(device, of, zone, FLASHTRAIN_ZONE_ACTION_RESET, false);
}

static enum ft_error transfer(struct ft_device* device, const struct refresh* of, uint8_t opcode,
                              uint64_t slba, uint32_t blocks) {
    const struct ft_command command = {.opcode = opcode,
                                       .nsid = of->nsid,
                                       .slba = slba,
                                       .blocks = blocks,
                                       .address = device->scratch,
                                       .length = blocks * device->info.page_bytes};
    return ft_execute(device, opcode == FLASHTRAIN_OPCODE_READ ? of->reads : of->appends, &command, NULL);
}

/* Copy the first blocks of the spare zone to the zone, which is empty. */
static enum ft_error copy_back(struct ft_device* device, const struct refresh* of, uint32_t blocks) {
    const uint32_t size = device->info.zone_size, room = device->scratch_blocks;
    const uint32_t most = room < device->info.max_blocks ? room : device->info.max_blocks;
    for (uint32_t done = 0; done < blocks;) {
        const uint32_t part = blocks - done < most ? blocks - done : most;
        const uint64_t from = (uint64_t)of->spare * size + done, to = (uint64_t)of->zone * size + done;
        enum ft_error error = transfer(device, of, FLASHTRAIN_OPCODE_READ, from, part);
        if (error == FT_OK) error = transfer(device, of, FLASHTRAIN_OPCODE_WRITE, to, part);
        if (error != FT_OK) return error;
        done += part;
    }
    return ft_flush(device, of->appends, of->nsid);
}

/* Record that the content of the spare zone is not needed any longer, then empty it. */
static enum ft_error drop_spare(struct ft_device* device, const struct refresh* of) {
    struct ft_journal* journal = &device->journal;
    const uint32_t floor = device->floors[journal->copy_spare];
    ft_raise_floor(device, journal->copy_spare);
    journal->copied = false;
    const enum ft_error error = ft_write_record(device);
    if (error == FT_OK) return empty(device, of, of->spare);
    journal->copied = true;
    device->floors[journal->copy_spare] = floor;
    return error;
}

static enum ft_error end_refresh(struct ft_device* device, const struct refresh* of) {
    struct ft_zone spare;
    if (!device->journal.copy_whole) return drop_spare(device, of);
    enum ft_error error = empty(device, of, of->zone);
    if (error == FT_OK) error = report(device, of, of->spare, &spare);
    if (error == FT_OK) error = copy_back(device, of, spare.written);
    if (error == FT_OK)
        error = manage(device, of, of->zone, FLASHTRAIN_ZONE_ACTION_FINISH, spare.unsure);
    return error == FT_OK ? drop_spare(device, of) : error;
}

static enum ft_error set_pin(struct ft_device* device, const struct refresh* of, uint8_t action) {
    const struct ft_command command = {
        .opcode = FLASHTRAIN_OPCODE_GENERATION, .nsid = of->nsid, .action = action};
    return device->pinned[of->nsid - 1] ? ft_execute(device, of->appends, &command, NULL) : FT_OK;
}

/* End a refresh after a recovery. If the device refuses a command, the spare zone keeps the content, and the
 * next recovery tries again. A pinned stream is released meanwhile, without a record. */
enum ft_error ft_end_refresh(struct ft_device* device) {
    struct refresh of;
    if (!device->journal.copied || !find_refresh(device, &of)) return FT_OK;
    enum ft_error error = set_pin(device, &of, FLASHTRAIN_GENERATION_RELEASE);
    if (error == FT_OK) error = end_refresh(device, &of);
    const enum ft_error pinned = set_pin(device, &of, FLASHTRAIN_GENERATION_PIN);
    if (error == FT_OK) error = pinned;
    return error == FT_ERR_STATUS || error == FT_ERR_SPARES ? FT_OK : error;
}
