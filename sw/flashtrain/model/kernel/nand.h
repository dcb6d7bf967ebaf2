// Operations of bus and array; the values are those of `flashtrain.spec.nand`.

#pragma once

#include <cstdint>

namespace flashtrain {

enum class BusOp : uint8_t {
    STATUS = 1, SUSPENDED_READ_RENEW = 2, READ_MORE = 3, READ_LAST = 4, CACHE_READ_LAST = 5, CACHE_READ_NEXT = 6,
    CACHE_READ_END = 7, ERASE_MORE = 8, ERASE_LAST = 9, UPDATE_SOURCE = 10, UPDATE_MORE = 11, UPDATE_LAST = 12,
    UPDATE_END = 13, SUSPENDED_READ_MORE = 14, SUSPENDED_READ_LAST = 15, SUSPENDED_READ_NEXT = 16,
    SUSPENDED_READ_END = 17, PROGRAM_PAGE = 18, SUSPENDED_READ_SELECT = 19, SELECT = 20, SELECT_COPY = 21,
    SELECT_STATISTICS = 22, PROGRAM_MORE = 24, PROGRAM_LAST = 25, LOAD_CONSTANTS = 26, LOAD_GRADIENT = 27,
    DATA_OUT = 60,
    CONFIRM_DATA = 32,  // of this model: the command behind a data in, with SCA
};

inline bool moves_page(BusOp op) { return (static_cast<uint8_t>(op) & 0x18) == 0x18; }
inline bool gives_page(BusOp op) { return op == BusOp::DATA_OUT; }
inline bool selects(BusOp op) { return (static_cast<uint8_t>(op) & 0x3C) == 0x14; }

enum class ArrayOp : uint8_t { SENSE, PROGRAM, ERASE };

// Bits of a status byte.
enum : uint8_t { SUSPENDED_READ_DONE = 1 << 4, ARDY = 1 << 5, RDY = 1 << 6 };

}  // namespace flashtrain
