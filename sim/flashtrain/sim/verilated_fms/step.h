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

#define FLASHTRAIN_SETTLE(Model)                                                      \
    bool Model##___024root___eval_phase__ico(Model##___024root*);                     \
    namespace flashtrain {                                                            \
    /* What depends on inputs follows them. */                                        \
    inline void settle(Model##___024root& root) {                                     \
        root.__VicoFirstIteration = 1;                                                \
        Model##___024root___eval_phase__ico(&root);                                   \
    }                                                                                 \
    }

#define FLASHTRAIN_MODEL(Model)                                                       \
    FLASHTRAIN_SETTLE(Model)                                                          \
    void Model##___024root___eval_nba(Model##___024root*);                            \
    namespace flashtrain {                                                            \
    /* The clock rises; inputs have been settled. */                                  \
    inline void rising_edge(Model##___024root& root) {                                \
        root.__VnbaTriggered[0] = 1;                                                  \
        Model##___024root___eval_nba(&root);                                          \
    }                                                                                 \
    }

// A model that has clocks of its own, too, which follow from what `clk` has done.
#define FLASHTRAIN_MODEL_WITH_CLOCKS(Model)                                           \
    FLASHTRAIN_SETTLE(Model)                                                          \
    bool Model##___024root___eval_phase__act(Model##___024root*);                     \
    bool Model##___024root___eval_phase__nba(Model##___024root*);                     \
    namespace flashtrain {                                                            \
    inline void rising_edge(Model##___024root& root) {                                \
        root.clk = 1;                                                                 \
        root.__Vtrigprevexpr___TOP__clk__0 = 0;                                       \
        do {                                                                          \
            while (Model##___024root___eval_phase__act(&root)) {                      \
            }                                                                         \
        } while (Model##___024root___eval_phase__nba(&root));                         \
    }                                                                                 \
    }

FLASHTRAIN_MODEL(Vhub)
FLASHTRAIN_MODEL(Vhub_clockwork)
FLASHTRAIN_MODEL(Vchannel)
FLASHTRAIN_MODEL(Vchannel_clockwork)
FLASHTRAIN_MODEL_WITH_CLOCKS(Vdie)
