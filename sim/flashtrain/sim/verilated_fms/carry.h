// A value carried from one place to another.

#pragma once

#include <cstddef>
#include <cstring>

#include "verilated.h"

namespace flashtrain {

// Copies a value; true if it changes.
template <typename Value>
bool carry(Value& to, const Value& from) {
    const bool changed = to != from;
    to = from;
    return changed;
}
template <std::size_t words>
bool carry(VlWide<words>& to, const VlWide<words>& from) {
    if constexpr (words <= 16) {
        // Less than to call a function.
        EData difference = 0;
        for (std::size_t i = 0; i < words; ++i) difference |= to[i] ^ from[i];
        if (difference == 0) return false;
    } else if (std::memcmp(&to, &from, sizeof to) == 0) {
        return false;
    }
    to = from;
    return true;
}

}  // namespace flashtrain
