// Verilated -*- C++ -*-
// DESCRIPTION: Verilator output: Design internal header
// See Vfrontend_zoneallocator.h for the primary calling header

#ifndef VERILATED_VFRONTEND_ZONEALLOCATOR___024ROOT_H_
#define VERILATED_VFRONTEND_ZONEALLOCATOR___024ROOT_H_  // guard

#include "verilated.h"


class Vfrontend_zoneallocator__Syms;

class alignas(VL_CACHE_LINE_BYTES) Vfrontend_zoneallocator___024root final {
  public:

    // DESIGN SPECIFIC STATE
    // Anonymous structures to workaround compiler member-count bugs
    struct {
        VL_IN8(clk,0,0);
        VL_IN8(rst,0,0);
        VL_IN8(erase___05Fready,0,0);
        VL_IN8(erased___05Fpayload,0,0);
        VL_IN8(erased___05Fvalid,0,0);
        VL_IN8(factory,0,0);
        VL_IN8(next___05Fready,0,0);
        VL_IN8(recovering,0,0);
        VL_IN8(release___05Fpayload,3,0);
        VL_IN8(release___05Fvalid,0,0);
        VL_IN8(port17___05Freset,0,0);
        VL_IN8(restored___05Fvalid,0,0);
        VL_IN8(zone_select,3,0);
        VL_OUT8(erases,0,0);
        VL_OUT8(idle,0,0);
        VL_OUT8(ready,0,0);
        VL_OUT8(exhausted,0,0);
        VL_OUT8(next___05Fvalid,0,0);
        VL_OUT8(restored___05Fready,0,0);
        VL_OUT8(release___05Fready,0,0);
        VL_OUT8(erased___05Fready,0,0);
        VL_OUT8(erase___05Fpayload,4,0);
        VL_OUT8(erase___05Fvalid,0,0);
        CData/*2:0*/ frontend_zoneallocator__DOT____Vlvbound_h954725f7__0;
        CData/*0:0*/ frontend_zoneallocator__DOT____02421;
        CData/*0:0*/ frontend_zoneallocator__DOT____02422;
        CData/*0:0*/ frontend_zoneallocator__DOT____02423;
        CData/*0:0*/ frontend_zoneallocator__DOT____02424;
        CData/*5:0*/ frontend_zoneallocator__DOT____02444;
        CData/*5:0*/ frontend_zoneallocator__DOT____02447;
        CData/*5:0*/ frontend_zoneallocator__DOT____02448;
        CData/*4:0*/ frontend_zoneallocator__DOT____024signature___05Faddr;
        CData/*4:0*/ frontend_zoneallocator__DOT____024signature___05Faddr__02436;
        CData/*4:0*/ frontend_zoneallocator__DOT____024signature___05Faddr__02439;
        CData/*2:0*/ frontend_zoneallocator__DOT____024signature___05Fdata;
        CData/*0:0*/ frontend_zoneallocator__DOT____024signature___05Fen;
        CData/*0:0*/ frontend_zoneallocator__DOT____024signature___05Fen__02438;
        CData/*4:0*/ frontend_zoneallocator__DOT__cursor;
        CData/*4:0*/ frontend_zoneallocator__DOT__dirty_count;
        CData/*4:0*/ frontend_zoneallocator__DOT__erased_count;
        CData/*0:0*/ frontend_zoneallocator__DOT__erasing;
        CData/*2:0*/ frontend_zoneallocator__DOT__fsm_state;
        CData/*4:0*/ frontend_zoneallocator__DOT__scanned;
        CData/*0:0*/ frontend_zoneallocator__DOT__scanning;
        CData/*2:0*/ frontend_zoneallocator__DOT___0_;
        CData/*0:0*/ __VstlFirstIteration;
        CData/*0:0*/ __VstlPhaseResult;
        CData/*0:0*/ __VicoFirstIteration;
        CData/*0:0*/ __VicoPhaseResult;
        CData/*0:0*/ __Vtrigprevexpr___TOP__clk__0;
        CData/*0:0*/ __VactPhaseResult;
        CData/*0:0*/ __VnbaPhaseResult;
        VL_IN(restored___05Fpayload,26,0);
        VL_OUT(port3___05Fselected_wear___05Fdata,20,0);
        VL_OUT(next___05Fpayload,24,0);
        IData/*20:0*/ frontend_zoneallocator__DOT____Vlvbound_h0acd39fb__0;
        IData/*21:0*/ frontend_zoneallocator__DOT____02411;
        IData/*20:0*/ frontend_zoneallocator__DOT____024signature___05Fdata__02440;
        IData/*26:0*/ frontend_zoneallocator__DOT__best_dirty;
        IData/*26:0*/ frontend_zoneallocator__DOT__best_erased;
        IData/*26:0*/ frontend_zoneallocator__DOT__erasing_candidate;
        IData/*20:0*/ frontend_zoneallocator__DOT___2_;
        IData/*31:0*/ __VactIterCount;
        VlUnpacked<CData/*2:0*/, 18> frontend_zoneallocator__DOT__states;
    };
    struct {
        VlUnpacked<IData/*20:0*/, 18> frontend_zoneallocator__DOT__wears;
        VlUnpacked<QData/*63:0*/, 1> __VstlTriggered;
        VlUnpacked<QData/*63:0*/, 1> __VicoTriggered;
        VlUnpacked<QData/*63:0*/, 1> __VactTriggered;
        VlUnpacked<QData/*63:0*/, 1> __VnbaTriggered;
    };

    // INTERNAL VARIABLES
    Vfrontend_zoneallocator__Syms* vlSymsp;
    const char* vlNamep;

    // CONSTRUCTORS
    Vfrontend_zoneallocator___024root(Vfrontend_zoneallocator__Syms* symsp, const char* namep);
    ~Vfrontend_zoneallocator___024root();
    VL_UNCOPYABLE(Vfrontend_zoneallocator___024root);

    // INTERNAL METHODS
    void __Vconfigure(bool first);
};


#endif  // guard
