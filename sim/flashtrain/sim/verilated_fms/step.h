// How a model is moved, with less work than its `eval`.
//
// `eval` first evaluates everything that depends on inputs, then looks for edges, and wants the falling edge, too. Here
// the caller knows whether inputs have changed, and that there is a rising edge. The names are those of the pinned
// version of Verilator.

#pragma once

#include "Vchannel___024root.h"
#include "Vchannel_clockwork___024root.h"
#include "Vdie___024root.h"
#include "Vhub___024root.h"
#include "Vhub_clockwork___024root.h"
#include "verilated.h"

// Verilator spells the two underscores in the name of a port in this way.
#define PIN(bus, name) bus##___05F##name

#define FLASHTRAIN_MODEL(Model)                                                     \
    bool Model##___024root___eval_phase__ico(Model##___024root*);                     \
    void Model##___024root___eval_nba(Model##___024root*);                            \
    namespace flashtrain {                                                            \
    /* What depends on inputs follows them. */                                        \
    inline void settle(Model##___024root& root) {                                     \
        root.__VicoFirstIteration = 1;                                                \
        Model##___024root___eval_phase__ico(&root);                                   \
    }                                                                                 \
    /* The clock rises; inputs have been settled. */                                  \
    inline void rising_edge(Model##___024root& root) {                                \
        root.__VnbaTriggered[0] = 1;                                                  \
        Model##___024root___eval_nba(&root);                                          \
    }                                                                                 \
    }

FLASHTRAIN_MODEL(Vhub)
FLASHTRAIN_MODEL(Vhub_clockwork)
FLASHTRAIN_MODEL(Vchannel)
FLASHTRAIN_MODEL(Vchannel_clockwork)
FLASHTRAIN_MODEL(Vdie)
