/* The controller's registers: identify, configure, enable, disable, count. */
#include "internal.h"

uint32_t ft_read_register(const struct ft_device* device, uint32_t offset) {
    return device->platform.read32(device->platform.context, offset);
}

void ft_write_register(const struct ft_device* device, uint32_t offset, uint32_t value) {
    device->platform.write32(device->platform.context, offset, value);
}

void ft_barrier(const struct ft_device* device) {
    if (device->platform.barrier) device->platform.barrier(device->platform.context);
}

void ft_pause(const struct ft_device* device) {
    if (device->platform.pause) device->platform.pause(device->platform.context);
}

static uint32_t power_of_two_from(uint32_t least) {
    uint32_t value = 1;
    while (value < least) value *= 2;
    return value;
}

enum ft_error ft_probe(const struct ft_platform* platform, struct ft_info* info) {
    if (!platform || !info || !platform->read32 || !platform->write32) return FT_ERR_ARGUMENT;
    uint32_t registers[FLASHTRAIN_REGISTER_ZONES / 4 + 1];
    for (unsigned i = 0; i < sizeof registers / sizeof registers[0]; ++i) registers[i] = 0;
    static const uint8_t read[] = {FLASHTRAIN_REGISTER_ID,       FLASHTRAIN_REGISTER_VERSION,
                                   FLASHTRAIN_REGISTER_GEOMETRY, FLASHTRAIN_REGISTER_BLOCKS,
                                   FLASHTRAIN_REGISTER_PAGE,     FLASHTRAIN_REGISTER_LIMITS,
                                   FLASHTRAIN_REGISTER_ZONES,    FLASHTRAIN_REGISTER_CLOCK_MHZ};
    for (unsigned i = 0; i < sizeof read; ++i)
        registers[read[i] / 4] = platform->read32(platform->context, read[i]);
    if (registers[FLASHTRAIN_REGISTER_ID / 4] != FLASHTRAIN_ID_VALUE) return FT_ERR_MISMATCH;
    if (registers[FLASHTRAIN_REGISTER_VERSION / 4] != FLASHTRAIN_VERSION_VALUE) return FT_ERR_MISMATCH;

    const uint32_t geometry = registers[FLASHTRAIN_REGISTER_GEOMETRY / 4];
    const uint32_t blocks = registers[FLASHTRAIN_REGISTER_BLOCKS / 4];
    const uint32_t limits = registers[FLASHTRAIN_REGISTER_LIMITS / 4];
    const uint32_t zones = registers[FLASHTRAIN_REGISTER_ZONES / 4];
    info->version = registers[FLASHTRAIN_REGISTER_VERSION / 4];
    info->channels = geometry & 0xff;
    info->dies = geometry >> 8 & 0xff;
    info->planes = geometry >> 16 & 0xff;
    info->spare_blocks = (uint16_t)(geometry >> 24);
    info->zones = (uint16_t)((blocks & 0xffff) - info->spare_blocks);
    info->pages = (uint16_t)(blocks >> 16);
    info->page_bytes = registers[FLASHTRAIN_REGISTER_PAGE / 4] & 0xffff;
    info->commands = (uint16_t)limits;
    info->max_blocks = (uint16_t)(limits >> 16);
    info->max_open = (uint16_t)zones;
    info->max_active = (uint16_t)(zones >> 16);
    info->clock_mhz = registers[FLASHTRAIN_REGISTER_CLOCK_MHZ / 4];
    info->superpage = (uint32_t)info->channels * info->dies * info->planes;
    info->zone_capacity = info->superpage * info->pages;
    info->zone_size = info->superpage * power_of_two_from(info->pages);
    return info->superpage && info->zones && info->page_bytes ? FT_OK : FT_ERR_MISMATCH;
}

static uint32_t attributes_of(const struct ft_stream* stream) {
    uint8_t fields[4] = {0};
    flashtrain_put(fields, FLASHTRAIN_STREAM_ATTRIBUTES_VALID, 1);
    flashtrain_put(fields, FLASHTRAIN_STREAM_ATTRIBUTES_NON_VOLATILE, stream->persistency);
    flashtrain_put(fields, FLASHTRAIN_STREAM_ATTRIBUTES_HOST, stream->host);
    flashtrain_put(fields, FLASHTRAIN_STREAM_ATTRIBUTES_CORE, stream->core);
    flashtrain_put(fields, FLASHTRAIN_STREAM_ATTRIBUTES_RETENTION, stream->retention);
    flashtrain_put(fields, FLASHTRAIN_STREAM_ATTRIBUTES_REFUSES, stream->refuses);
    flashtrain_put(fields, FLASHTRAIN_STREAM_ATTRIBUTES_CODEC, stream->codec);
    return ft_get32(fields);
}

