/* Bytes in memory: copies, little-endian words, and bitmaps. */
#include "internal.h"

void ft_copy(uint8_t* to, const uint8_t* from, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) to[i] = from[i];
}

void ft_zero(uint8_t* to, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) to[i] = 0;
}

uint32_t ft_get32(const uint8_t* bytes) {
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

void ft_put32(uint8_t* bytes, uint32_t value) {
    for (unsigned i = 0; i < 4; ++i) bytes[i] = (uint8_t)(value >> 8 * i);
}

size_t ft_bitmap_bytes(uint32_t bits) { return (bits + 7u) / 8; }

bool ft_bit(const uint8_t* bitmap, uint32_t bit) { return (bitmap[bit / 8] >> bit % 8 & 1) != 0; }

void ft_set_bit(uint8_t* bitmap, uint32_t bit, bool value) {
    const uint8_t mask = (uint8_t)(1u << bit % 8);
    bitmap[bit / 8] = (uint8_t)(value ? bitmap[bit / 8] | mask : bitmap[bit / 8] & ~mask);
}
