/* The key of the identity of a page (flashtrain.spec.randomizer). */
#include "internal.h"

static uint32_t rotated(uint32_t half, unsigned bits) {
    const uint32_t mask = (1u << FLASHTRAIN_KEY_HALF_BITS) - 1;
    return (half << bits | half >> (FLASHTRAIN_KEY_HALF_BITS - bits)) & mask;
}

static uint32_t word_key(const struct ft_place* place, uint32_t word) {
    static const uint16_t constants[] = FLASHTRAIN_KEY_ROUND_CONSTANTS;
    uint32_t left = word, right = place->page | place->plane << FLASHTRAIN_KEY_PAGE_BITS;
    for (unsigned i = 0; i < sizeof constants / sizeof constants[0]; ++i) {
        const uint32_t mixed = (rotated(left, 1) & rotated(left, 8)) ^ rotated(left, 2);
        const uint32_t next = right ^ mixed ^ constants[i];
        right = left;
        left = next;
    }
    return left << FLASHTRAIN_KEY_HALF_BITS | right;
}

/* The key behind that of the data; the version of the identity has none. */
void ft_identity_key(const struct ft_info* info, const struct ft_place* place, uint8_t* key) {
    const uint32_t first = info->page_bytes / FLASHTRAIN_KEY_WORD_BYTES;
    for (uint32_t i = 0; i < FLASHTRAIN_PAGE_IDENTITY_BYTES / FLASHTRAIN_KEY_WORD_BYTES; ++i)
        ft_put32(key + i * FLASHTRAIN_KEY_WORD_BYTES, word_key(place, first + i));
    flashtrain_put(key, FLASHTRAIN_PAGE_IDENTITY_VERSION, 0);
}
