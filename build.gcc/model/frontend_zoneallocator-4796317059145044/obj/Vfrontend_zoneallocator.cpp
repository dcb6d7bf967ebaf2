// Verilated -*- C++ -*-
// DESCRIPTION: Verilator output: Model implementation (design independent parts)

#include "Vfrontend_zoneallocator__pch.h"

//============================================================
// Constructors

Vfrontend_zoneallocator::Vfrontend_zoneallocator(VerilatedContext* _vcontextp__, const char* _vcname__)
    : VerilatedModel{*_vcontextp__}
    , vlSymsp{new Vfrontend_zoneallocator__Syms(contextp(), _vcname__, this)}
    , clk{vlSymsp->TOP.clk}
    , rst{vlSymsp->TOP.rst}
    , erase___05Fready{vlSymsp->TOP.erase___05Fready}
    , erased___05Fpayload{vlSymsp->TOP.erased___05Fpayload}
    , erased___05Fvalid{vlSymsp->TOP.erased___05Fvalid}
    , factory{vlSymsp->TOP.factory}
    , next___05Fready{vlSymsp->TOP.next___05Fready}
    , recovering{vlSymsp->TOP.recovering}
    , release___05Fpayload{vlSymsp->TOP.release___05Fpayload}
    , release___05Fvalid{vlSymsp->TOP.release___05Fvalid}
    , port17___05Freset{vlSymsp->TOP.port17___05Freset}
    , restored___05Fvalid{vlSymsp->TOP.restored___05Fvalid}
    , zone_select{vlSymsp->TOP.zone_select}
    , erases{vlSymsp->TOP.erases}
    , idle{vlSymsp->TOP.idle}
    , ready{vlSymsp->TOP.ready}
    , exhausted{vlSymsp->TOP.exhausted}
    , next___05Fvalid{vlSymsp->TOP.next___05Fvalid}
    , restored___05Fready{vlSymsp->TOP.restored___05Fready}
    , release___05Fready{vlSymsp->TOP.release___05Fready}
    , erased___05Fready{vlSymsp->TOP.erased___05Fready}
    , erase___05Fpayload{vlSymsp->TOP.erase___05Fpayload}
    , erase___05Fvalid{vlSymsp->TOP.erase___05Fvalid}
    , restored___05Fpayload{vlSymsp->TOP.restored___05Fpayload}
    , port3___05Fselected_wear___05Fdata{vlSymsp->TOP.port3___05Fselected_wear___05Fdata}
    , next___05Fpayload{vlSymsp->TOP.next___05Fpayload}
    , rootp{&(vlSymsp->TOP)}
{
    // Register model with the context
    contextp()->addModel(this);
}

Vfrontend_zoneallocator::Vfrontend_zoneallocator(const char* _vcname__)
    : Vfrontend_zoneallocator(Verilated::threadContextp(), _vcname__)
{
}

//============================================================
// Destructor

Vfrontend_zoneallocator::~Vfrontend_zoneallocator() {
    delete vlSymsp;
}

//============================================================
// Evaluation function

#ifdef VL_DEBUG
void Vfrontend_zoneallocator___024root___eval_debug_assertions(Vfrontend_zoneallocator___024root* vlSelf);
#endif  // VL_DEBUG
void Vfrontend_zoneallocator___024root___eval_static(Vfrontend_zoneallocator___024root* vlSelf);
void Vfrontend_zoneallocator___024root___eval_initial(Vfrontend_zoneallocator___024root* vlSelf);
void Vfrontend_zoneallocator___024root___eval_settle(Vfrontend_zoneallocator___024root* vlSelf);
void Vfrontend_zoneallocator___024root___eval(Vfrontend_zoneallocator___024root* vlSelf);

void Vfrontend_zoneallocator::eval_step() {
    VL_DEBUG_IF(VL_DBG_MSGF("+++++TOP Evaluate Vfrontend_zoneallocator::eval_step\n"); );
#ifdef VL_DEBUG
    // Debug assertions
    Vfrontend_zoneallocator___024root___eval_debug_assertions(&(vlSymsp->TOP));
#endif  // VL_DEBUG
    vlSymsp->__Vm_deleter.deleteAll();
    if (VL_UNLIKELY(!vlSymsp->__Vm_didInit)) {
        VL_DEBUG_IF(VL_DBG_MSGF("+ Initial\n"););
        Vfrontend_zoneallocator___024root___eval_static(&(vlSymsp->TOP));
        Vfrontend_zoneallocator___024root___eval_initial(&(vlSymsp->TOP));
        Vfrontend_zoneallocator___024root___eval_settle(&(vlSymsp->TOP));
        vlSymsp->__Vm_didInit = true;
    }
    VL_DEBUG_IF(VL_DBG_MSGF("+ Eval\n"););
    Vfrontend_zoneallocator___024root___eval(&(vlSymsp->TOP));
    // Evaluate cleanup
    Verilated::endOfEval(vlSymsp->__Vm_evalMsgQp);
}

//============================================================
// Events and timing
bool Vfrontend_zoneallocator::eventsPending() { return false; }

uint64_t Vfrontend_zoneallocator::nextTimeSlot() {
    VL_FATAL_MT(__FILE__, __LINE__, "", "No delays in the design");
    return 0;
}

//============================================================
// Utilities

const char* Vfrontend_zoneallocator::name() const {
    return vlSymsp->name();
}

//============================================================
// Invoke final blocks

void Vfrontend_zoneallocator___024root___eval_final(Vfrontend_zoneallocator___024root* vlSelf);

VL_ATTR_COLD void Vfrontend_zoneallocator::final() {
    contextp()->executingFinal(true);
    Vfrontend_zoneallocator___024root___eval_final(&(vlSymsp->TOP));
    contextp()->executingFinal(false);
}

//============================================================
// Implementations of abstract methods from VerilatedModel

const char* Vfrontend_zoneallocator::hierName() const { return vlSymsp->name(); }
const char* Vfrontend_zoneallocator::modelName() const { return "Vfrontend_zoneallocator"; }
unsigned Vfrontend_zoneallocator::threads() const { return 1; }
void Vfrontend_zoneallocator::prepareClone() const { contextp()->prepareClone(); }
void Vfrontend_zoneallocator::atClone() const {
    contextp()->threadPoolpOnClone();
}
