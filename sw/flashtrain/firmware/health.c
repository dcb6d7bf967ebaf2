/* The health log page, by the controller's registers. */
#include "internal.h"

static uint32_t read_register(const struct ft_firmware* firmware, uint32_t offset) {
    return firmware->hooks.read_register(firmware->hooks.context, offset);
}

static void write_register(const struct ft_firmware* firmware, uint32_t offset, uint32_t value) {
    firmware->hooks.write_register(firmware->hooks.context, offset, value);
}

static uint64_t counter(const struct ft_firmware* firmware, uint32_t address) {
    const uint64_t low = read_register(firmware, address); /* latches the high half */
    return low | (uint64_t)read_register(firmware, address + 4) << 32;
}

/* A count as bytes in units, rounded up, without a multiplication or a division of 64 bits. */
static uint64_t units(uint64_t count, uint32_t bytes) {
    uint64_t whole = 0, rest = 0, product = 0;
    for (; bytes; bytes >>= 1, count += count) {
        if (bytes & 1) product += count;
    }
    for (unsigned bit = 0; bit < 64; ++bit) {
        rest = rest << 1 | product >> 63;
        product += product;
        whole += whole;
        if (rest >= FLASHTRAIN_HEALTH_UNIT_BYTES) {
            rest -= FLASHTRAIN_HEALTH_UNIT_BYTES;
            ++whole;
        }
    }
    return whole + (rest != 0);
}

static void put64(struct ft_firmware* firmware, uint32_t place, uint64_t value) {
    ft_fw_put32(firmware->page + place, (uint32_t)value);
    ft_fw_put32(firmware->page + place + 4, (uint32_t)(value >> 32));
}

/* Percent of the endurance that the most worn zone has used, at most 255. */
static uint8_t used(const struct ft_firmware* firmware) {
    const uint32_t zones = ft_fw_word(firmware, FLASHTRAIN_TABLE_ZONES);
    uint32_t most = 0;
    for (uint32_t zone = 0; zone < zones; ++zone) {
        write_register(firmware, FLASHTRAIN_REGISTER_ZONE_SELECT, zone);
        const uint32_t wear = read_register(firmware, FLASHTRAIN_REGISTER_ZONE_WEAR);
        if (wear > most) most = wear;
    }
    const uint32_t percent = 100 * most / ft_fw_word(firmware, FLASHTRAIN_TABLE_ENDURANCE);
    return (uint8_t)(percent < 255 ? percent : 255);
}

/* Percent of the spare blocks that are left. */
static uint8_t spare(const struct ft_firmware* firmware) {
    const uint32_t spares = ft_fw_word(firmware, FLASHTRAIN_TABLE_SPARES);
    const uint32_t channels = ft_fw_word(firmware, FLASHTRAIN_TABLE_CHANNELS);
    uint32_t taken = 0;
    if (!spares) return 100;
    for (uint32_t channel = 0; channel < channels; ++channel) {
        write_register(firmware, FLASHTRAIN_REGISTER_CHANNEL_SELECT, channel);
        taken += (uint32_t)counter(
            firmware, FLASHTRAIN_CHANNEL_COUNTER_ADDRESS(FLASHTRAIN_CHANNEL_COUNTER_BLOCKS_REPLACED));
    }
    return (uint8_t)(taken < spares ? 100 - 100 * taken / spares : 0);
}

void ft_fw_fill_health(struct ft_firmware* firmware, const struct ft_fw_data* template) {
    const uint32_t bytes = ft_fw_word(firmware, FLASHTRAIN_TABLE_PAGE_BYTES);
    for (uint32_t place = 0; place < sizeof firmware->page; ++place)
        firmware->page[place] = place < template->stored ? template->bytes[place] : 0;
    const uint8_t left = spare(firmware), percent = used(firmware);
    firmware->page[FLASHTRAIN_HEALTH_WARNING] =
        (uint8_t)((left < FLASHTRAIN_LEAST_SPARE ? FLASHTRAIN_SPARE_LOW : 0) |
                  (percent >= 100 ? FLASHTRAIN_UNRELIABLE : 0));
    firmware->page[FLASHTRAIN_HEALTH_SPARE] = left;
    firmware->page[FLASHTRAIN_HEALTH_USED] = percent;
    put64(firmware, FLASHTRAIN_HEALTH_READ,
          units(counter(firmware, FLASHTRAIN_COUNTER_ADDRESS(FLASHTRAIN_COUNTER_PAGES_READ)), bytes));
    put64(firmware, FLASHTRAIN_HEALTH_WRITTEN,
          units(counter(firmware, FLASHTRAIN_COUNTER_ADDRESS(FLASHTRAIN_COUNTER_PAGES_APPENDED)), bytes));
    put64(firmware, FLASHTRAIN_HEALTH_READS,
          counter(firmware, FLASHTRAIN_COUNTER_ADDRESS(FLASHTRAIN_COUNTER_READS)));
    put64(firmware, FLASHTRAIN_HEALTH_WRITES,
          counter(firmware, FLASHTRAIN_COUNTER_ADDRESS(FLASHTRAIN_COUNTER_APPENDS)));
    put64(firmware, FLASHTRAIN_HEALTH_ERRORS, firmware->refusal_count);
}