static void configure(struct ft_device* device) {
    const struct ft_platform* platform = &device->platform;
    const uint32_t ports = (1u << FLASHTRAIN_PORTS) - 1;
    ft_write_register(device, FLASHTRAIN_REGISTER_MEMORY_LOW, (uint32_t)platform->memory_bytes);
    ft_write_register(device, FLASHTRAIN_REGISTER_MEMORY_HIGH, (uint32_t)(platform->memory_bytes >> 32));
    ft_write_register(device, FLASHTRAIN_REGISTER_TIME,
                      platform->seconds ? platform->seconds(platform->context) : 0);
    ft_write_register(device, FLASHTRAIN_REGISTER_INTERRUPT, ports);
    ft_write_register(device, FLASHTRAIN_REGISTER_INTERRUPT_MASK, 0);
    for (uint8_t nsid = 1; nsid <= FLASHTRAIN_MAX_STREAMS; ++nsid) {
        const struct ft_stream* stream = ft_stream_of(device, nsid);
        const uint32_t zones = device->first_zone[nsid - 1] | (uint32_t)device->zone_count[nsid - 1] << 16;
        const uint32_t window = FLASHTRAIN_STREAM_ADDRESS((uint32_t)nsid, 0);
        if (stream) ft_write_register(device, window + FLASHTRAIN_STREAM_REGISTER_ZONES, zones);
        ft_write_register(device, window + FLASHTRAIN_STREAM_REGISTER_ATTRIBUTES,
                          stream ? attributes_of(stream) : 0);
    }
    ft_configure_queues(device);
}

enum ft_error ft_await_state(struct ft_device* device, uint32_t bit, bool value) {
    for (uint32_t poll = 0; poll < device->config.state_polls; ++poll) {
        const uint32_t state = ft_read_register(device, FLASHTRAIN_REGISTER_STATE);
        if (state & FLASHTRAIN_STATE_FATAL) return FT_ERR_FATAL;
        if (((state & bit) != 0) == value) return FT_OK;
        ft_pause(device);
    }
    return FT_ERR_TIMEOUT;
}

enum ft_error ft_enable(struct ft_device* device, uint32_t how) {
    ft_abandon(device);
    configure(device);
    ft_barrier(device);
    ft_write_register(device, FLASHTRAIN_REGISTER_CONTROL, FLASHTRAIN_CONTROL_ENABLE | how);
    const enum ft_error error = ft_await_state(device, FLASHTRAIN_STATE_READY, true);
    device->enabled = error == FT_OK;
    return error;
}

enum ft_error ft_disable(struct ft_device* device) {
    if (!device) return FT_ERR_ARGUMENT;
    ft_write_register(device, FLASHTRAIN_REGISTER_CONTROL, 0);
    const enum ft_error error = ft_await_state(device, FLASHTRAIN_STATE_READY, false);
    ft_abandon(device);
    return error;
}

static uint64_t read_long(const struct ft_device* device, uint32_t offset) {
    const uint64_t low = ft_read_register(device, offset); /* latches the high half */
    return low | (uint64_t)ft_read_register(device, offset + 4) << 32;
}

uint64_t ft_counter(struct ft_device* device, uint32_t counter) {
    return read_long(device, FLASHTRAIN_COUNTER_ADDRESS(counter));
}

uint64_t ft_channel_counter(struct ft_device* device, uint32_t channel, uint32_t counter) {
    ft_write_register(device, FLASHTRAIN_REGISTER_CHANNEL_SELECT, channel);
    return read_long(device, FLASHTRAIN_CHANNEL_COUNTER_ADDRESS(counter));
}

uint32_t ft_zone_wear(struct ft_device* device, uint32_t physical) {
    ft_write_register(device, FLASHTRAIN_REGISTER_ZONE_SELECT, physical);
    return ft_read_register(device, FLASHTRAIN_REGISTER_ZONE_WEAR);
}
