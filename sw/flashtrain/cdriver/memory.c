/* Bytes in memory: copies, and little-endian words. */
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
