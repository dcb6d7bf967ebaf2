// Verilated -*- C++ -*-
// DESCRIPTION: Verilator output: Design implementation internals
// See Vfrontend_zoneallocator.h for the primary calling header

#include "Vfrontend_zoneallocator__pch.h"

void Vfrontend_zoneallocator___024root___ctor_var_reset(Vfrontend_zoneallocator___024root* vlSelf);

Vfrontend_zoneallocator___024root::Vfrontend_zoneallocator___024root(Vfrontend_zoneallocator__Syms* symsp, const char* namep)
 {
    vlSymsp = symsp;
    vlNamep = strdup(namep);
    // Reset structure values
    Vfrontend_zoneallocator___024root___ctor_var_reset(this);
}

void Vfrontend_zoneallocator___024root::__Vconfigure(bool first) {
    (void)first;  // Prevent unused variable warning
}

Vfrontend_zoneallocator___024root::~Vfrontend_zoneallocator___024root() {
    VL_DO_DANGLING(std::free(const_cast<char*>(vlNamep)), vlNamep);
}
