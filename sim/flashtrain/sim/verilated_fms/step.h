// How a model is moved, with less work than its `eval`.
//
// `eval` first evaluates everything that depends on inputs, then looks for edges, and wants the falling edge, too. Here
// the caller knows whether inputs have changed, and that there is a rising edge. The names are those of the pinned
// version of Verilator; `models.h`, which is generated, has a line for each model.

#pragma once

#include "verilated.h"

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
    }                                                                                 \
    }
