// Verilated -*- C++ -*-
// DESCRIPTION: Verilator output: Symbol table internal header
//
// Internal details; most calling programs do not need this header,
// unless using verilator public meta comments.

#ifndef VERILATED_VFRONTEND_ZONEALLOCATOR__SYMS_H_
#define VERILATED_VFRONTEND_ZONEALLOCATOR__SYMS_H_  // guard

#include "verilated.h"

// INCLUDE MODEL CLASS

#include "Vfrontend_zoneallocator.h"

// INCLUDE MODULE CLASSES
#include "Vfrontend_zoneallocator___024root.h"

// SYMS CLASS (contains all model state)
class alignas(VL_CACHE_LINE_BYTES) Vfrontend_zoneallocator__Syms final : public VerilatedSyms {
  public:
    // INTERNAL STATE
    Vfrontend_zoneallocator* const __Vm_modelp;
    VlDeleter __Vm_deleter;
    bool __Vm_didInit = false;

    // MODULE INSTANCE STATE
    Vfrontend_zoneallocator___024root TOP;

    // CONSTRUCTORS
    Vfrontend_zoneallocator__Syms(VerilatedContext* contextp, const char* namep, Vfrontend_zoneallocator* modelp);
    ~Vfrontend_zoneallocator__Syms();

    // METHODS
    const char* name() const { return TOP.vlNamep; }
};

#endif  // guard
