/* Optimizer steps on the dies: constants, tiles, statistics. */
#include "internal.h"

static unsigned bytes_of_format(uint8_t format) { return format == FLASHTRAIN_GRADIENT_FORMAT_FP32 ? 4 : 2; }

/* Bytes of the numbers of an array. */
static uint32_t bytes_of_array(uint8_t format, uint32_t numbers) {
    static const uint8_t bytes[] = {[FLASHTRAIN_STATE_FORMAT_FP32] = 4,
                                    [FLASHTRAIN_STATE_FORMAT_BF16] = 2,
                                    [FLASHTRAIN_STATE_FORMAT_FP8] = 1,
                                    [FLASHTRAIN_STATE_FORMAT_SPLIT] = 4};
    return numbers * bytes[format];
}

/* Bytes of the scales of an array, which fill words. */
static uint32_t bytes_of_scales(uint8_t format, uint32_t numbers) {
    const uint32_t scales = numbers / FLASHTRAIN_SCALE_GROUP;
    return format == FLASHTRAIN_STATE_FORMAT_FP8 ? (scales + 3) / 4 * 4 : 0;
}

static uint16_t pages_of(const struct ft_device* device, uint32_t bytes) {
    return (uint16_t)((bytes + device->info.page_bytes - 1) / device->info.page_bytes);
}

enum ft_error ft_tile_of(const struct ft_device* device, const struct ft_step* step, struct ft_tile* tile) {
    static const uint8_t arrays[] = FLASHTRAIN_OPTIMIZER_ARRAYS;
    if (!device || !step || !tile || step->code >= sizeof arrays ||
        step->gradient_format > FLASHTRAIN_GRADIENT_FORMAT_BF16 ||
        step->copy_format > FLASHTRAIN_COPY_FORMAT_BF16 ||
        step->weight_format > FLASHTRAIN_STATE_FORMAT_SPLIT || step->weight_format == FLASHTRAIN_STATE_FORMAT_FP8 ||
        step->moment_format > FLASHTRAIN_STATE_FORMAT_FP8 || step->rounding > FLASHTRAIN_ROUNDING_STOCHASTIC ||
        step->rounding_key >> FLASHTRAIN_ROUNDING_KEY_BITS)
        return FT_ERR_ARGUMENT;
    const unsigned moments = arrays[step->code] - 1u;
    const bool narrow_weights = step->weight_format != FLASHTRAIN_STATE_FORMAT_FP32;
    const bool scaled = step->moment_format == FLASHTRAIN_STATE_FORMAT_FP8;
    if (narrow_weights && step->copy_format == FLASHTRAIN_COPY_FORMAT_FP16) return FT_ERR_ARGUMENT;
    /* The M of schedule-free AdamW is weights. */
    if (scaled && (!device->config.keeps_fp8 || step->code == FLASHTRAIN_OPTIMIZER_ADAMW_SCHEDULE_FREE))
        return FT_ERR_ARGUMENT;
    const uint32_t bytes = device->info.planes * device->info.page_bytes;
    /* A word has two numbers of 16 bits, a scale is of several numbers. */
    uint32_t multiple = narrow_weights ? 2 : 1;
    if (moments && scaled) multiple = FLASHTRAIN_SCALE_GROUP;
    if (moments && step->moment_format == FLASHTRAIN_STATE_FORMAT_BF16) multiple = 2;
    const uint32_t each =
        bytes_of_array(step->weight_format, 1) + moments * bytes_of_array(step->moment_format, 1);
    tile->parameters = bytes / each / multiple * multiple;
    while (tile->parameters * each + moments * bytes_of_scales(step->moment_format, tile->parameters) > bytes)
        tile->parameters -= multiple;
    tile->gradient_pages = pages_of(device, tile->parameters * bytes_of_format(step->gradient_format));
    if (tile->gradient_pages > device->info.planes) return FT_ERR_ARGUMENT;
    tile->copy_pages = 0;
    if (step->copy_format != FLASHTRAIN_COPY_FORMAT_NONE)
        tile->copy_pages = pages_of(device, tile->parameters * bytes_of_format(step->copy_format));
    return FT_OK;
}

static uint32_t dies_of(const struct ft_device* device) {
    return (uint32_t)device->info.channels * device->info.dies;
}

/* A command with a page of each die. */
static enum ft_error exchange(struct ft_device* device, uint8_t opcode, uint8_t port, uint8_t nsid,
                              uint64_t address) {
    const struct ft_command command = {.opcode = opcode,
                                       .nsid = nsid,
                                       .blocks = dies_of(device),
                                       .address = address,
                                       .length = dies_of(device) * device->info.page_bytes};
    return ft_execute(device, port, &command, NULL);
}

