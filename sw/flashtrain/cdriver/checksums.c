/* The checksums of identities and journal records, bit by bit: recovery computes few of them. */
#include "internal.h"

/* CRC-16/IBM-3740: polynomial 1021h, most significant bit first, from all ones. */
uint16_t ft_crc16(const uint8_t* bytes, size_t count) {
    uint32_t crc = 0xffff;
    for (size_t i = 0; i < count; ++i) {
        crc ^= (uint32_t)bytes[i] << 8;
        for (unsigned bit = 0; bit < 8; ++bit) crc = crc << 1 ^ (crc & 0x8000u ? 0x1021u : 0);
    }
    return (uint16_t)crc;
}

/* CRC-32: the reflected polynomial EDB88320h, least significant bit first, from all ones, inverted. */
uint32_t ft_crc32(const uint8_t* bytes, size_t count) {
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < count; ++i) {
        crc ^= bytes[i];
        for (unsigned bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1u ? 0xedb88320u : 0);
    }
    return ~crc;
}
