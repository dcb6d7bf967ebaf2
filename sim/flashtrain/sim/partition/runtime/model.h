// Access to a Verilated model: its ports, and its clock.
//
// A model is clocked here with less work than by its `eval`.
// `eval` first evaluates all logic behind inputs, then searches for edges, and needs the falling edge, too. Here the
// caller has the information whether inputs have changed, and that there is a rising edge. The names are those of the
// pinned version of Verilator; `models.h`, which is generated, has a line for each model.

#pragma once

#include <cstddef>
#include <cstdint>
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

// A value in 64 bits; of wide ones a digest.
template <typename Value>
uint64_t digest(const Value& value) {
    return value;
}
template <std::size_t words>
uint64_t digest(const VlWide<words>& value) {
    uint64_t sum = 14695981039346656037u;
    for (std::size_t i = 0; i < words; ++i) sum = (sum ^ value[i]) * 1099511628211u;
    return sum;
}

}  // namespace flashtrain

// A model in which outputs or registers follow inputs by way of some logic.
#define FLASHTRAIN_SETTLE(Model)                                                      \
    void Model##___024root___eval_ico(Model##___024root*);                            \
    namespace flashtrain {                                                            \
    /* What depends on inputs follows them. */                                        \
    inline void settle(Model##___024root& root) {                                     \
        root.__VicoTriggered[0] = 1;                                                  \
        Model##___024root___eval_ico(&root);                                          \
    }                                                                                 \
    }

// A model with one clock.
#define FLASHTRAIN_EDGE(Model)                                                        \
    void Model##___024root___eval_nba(Model##___024root*);                            \
    namespace flashtrain {                                                            \
    /* The clock rises; inputs have been settled. */                                  \
    inline void rising_edge(Model##___024root& root) {                                \
        root.__VnbaTriggered[0] = 1;                                                  \
        Model##___024root___eval_nba(&root);                                          \
        root.__VnbaTriggered[0] = 0; /* or the next `eval` would be another edge */   \
    }                                                                                 \
    }
