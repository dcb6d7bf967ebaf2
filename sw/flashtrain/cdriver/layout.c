/* The division of zones and of memory: between streams, and between driver and caller. */
#include "internal.h"

static uint64_t rounded_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

/* Queue bases are multiples of this many bytes. */
#define QUEUE_ALIGNMENT 64

static uint64_t queue_bytes(const struct ft_config* config) {
    const uint64_t entry = FLASHTRAIN_SUBMISSION_BYTES + FLASHTRAIN_COMPLETION_BYTES;
    return rounded_up(config->queue_entries * entry, QUEUE_ALIGNMENT);
}

static bool is_possible(const struct ft_info* info, const struct ft_config* config) {
    unsigned used = 0, journals = 0, shares = 0;
    if (!config->streams || config->stream_count < 1 || config->stream_count > FLASHTRAIN_MAX_STREAMS ||
        config->queue_entries < 2 || config->queue_entries > FT_MOST_QUEUE_ENTRIES ||
        !config->command_polls || !config->state_polls || info->zones < 2 * config->stream_count)
        return false;
    for (unsigned i = 0; i < config->stream_count; ++i) {
        const struct ft_stream* stream = &config->streams[i];
        if (stream->nsid < 1 || stream->nsid > FLASHTRAIN_MAX_STREAMS || used >> stream->nsid & 1)
            return false;
        if (stream->journal &&
            (stream->persistency != FLASHTRAIN_PERSISTENCY_NON_VOLATILE || stream->share ||
             stream->host != (FLASHTRAIN_ACCESS_READ | FLASHTRAIN_ACCESS_APPEND) ||
             stream->core != FLASHTRAIN_ACCESS_NONE || stream->codec != FLASHTRAIN_CODEC_RAW))
            return false;
        used |= 1u << stream->nsid;
        journals += stream->journal;
        shares += stream->share;
    }
    return journals <= 1 && shares;
}

static bool has_journal(const struct ft_config* config) {
    for (unsigned i = 0; i < config->stream_count; ++i)
        if (config->streams[i].journal) return true;
    return false;
}

/* Blocks of the longest record, and one at least for inspections and reports. */
static uint64_t least_scratch(const struct ft_info* info, const struct ft_config* config) {
    if (!has_journal(config)) return 1;
    const uint64_t payload = ft_payload(info->page_bytes);
    return ((uint64_t)ft_record_bytes(info->zones) + config->note_bytes + payload - 1) / payload;
}

static uint64_t scratch_blocks(const struct ft_info* info, const struct ft_config* config) {
    const uint64_t least = least_scratch(info, config), wished = config->scratch_bytes / info->page_bytes;
    return least > wished ? least : wished;
}

/* Owners of physical zones, and of allocations that lie in spares only. */
static size_t owner_room(const struct ft_info* info) {
    const uint32_t spares = ft_spare_count(info);
    return info->zones + (spares < info->zones ? spares : info->zones);
}

static size_t marked_bytes(const struct ft_info* info) {
    return ft_bitmap_bytes(info->spare_blocks ? ft_blocks(info) * info->superpage : 0);
}

enum ft_error ft_requirements(const struct ft_info* info, const struct ft_config* config,
                              struct ft_requirements* needed) {
    if (!info || !config || !needed || !is_possible(info, config)) return FT_ERR_ARGUMENT;
    const uint64_t room = info->zone_capacity < info->max_blocks ? info->zone_capacity : info->max_blocks;
    if (least_scratch(info, config) > room) return FT_ERR_NOTE_TOO_LONG;
    const uint64_t queues = rounded_up(FLASHTRAIN_PORTS * queue_bytes(config), info->page_bytes);
    needed->memory_bytes = queues + scratch_blocks(info, config) * info->page_bytes;
    needed->work_bytes = owner_room(info) * sizeof(struct ft_owner) +
                         ft_spare_count(info) * sizeof(struct ft_spare) +
                         info->zones * (3 * sizeof(uint32_t) + sizeof(uint16_t) + 2) + marked_bytes(info) +
                         ft_bitmap_bytes(info->superpage) + 2 * (size_t)config->note_bytes;
    return FT_OK;
}

/* Consecutive ranges by share, at least two zones each; the last stream with a share has what is left over.
 */
static void divide_zones(struct ft_device* device) {
    const struct ft_config* config = &device->config;
    uint32_t shares = 0, left = device->info.zones - 2 * config->stream_count, last = 0, start = 0;
    const uint32_t free_zones = left;
    for (unsigned i = 0; i < config->stream_count; ++i) shares += config->streams[i].share;
    for (unsigned i = 0; i < config->stream_count; ++i) {
        const uint32_t extra = free_zones * config->streams[i].share / shares;
        device->zone_count[config->streams[i].nsid - 1] = (uint16_t)(2 + extra);
        left -= extra;
        if (config->streams[i].share) last = i;
    }
    device->zone_count[config->streams[last].nsid - 1] =
        (uint16_t)(device->zone_count[config->streams[last].nsid - 1] + left);
    for (unsigned i = 0; i < config->stream_count; ++i) {
        device->first_zone[config->streams[i].nsid - 1] = (uint16_t)start;
        start += device->zone_count[config->streams[i].nsid - 1];
    }
}

