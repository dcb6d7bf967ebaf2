// How a model is moved, with less work than its `eval`.
//
// `eval` first evaluates everything that depends on inputs, then looks for edges, and wants the falling edge, too. Here
// the caller knows whether inputs have changed, and that there is a rising edge. The names are those of the pinned
// version of Verilator.

#pragma once

#include "Vchannel___024root.h"
#include "Vhub___024root.h"
#include "verilated.h"

// Verilator spells the two underscores in the name of a port in this way.
#define PIN(bus, name) bus##___05F##name

bool Vhub___024root___eval_phase__ico(Vhub___024root*);
void Vhub___024root___eval_nba(Vhub___024root*);
bool Vchannel___024root___eval_phase__ico(Vchannel___024root*);
void Vchannel___024root___eval_nba(Vchannel___024root*);

namespace flashtrain {

// What depends on inputs follows them.
inline void settle(Vhub___024root& root) {
    root.__VicoFirstIteration = 1;
    Vhub___024root___eval_phase__ico(&root);
}
inline void settle(Vchannel___024root& root) {
    root.__VicoFirstIteration = 1;
    Vchannel___024root___eval_phase__ico(&root);
}

// The clock rises; inputs have been settled.
inline void rising_edge(Vhub___024root& root) {
    root.__VnbaTriggered[0] = 1;
    Vhub___024root___eval_nba(&root);
}
inline void rising_edge(Vchannel___024root& root) {
    root.__VnbaTriggered[0] = 1;
    Vchannel___024root___eval_nba(&root);
}

// Copies a value; true if it changes.
template <typename Value>
bool carry(Value& to, const Value& from) {
    const bool changed = to != from;
    to = from;
    return changed;
}
template <std::size_t words>
bool carry(VlWide<words>& to, const VlWide<words>& from) {
    to = from;
    return true;
}

}  // namespace flashtrain

using flashtrain::carry;
