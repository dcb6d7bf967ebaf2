// CRC-32 of IEEE 802.3, clause 3.2.9, sixteen bytes at a time.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

inline const std::array<std::array<uint32_t, 256>, 16>& crc32_tables() {
  static const auto tables = [] {
    std::array<std::array<uint32_t, 256>, 16> made{};
    for (uint32_t byte = 0; byte < 256; ++byte) {
      uint32_t rest = byte;
      for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ (rest & 1 ? 0xEDB88320 : 0);
      made[0][byte] = rest;
    }
    for (int further = 1; further < 16; ++further) {
      for (int byte = 0; byte < 256; ++byte) {
        const uint32_t before = made[further - 1][byte];
        made[further][byte] = before >> 8 ^ made[0][before & 0xFF];
      }
    }
    return made;
  }();
  return tables;
}

inline uint32_t crc32(const uint8_t* data, int64_t bytes) {
  const auto& tables = crc32_tables();
  uint32_t rest = ~0u;
  for (; bytes >= 16; bytes -= 16, data += 16) {
    uint32_t first;
    std::memcpy(&first, data, sizeof first);
    first ^= rest;
    rest = 0;
    for (int k = 0; k < 4; ++k) rest ^= tables[15 - k][first >> 8 * k & 0xFF];
    for (int k = 4; k < 16; ++k) rest ^= tables[15 - k][data[k]];
  }
  for (; bytes > 0; --bytes, ++data) rest = rest >> 8 ^ tables[0][(rest ^ *data) & 0xFF];
  return ~rest;
}