/* Tables in the work memory, those with the widest members first. */
static void divide_work(struct ft_device* device, void* work) {
    const uint32_t zones = device->info.zones;
    device->owners = work;
    device->spares = (struct ft_spare*)(void*)(device->owners + owner_room(&device->info));
    device->floors = (uint32_t*)(void*)(device->spares + ft_spare_count(&device->info));
    device->wear = device->floors + zones;
    device->pointers = device->wear + zones;
    device->newest = (uint16_t*)(void*)(device->pointers + zones);
    device->retired = (uint8_t*)(device->newest + zones);
    device->uses = device->retired + zones;
    device->marked = device->uses + zones;
    device->columns = device->marked + marked_bytes(&device->info);
    device->notes = device->columns + ft_bitmap_bytes(device->info.superpage);
    device->notes_before = device->notes + device->config.note_bytes;
}

enum ft_error ft_init(struct ft_device* device, const struct ft_platform* platform,
                      const struct ft_config* config, void* work, size_t work_bytes) {
    struct ft_requirements needed;
    if (!device || !platform || !config || !platform->memory) return FT_ERR_ARGUMENT;
    ft_zero((uint8_t*)device, sizeof *device);
    device->platform = *platform;
    device->config = *config;
    enum ft_error error = ft_probe(platform, &device->info);
    if (error == FT_OK) error = ft_requirements(&device->info, config, &needed);
    if (error != FT_OK) return error;
    if (!work || work_bytes < needed.work_bytes || platform->memory_bytes < needed.memory_bytes)
        return FT_ERR_MEMORY;

    for (unsigned port = 0; port < FLASHTRAIN_PORTS; ++port) {
        device->queues[port].sq_address = port * queue_bytes(config);
        device->queues[port].cq_address =
            device->queues[port].sq_address + config->queue_entries * FLASHTRAIN_SUBMISSION_BYTES;
    }
    device->scratch = rounded_up(FLASHTRAIN_PORTS * queue_bytes(config), device->info.page_bytes);
    device->scratch_blocks = (uint32_t)scratch_blocks(&device->info, config);
    device->data = needed.memory_bytes;
    divide_zones(device);
    divide_work(device, work);
    const struct ft_stream* journal = ft_journal_stream(device);
    device->journal.nsid = journal ? journal->nsid : 0;
    ft_reset_queues(device);
    return FT_OK;
}

uint64_t ft_data_address(const struct ft_device* device) { return device->data; }

uint8_t* ft_pointer(const struct ft_device* device, uint64_t address) {
    return device->platform.memory + address;
}

uint32_t ft_zones(const struct ft_device* device, uint8_t nsid) {
    return ft_stream_of(device, nsid) ? device->zone_count[nsid - 1] : 0;
}

const struct ft_stream* ft_stream_of(const struct ft_device* device, uint8_t nsid) {
    for (unsigned i = 0; i < device->config.stream_count; ++i)
        if (device->config.streams[i].nsid == nsid) return &device->config.streams[i];
    return NULL;
}

const struct ft_stream* ft_journal_stream(const struct ft_device* device) {
    for (unsigned i = 0; i < device->config.stream_count; ++i)
        if (device->config.streams[i].journal) return &device->config.streams[i];
    return NULL;
}

bool ft_is_recorded(const struct ft_device* device, const struct ft_stream* stream) {
    return device->journal.nsid && stream && stream->persistency && !stream->journal;
}

bool ft_may_append(const struct ft_device* device, uint8_t port, uint8_t nsid) {
    const struct ft_stream* stream = ft_stream_of(device, nsid);
    return stream &&
           ((port == FLASHTRAIN_PORT_HOST ? stream->host : stream->core) & FLASHTRAIN_ACCESS_APPEND) != 0;
}

bool ft_appending_port(const struct ft_stream* stream, uint8_t* port) {
    *port = stream->host & FLASHTRAIN_ACCESS_APPEND ? FLASHTRAIN_PORT_HOST : FLASHTRAIN_PORT_CORE;
    return ((stream->host | stream->core) & FLASHTRAIN_ACCESS_APPEND) != 0;
}

bool ft_holds_zone(const struct ft_device* device, uint8_t nsid, uint32_t zone) {
    return ft_stream_of(device, nsid) && zone >= device->first_zone[nsid - 1] &&
           zone - device->first_zone[nsid - 1] < device->zone_count[nsid - 1];
}