enum ft_error ft_set_constants(struct ft_device* device, uint8_t port, uint8_t nsid,
                               const struct ft_step* step, uint64_t address) {
    struct ft_tile tile;
    if (ft_check_user(device, port, nsid) != FT_OK || ft_tile_of(device, step, &tile) != FT_OK ||
        step->page >= device->info.pages || ft_check_data(device, address, dies_of(device)) != FT_OK)
        return FT_ERR_ARGUMENT;
    for (uint32_t die = 0; die < dies_of(device); ++die) {
        uint8_t* header = ft_pointer(device, address + (uint64_t)die * device->info.page_bytes);
        ft_zero(header, device->info.page_bytes);
        flashtrain_put(header, FLASHTRAIN_UPDATE_HEADER_CODE, step->code);
        flashtrain_put(header, FLASHTRAIN_UPDATE_HEADER_GRADIENT_FORMAT, step->gradient_format);
        flashtrain_put(header, FLASHTRAIN_UPDATE_HEADER_COPY_FORMAT, step->copy_format);
        flashtrain_put(header, FLASHTRAIN_UPDATE_HEADER_WEIGHT_FORMAT, step->weight_format);
        flashtrain_put(header, FLASHTRAIN_UPDATE_HEADER_MOMENT_FORMAT, step->moment_format);
        flashtrain_put(header, FLASHTRAIN_UPDATE_HEADER_ROUNDING, step->rounding);
        flashtrain_put(header, FLASHTRAIN_UPDATE_HEADER_ROUNDING_KEY, step->rounding_key);
        flashtrain_put(header, FLASHTRAIN_UPDATE_HEADER_FIRST_ZONE, device->first_zone[nsid - 1]);
        flashtrain_put(header, FLASHTRAIN_UPDATE_HEADER_FIRST_PAGE, step->page);
        flashtrain_put(header, FLASHTRAIN_UPDATE_HEADER_PARAMETERS, tile.parameters);
        for (unsigned i = 0; i < sizeof step->constants / sizeof step->constants[0]; ++i)
            flashtrain_put(header, FLASHTRAIN_UPDATE_HEADER_CONSTANTS(i), step->constants[i]);
    }
    return exchange(device, FLASHTRAIN_OPCODE_SET_CONSTANTS, port, nsid, address);
}

enum ft_error ft_get_statistics(struct ft_device* device, uint8_t port, uint8_t nsid, uint64_t address,
                                struct ft_statistics* statistics, uint32_t dies) {
    if (ft_check_user(device, port, nsid) != FT_OK || !statistics || dies > dies_of(device) ||
        ft_check_data(device, address, dies_of(device)) != FT_OK)
        return FT_ERR_ARGUMENT;
    const enum ft_error error = exchange(device, FLASHTRAIN_OPCODE_GET_STATISTICS, port, nsid, address);
    if (error != FT_OK) return error;
    for (uint32_t die = 0; die < dies; ++die) {
        const uint8_t* page = ft_pointer(device, address + (uint64_t)die * device->info.page_bytes);
        struct ft_statistics* of = &statistics[die];
        of->nans = (uint32_t)flashtrain_get(page, FLASHTRAIN_UPDATE_STATISTICS_NANS);
        of->infinities = (uint32_t)flashtrain_get(page, FLASHTRAIN_UPDATE_STATISTICS_INFINITIES);
        of->largest = (uint32_t)flashtrain_get(page, FLASHTRAIN_UPDATE_STATISTICS_LARGEST);
        of->tiles = (uint32_t)flashtrain_get(page, FLASHTRAIN_UPDATE_STATISTICS_TILES);
        for (unsigned i = 0; i < sizeof of->squares / sizeof of->squares[0]; ++i)
            of->squares[i] = (uint32_t)flashtrain_get(page, FLASHTRAIN_UPDATE_STATISTICS_SQUARES(i));
    }
    return FT_OK;
}

static enum ft_error update_command(const struct ft_device* device, struct ft_command* command, uint8_t port,
                                    uint8_t destination, uint8_t source, uint32_t zone, uint32_t page,
                                    const struct ft_tile* tile, uint32_t rows, uint64_t address) {
    if (ft_check_user(device, port, destination) != FT_OK || ft_check_user(device, port, source) != FT_OK ||
        !tile || tile->gradient_pages < 1 || tile->gradient_pages > device->info.planes ||
        tile->copy_pages > tile->gradient_pages || page >= device->info.pages || rows < 1 ||
        rows > device->info.max_blocks)
        return FT_ERR_ARGUMENT;
    const uint64_t blocks = (uint64_t)rows * tile->gradient_pages * device->info.channels;
    if (blocks > device->info.max_blocks || ft_check_data(device, address, (uint32_t)blocks) != FT_OK)
        return FT_ERR_ARGUMENT;
    *command = (struct ft_command){.opcode = FLASHTRAIN_OPCODE_UPDATE,
                                   .nsid = destination,
                                   .slba = (uint64_t)zone * device->info.zone_size,
                                   .blocks = (uint32_t)blocks,
                                   .address = address,
                                   .length = (uint32_t)blocks * device->info.page_bytes,
                                   .pages = (uint8_t)tile->gradient_pages,
                                   .copies = (uint8_t)tile->copy_pages,
                                   .rows = (uint16_t)rows,
                                   .source = source,
                                   .source_page = (uint16_t)page};
    return FT_OK;
}

enum ft_error ft_submit_update(struct ft_device* device, struct ft_request* request, uint8_t port,
                               uint8_t destination, uint8_t source, uint32_t zone, uint32_t page,
                               const struct ft_tile* tile, uint32_t rows, uint64_t address) {
    struct ft_command command;
    const enum ft_error error =
        update_command(device, &command, port, destination, source, zone, page, tile, rows, address);
    if (error != FT_OK || !request) return FT_ERR_ARGUMENT;
    return ft_submit(device, request, port, &command);
}

enum ft_error ft_update(struct ft_device* device, uint8_t port, uint8_t destination, uint8_t source,
                        uint32_t zone, uint32_t page, const struct ft_tile* tile, uint32_t rows,
                        uint64_t address, uint64_t* lba) {
    struct ft_command command;
    const enum ft_error error =
        update_command(device, &command, port, destination, source, zone, page, tile, rows, address);
    return error == FT_OK ? ft_execute(device, port, &command, lba) : error;
}
