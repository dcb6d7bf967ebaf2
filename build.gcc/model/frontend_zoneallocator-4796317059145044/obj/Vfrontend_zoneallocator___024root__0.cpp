// Verilated -*- C++ -*-
// DESCRIPTION: Verilator output: Design implementation internals
// See Vfrontend_zoneallocator.h for the primary calling header

#include "Vfrontend_zoneallocator__pch.h"

void Vfrontend_zoneallocator___024root___eval_triggers_vec__ico(Vfrontend_zoneallocator___024root* vlSelf) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___eval_triggers_vec__ico\n"); );
    Vfrontend_zoneallocator__Syms* const __restrict vlSymsp VL_ATTR_UNUSED = vlSelf->vlSymsp;
    auto& vlSelfRef = std::ref(*vlSelf).get();
    // Body
    vlSelfRef.__VicoTriggered[0U] = ((0xfffffffffffffffeULL 
                                      & vlSelfRef.__VicoTriggered[0U]) 
                                     | (IData)((IData)(vlSelfRef.__VicoFirstIteration)));
}

bool Vfrontend_zoneallocator___024root___trigger_anySet__ico(const VlUnpacked<QData/*63:0*/, 1> &in) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___trigger_anySet__ico\n"); );
    // Locals
    IData/*31:0*/ n;
    // Body
    n = 0U;
    do {
        if (in[n]) {
            return (1U);
        }
        n = ((IData)(1U) + n);
    } while ((1U > n));
    return (0U);
}

extern const VlUnpacked<CData/*0:0*/, 64> Vfrontend_zoneallocator__ConstPool__TABLE_h07f23dd1_0;
extern const VlUnpacked<CData/*0:0*/, 256> Vfrontend_zoneallocator__ConstPool__TABLE_h023cd22a_0;
extern const VlUnpacked<CData/*0:0*/, 256> Vfrontend_zoneallocator__ConstPool__TABLE_he8eae928_0;
extern const VlUnpacked<CData/*0:0*/, 128> Vfrontend_zoneallocator__ConstPool__TABLE_h105ac722_0;

void Vfrontend_zoneallocator___024root___ico_sequent__TOP__0(Vfrontend_zoneallocator___024root* vlSelf) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___ico_sequent__TOP__0\n"); );
    Vfrontend_zoneallocator__Syms* const __restrict vlSymsp VL_ATTR_UNUSED = vlSelf->vlSymsp;
    auto& vlSelfRef = std::ref(*vlSelf).get();
    // Locals
    CData/*6:0*/ __Vtableidx1;
    __Vtableidx1 = 0;
    CData/*7:0*/ __Vtableidx2;
    __Vtableidx2 = 0;
    CData/*5:0*/ __Vtableidx4;
    __Vtableidx4 = 0;
    CData/*7:0*/ __Vtableidx5;
    __Vtableidx5 = 0;
    // Body
    vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr 
        = vlSelfRef.frontend_zoneallocator__DOT__cursor;
    if ((0U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if ((2U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
            vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr 
                = (0x0000001fU & vlSelfRef.restored___05Fpayload);
        }
    }
    __Vtableidx4 = ((0x00000020U & ((~ (IData)(vlSelfRef.erased___05Fvalid)) 
                                    << 5U)) | ((0x00000010U 
                                                & ((~ (IData)(vlSelfRef.erased___05Fvalid)) 
                                                   << 4U)) 
                                               | ((8U 
                                                   & ((~ (IData)(vlSelfRef.erased___05Fvalid)) 
                                                      << 3U)) 
                                                  | (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))));
    vlSelfRef.release___05Fready = Vfrontend_zoneallocator__ConstPool__TABLE_h07f23dd1_0
        [__Vtableidx4];
    vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata__02440 = 0U;
    __Vtableidx2 = ((((((0x10U <= (IData)(vlSelfRef.erase___05Fpayload)) 
                        << 3U) | ((0x10U <= (IData)(vlSelfRef.erase___05Fpayload)) 
                                  << 2U)) | (((0x10U 
                                               <= (IData)(vlSelfRef.erase___05Fpayload)) 
                                              << 1U) 
                                             | (IData)(vlSelfRef.erased___05Fpayload))) 
                     << 4U) | (((IData)(vlSelfRef.erased___05Fvalid) 
                                << 3U) | (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state)));
    vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fen__02438 
        = Vfrontend_zoneallocator__ConstPool__TABLE_h023cd22a_0
        [__Vtableidx2];
    vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02439 = 0U;
    __Vtableidx5 = ((((((0x10U <= (IData)(vlSelfRef.erase___05Fpayload)) 
                        << 3U) | ((0x10U <= (IData)(vlSelfRef.erase___05Fpayload)) 
                                  << 2U)) | (((0x10U 
                                               <= (IData)(vlSelfRef.erase___05Fpayload)) 
                                              << 1U) 
                                             | (IData)(vlSelfRef.erased___05Fpayload))) 
                     << 4U) | (((IData)(vlSelfRef.erased___05Fvalid) 
                                << 3U) | (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state)));
    vlSelfRef.erases = Vfrontend_zoneallocator__ConstPool__TABLE_he8eae928_0
        [__Vtableidx5];
    __Vtableidx1 = ((((IData)(vlSelfRef.frontend_zoneallocator__DOT____02424) 
                      << 6U) | ((IData)(vlSelfRef.frontend_zoneallocator__DOT____02422) 
                                << 5U)) | (((IData)(vlSelfRef.release___05Fvalid) 
                                            << 4U) 
                                           | (((IData)(vlSelfRef.erased___05Fvalid) 
                                               << 3U) 
                                              | (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))));
    vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fen 
        = Vfrontend_zoneallocator__ConstPool__TABLE_h105ac722_0
        [__Vtableidx1];
    vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 0U;
    vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 = 0U;
    if ((0U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata__02440 = 0U;
        vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02439 
            = vlSelfRef.frontend_zoneallocator__DOT__cursor;
        vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata 
            = ((IData)(vlSelfRef.recovering) ? 3U : 
               ((IData)(vlSelfRef.factory) ? (3U & 
                                              (- (IData)(
                                                         (0x10U 
                                                          <= (IData)(vlSelfRef.frontend_zoneallocator__DOT__cursor)))))
                 : 1U));
        vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
            = vlSelfRef.frontend_zoneallocator__DOT__cursor;
    } else if ((2U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if (vlSelfRef.erased___05Fvalid) {
            if ((1U & (~ (IData)(vlSelfRef.erased___05Fpayload)))) {
                if ((0x10U > (IData)(vlSelfRef.erase___05Fpayload))) {
                    vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata__02440 
                        = (0x001fffffU & vlSelfRef.frontend_zoneallocator__DOT____02411);
                    vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02439 
                        = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                          >> 1U));
                }
            }
            if (vlSelfRef.erased___05Fpayload) {
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 4U;
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                    = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                      >> 1U));
            } else if ((0x10U <= (IData)(vlSelfRef.erase___05Fpayload))) {
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 3U;
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                    = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                      >> 1U));
            } else {
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 0U;
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                    = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                      >> 1U));
            }
        } else if (vlSelfRef.release___05Fvalid) {
            vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 1U;
            vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                = vlSelfRef.release___05Fpayload;
        }
    } else if ((3U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata__02440 
            = (0x001fffffU & (vlSelfRef.restored___05Fpayload 
                              >> 5U));
        vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02439 
            = (0x0000001fU & vlSelfRef.restored___05Fpayload);
        vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata 
            = ((0x04000000U & vlSelfRef.restored___05Fpayload)
                ? 1U : 3U);
        vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
            = (0x0000001fU & vlSelfRef.restored___05Fpayload);
    } else if ((1U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if (vlSelfRef.erased___05Fvalid) {
            if ((1U & (~ (IData)(vlSelfRef.erased___05Fpayload)))) {
                if ((0x10U > (IData)(vlSelfRef.erase___05Fpayload))) {
                    vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata__02440 
                        = (0x001fffffU & vlSelfRef.frontend_zoneallocator__DOT____02411);
                    vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02439 
                        = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                          >> 1U));
                }
            }
            if (vlSelfRef.erased___05Fpayload) {
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 4U;
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                    = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                      >> 1U));
            } else if ((0x10U <= (IData)(vlSelfRef.erase___05Fpayload))) {
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 3U;
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                    = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                      >> 1U));
            } else {
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 0U;
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                    = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                      >> 1U));
            }
        } else if (vlSelfRef.release___05Fvalid) {
            vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 1U;
            vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                = vlSelfRef.release___05Fpayload;
        }
    } else if ((4U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if (vlSelfRef.erased___05Fvalid) {
            if ((1U & (~ (IData)(vlSelfRef.erased___05Fpayload)))) {
                if ((0x10U > (IData)(vlSelfRef.erase___05Fpayload))) {
                    vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata__02440 
                        = (0x001fffffU & vlSelfRef.frontend_zoneallocator__DOT____02411);
                    vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02439 
                        = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                          >> 1U));
                }
            }
            if (vlSelfRef.erased___05Fpayload) {
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 4U;
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                    = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                      >> 1U));
            } else if ((0x10U <= (IData)(vlSelfRef.erase___05Fpayload))) {
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 3U;
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                    = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                      >> 1U));
            } else {
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 0U;
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                    = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                      >> 1U));
            }
        } else if (vlSelfRef.release___05Fvalid) {
            vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 1U;
            vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                = vlSelfRef.release___05Fpayload;
        }
    } else if ((5U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if (vlSelfRef.frontend_zoneallocator__DOT____02422) {
            vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 3U;
            vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__best_erased 
                                  >> 1U));
        }
    } else if ((6U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if (vlSelfRef.frontend_zoneallocator__DOT____02424) {
            vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 2U;
            vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__best_dirty 
                                  >> 1U));
        }
    }
}

void Vfrontend_zoneallocator___024root___eval_ico(Vfrontend_zoneallocator___024root* vlSelf) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___eval_ico\n"); );
    Vfrontend_zoneallocator__Syms* const __restrict vlSymsp VL_ATTR_UNUSED = vlSelf->vlSymsp;
    auto& vlSelfRef = std::ref(*vlSelf).get();
    // Body
    if ((1ULL & vlSelfRef.__VicoTriggered[0U])) {
        Vfrontend_zoneallocator___024root___ico_sequent__TOP__0(vlSelf);
    }
}

#ifdef VL_DEBUG
VL_ATTR_COLD void Vfrontend_zoneallocator___024root___dump_triggers__ico(const VlUnpacked<QData/*63:0*/, 1> &triggers, const std::string &tag);
#endif  // VL_DEBUG

bool Vfrontend_zoneallocator___024root___eval_phase__ico(Vfrontend_zoneallocator___024root* vlSelf) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___eval_phase__ico\n"); );
    Vfrontend_zoneallocator__Syms* const __restrict vlSymsp VL_ATTR_UNUSED = vlSelf->vlSymsp;
    auto& vlSelfRef = std::ref(*vlSelf).get();
    // Locals
    CData/*0:0*/ __VicoExecute;
    // Body
    Vfrontend_zoneallocator___024root___eval_triggers_vec__ico(vlSelf);
#ifdef VL_DEBUG
    if (VL_UNLIKELY(vlSymsp->_vm_contextp__->debug())) {
        Vfrontend_zoneallocator___024root___dump_triggers__ico(vlSelfRef.__VicoTriggered, "ico"s);
    }
#endif
    __VicoExecute = Vfrontend_zoneallocator___024root___trigger_anySet__ico(vlSelfRef.__VicoTriggered);
    if (__VicoExecute) {
        Vfrontend_zoneallocator___024root___eval_ico(vlSelf);
    }
    return (__VicoExecute);
}

void Vfrontend_zoneallocator___024root___eval_triggers_vec__act(Vfrontend_zoneallocator___024root* vlSelf) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___eval_triggers_vec__act\n"); );
    Vfrontend_zoneallocator__Syms* const __restrict vlSymsp VL_ATTR_UNUSED = vlSelf->vlSymsp;
    auto& vlSelfRef = std::ref(*vlSelf).get();
    // Body
    vlSelfRef.__VactTriggered[0U] = (QData)((IData)(
                                                    ((IData)(vlSelfRef.clk) 
                                                     & (~ (IData)(vlSelfRef.__Vtrigprevexpr___TOP__clk__0)))));
    vlSelfRef.__Vtrigprevexpr___TOP__clk__0 = vlSelfRef.clk;
}

bool Vfrontend_zoneallocator___024root___trigger_anySet__act(const VlUnpacked<QData/*63:0*/, 1> &in) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___trigger_anySet__act\n"); );
    // Locals
    IData/*31:0*/ n;
    // Body
    n = 0U;
    do {
        if (in[n]) {
            return (1U);
        }
        n = ((IData)(1U) + n);
    } while ((1U > n));
    return (0U);
}

extern const VlUnpacked<CData/*0:0*/, 8> Vfrontend_zoneallocator__ConstPool__TABLE_hfeef67c1_0;

void Vfrontend_zoneallocator___024root___nba_sequent__TOP__0(Vfrontend_zoneallocator___024root* vlSelf) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___nba_sequent__TOP__0\n"); );
    Vfrontend_zoneallocator__Syms* const __restrict vlSymsp VL_ATTR_UNUSED = vlSelf->vlSymsp;
    auto& vlSelfRef = std::ref(*vlSelf).get();
    // Locals
    CData/*6:0*/ __Vtableidx1;
    __Vtableidx1 = 0;
    CData/*7:0*/ __Vtableidx2;
    __Vtableidx2 = 0;
    CData/*2:0*/ __Vtableidx3;
    __Vtableidx3 = 0;
    CData/*5:0*/ __Vtableidx4;
    __Vtableidx4 = 0;
    CData/*7:0*/ __Vtableidx5;
    __Vtableidx5 = 0;
    CData/*4:0*/ __Vdly__frontend_zoneallocator__DOT__erased_count;
    __Vdly__frontend_zoneallocator__DOT__erased_count = 0;
    CData/*0:0*/ __Vdly__frontend_zoneallocator__DOT__scanning;
    __Vdly__frontend_zoneallocator__DOT__scanning = 0;
    CData/*4:0*/ __Vdly__frontend_zoneallocator__DOT__dirty_count;
    __Vdly__frontend_zoneallocator__DOT__dirty_count = 0;
    CData/*4:0*/ __Vdly__frontend_zoneallocator__DOT__cursor;
    __Vdly__frontend_zoneallocator__DOT__cursor = 0;
    CData/*2:0*/ __Vdly__frontend_zoneallocator__DOT__fsm_state;
    __Vdly__frontend_zoneallocator__DOT__fsm_state = 0;
    CData/*2:0*/ __VdlyVal__frontend_zoneallocator__DOT__states__v0;
    __VdlyVal__frontend_zoneallocator__DOT__states__v0 = 0;
    CData/*4:0*/ __VdlyDim0__frontend_zoneallocator__DOT__states__v0;
    __VdlyDim0__frontend_zoneallocator__DOT__states__v0 = 0;
    CData/*0:0*/ __VdlySet__frontend_zoneallocator__DOT__states__v0;
    __VdlySet__frontend_zoneallocator__DOT__states__v0 = 0;
    IData/*20:0*/ __VdlyVal__frontend_zoneallocator__DOT__wears__v0;
    __VdlyVal__frontend_zoneallocator__DOT__wears__v0 = 0;
    CData/*4:0*/ __VdlyDim0__frontend_zoneallocator__DOT__wears__v0;
    __VdlyDim0__frontend_zoneallocator__DOT__wears__v0 = 0;
    CData/*0:0*/ __VdlySet__frontend_zoneallocator__DOT__wears__v0;
    __VdlySet__frontend_zoneallocator__DOT__wears__v0 = 0;
    // Body
    __VdlySet__frontend_zoneallocator__DOT__wears__v0 = 0U;
    __VdlySet__frontend_zoneallocator__DOT__states__v0 = 0U;
    __Vdly__frontend_zoneallocator__DOT__scanning = vlSelfRef.frontend_zoneallocator__DOT__scanning;
    __Vdly__frontend_zoneallocator__DOT__erased_count 
        = vlSelfRef.frontend_zoneallocator__DOT__erased_count;
    __Vdly__frontend_zoneallocator__DOT__dirty_count 
        = vlSelfRef.frontend_zoneallocator__DOT__dirty_count;
    __Vdly__frontend_zoneallocator__DOT__cursor = vlSelfRef.frontend_zoneallocator__DOT__cursor;
    __Vdly__frontend_zoneallocator__DOT__fsm_state 
        = vlSelfRef.frontend_zoneallocator__DOT__fsm_state;
    if (vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fen__02438) {
        vlSelfRef.frontend_zoneallocator__DOT____Vlvbound_h0acd39fb__0 
            = vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata__02440;
        if (VL_LIKELY(((0x11U >= (IData)(vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02439))))) {
            __VdlyVal__frontend_zoneallocator__DOT__wears__v0 
                = vlSelfRef.frontend_zoneallocator__DOT____Vlvbound_h0acd39fb__0;
            __VdlyDim0__frontend_zoneallocator__DOT__wears__v0 
                = vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02439;
            __VdlySet__frontend_zoneallocator__DOT__wears__v0 = 1U;
        }
    }
    if (vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fen) {
        vlSelfRef.frontend_zoneallocator__DOT____Vlvbound_h954725f7__0 
            = vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata;
        if (VL_LIKELY(((0x11U >= (IData)(vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436))))) {
            __VdlyVal__frontend_zoneallocator__DOT__states__v0 
                = vlSelfRef.frontend_zoneallocator__DOT____Vlvbound_h954725f7__0;
            __VdlyDim0__frontend_zoneallocator__DOT__states__v0 
                = vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436;
            __VdlySet__frontend_zoneallocator__DOT__states__v0 = 1U;
        }
    }
    if (((IData)(vlSelfRef.erase___05Fready) & (IData)(vlSelfRef.erase___05Fvalid))) {
        vlSelfRef.erase___05Fvalid = 0U;
    }
    if (((IData)(vlSelfRef.next___05Fready) & (IData)(vlSelfRef.next___05Fvalid))) {
        vlSelfRef.next___05Fvalid = 0U;
    }
    if ((0U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if ((2U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
            if ((3U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                if ((1U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                    if ((4U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                        if ((5U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                            if ((6U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                                if (vlSelfRef.frontend_zoneallocator__DOT____02424) {
                                    vlSelfRef.erase___05Fvalid = 1U;
                                }
                            }
                        }
                        if ((5U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                            if (vlSelfRef.frontend_zoneallocator__DOT____02422) {
                                vlSelfRef.next___05Fpayload 
                                    = ((0x01fffff0U 
                                        & (vlSelfRef.frontend_zoneallocator__DOT__best_erased 
                                           >> 2U)) 
                                       | (0x0000000fU 
                                          & (vlSelfRef.frontend_zoneallocator__DOT__best_erased 
                                             >> 1U)));
                            }
                        }
                    }
                }
            }
        }
    }
    if (vlSelfRef.frontend_zoneallocator__DOT__scanning) {
        if ((1U & ((~ (0U != (IData)(vlSelfRef.frontend_zoneallocator__DOT___0_))) 
                   & ((~ vlSelfRef.frontend_zoneallocator__DOT__best_erased) 
                      | (vlSelfRef.frontend_zoneallocator__DOT___2_ 
                         < (0x001fffffU & (vlSelfRef.frontend_zoneallocator__DOT__best_erased 
                                           >> 6U))))))) {
            vlSelfRef.frontend_zoneallocator__DOT__best_erased 
                = (1U | ((vlSelfRef.frontend_zoneallocator__DOT___2_ 
                          << 6U) | ((IData)(vlSelfRef.frontend_zoneallocator__DOT__scanned) 
                                    << 1U)));
        }
    }
    if ((0U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if ((2U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
            if ((3U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                if ((1U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                    if ((4U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                        if ((5U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                            if ((6U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                                if (vlSelfRef.frontend_zoneallocator__DOT____02424) {
                                    vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                        = vlSelfRef.frontend_zoneallocator__DOT__best_dirty;
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    if (vlSelfRef.frontend_zoneallocator__DOT__scanning) {
        if (((1U == (IData)(vlSelfRef.frontend_zoneallocator__DOT___0_)) 
             & ((~ vlSelfRef.frontend_zoneallocator__DOT__best_dirty) 
                | (vlSelfRef.frontend_zoneallocator__DOT___2_ 
                   < (0x001fffffU & (vlSelfRef.frontend_zoneallocator__DOT__best_dirty 
                                     >> 6U)))))) {
            vlSelfRef.frontend_zoneallocator__DOT__best_dirty 
                = (1U | ((vlSelfRef.frontend_zoneallocator__DOT___2_ 
                          << 6U) | ((IData)(vlSelfRef.frontend_zoneallocator__DOT__scanned) 
                                    << 1U)));
        }
    }
    __Vdly__frontend_zoneallocator__DOT__scanning = 0U;
    if (vlSelfRef.port17___05Freset) {
        vlSelfRef.erase___05Fvalid = 0U;
    }
    if ((0U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if ((0x11U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__cursor))) {
            vlSelfRef.ready = 1U;
        }
    }
    if (vlSelfRef.port17___05Freset) {
        vlSelfRef.ready = 0U;
        vlSelfRef.next___05Fpayload = 0U;
    }
    if ((0U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if ((1U & (~ (IData)(vlSelfRef.recovering)))) {
            if (vlSelfRef.factory) {
                __Vdly__frontend_zoneallocator__DOT__erased_count = 0x10U;
            }
        }
    } else if ((2U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if (vlSelfRef.erased___05Fvalid) {
            if ((1U & (~ (IData)(vlSelfRef.erased___05Fpayload)))) {
                if ((0x10U > (IData)(vlSelfRef.erase___05Fpayload))) {
                    __Vdly__frontend_zoneallocator__DOT__erased_count 
                        = (0x0000001fU & (IData)(vlSelfRef.frontend_zoneallocator__DOT____02447));
                }
            }
        }
    } else if ((3U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if ((1U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
            if (vlSelfRef.erased___05Fvalid) {
                if ((1U & (~ (IData)(vlSelfRef.erased___05Fpayload)))) {
                    if ((0x10U > (IData)(vlSelfRef.erase___05Fpayload))) {
                        __Vdly__frontend_zoneallocator__DOT__erased_count 
                            = (0x0000001fU & (IData)(vlSelfRef.frontend_zoneallocator__DOT____02447));
                    }
                }
            }
        } else if ((4U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
            if (vlSelfRef.erased___05Fvalid) {
                if ((1U & (~ (IData)(vlSelfRef.erased___05Fpayload)))) {
                    if ((0x10U > (IData)(vlSelfRef.erase___05Fpayload))) {
                        __Vdly__frontend_zoneallocator__DOT__erased_count 
                            = (0x0000001fU & (IData)(vlSelfRef.frontend_zoneallocator__DOT____02447));
                    }
                }
            }
        } else if ((5U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
            if (vlSelfRef.frontend_zoneallocator__DOT____02422) {
                __Vdly__frontend_zoneallocator__DOT__erased_count 
                    = (0x0000001fU & ((IData)(vlSelfRef.frontend_zoneallocator__DOT__erased_count) 
                                      - (IData)(1U)));
            }
        }
    }
    if (vlSelfRef.port17___05Freset) {
        __Vdly__frontend_zoneallocator__DOT__erased_count = 0U;
        vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate = 0U;
    }
    if ((0U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if ((2U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
            if ((3U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                if ((1U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                    if ((4U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                        if ((5U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                            if (vlSelfRef.frontend_zoneallocator__DOT____02422) {
                                vlSelfRef.next___05Fvalid = 1U;
                            }
                        }
                    }
                }
            }
        }
    }
    if (vlSelfRef.port17___05Freset) {
        vlSelfRef.next___05Fvalid = 0U;
    }
    if ((0U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if ((2U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
            if ((3U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                if ((1U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                    vlSelfRef.frontend_zoneallocator__DOT__best_erased 
                        = (0x07fffffeU & vlSelfRef.frontend_zoneallocator__DOT__best_erased);
                }
            }
        }
    }
    if (vlSelfRef.port17___05Freset) {
        vlSelfRef.frontend_zoneallocator__DOT__best_erased = 0U;
    }
    if ((0U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if ((2U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
            if ((3U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                if ((1U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                    if ((4U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                        if ((0x12U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__cursor))) {
                            __Vdly__frontend_zoneallocator__DOT__scanning = 1U;
                        }
                    }
                }
            }
        }
    }
    if (vlSelfRef.port17___05Freset) {
        __Vdly__frontend_zoneallocator__DOT__scanning = 0U;
    }
    if ((0U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if ((1U & (~ (IData)(vlSelfRef.recovering)))) {
            if ((1U & (~ (IData)(vlSelfRef.factory)))) {
                __Vdly__frontend_zoneallocator__DOT__dirty_count = 0x12U;
            }
        }
    } else if ((2U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if ((1U & (~ (IData)(vlSelfRef.erased___05Fvalid)))) {
            if (vlSelfRef.release___05Fvalid) {
                __Vdly__frontend_zoneallocator__DOT__dirty_count 
                    = (0x0000001fU & (IData)(vlSelfRef.frontend_zoneallocator__DOT____02448));
            }
        }
    } else if ((3U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        __Vdly__frontend_zoneallocator__DOT__dirty_count 
            = (0x0000001fU & ((0x0000003fU & ((1U & 
                                               (vlSelfRef.restored___05Fpayload 
                                                >> 0x0000001aU)) 
                                              + (IData)(vlSelfRef.frontend_zoneallocator__DOT__dirty_count))) 
                              - (1U == (IData)(vlSelfRef.frontend_zoneallocator__DOT___0_))));
    } else if ((1U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if ((1U & (~ (IData)(vlSelfRef.erased___05Fvalid)))) {
            if (vlSelfRef.release___05Fvalid) {
                __Vdly__frontend_zoneallocator__DOT__dirty_count 
                    = (0x0000001fU & (IData)(vlSelfRef.frontend_zoneallocator__DOT____02448));
            }
        }
    } else if ((4U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if ((1U & (~ (IData)(vlSelfRef.erased___05Fvalid)))) {
            if (vlSelfRef.release___05Fvalid) {
                __Vdly__frontend_zoneallocator__DOT__dirty_count 
                    = (0x0000001fU & (IData)(vlSelfRef.frontend_zoneallocator__DOT____02448));
            }
        }
    } else if ((5U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if ((6U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
            if (vlSelfRef.frontend_zoneallocator__DOT____02424) {
                __Vdly__frontend_zoneallocator__DOT__dirty_count 
                    = (0x0000001fU & ((IData)(vlSelfRef.frontend_zoneallocator__DOT__dirty_count) 
                                      - (IData)(1U)));
            }
        }
    }
    if (vlSelfRef.port17___05Freset) {
        __Vdly__frontend_zoneallocator__DOT__dirty_count = 0U;
    }
    if ((0U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if ((2U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
            if ((3U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                if ((1U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                    vlSelfRef.frontend_zoneallocator__DOT__best_dirty 
                        = (0x07fffffeU & vlSelfRef.frontend_zoneallocator__DOT__best_dirty);
                }
            }
        }
    }
    if (vlSelfRef.port17___05Freset) {
        vlSelfRef.frontend_zoneallocator__DOT__best_dirty = 0U;
    }
    if ((0U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if ((2U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
            if ((3U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                if ((1U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                    if ((4U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                        if ((0x12U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__cursor))) {
                            vlSelfRef.frontend_zoneallocator__DOT__scanned 
                                = vlSelfRef.frontend_zoneallocator__DOT__cursor;
                        }
                    }
                }
            }
        }
    }
    if (vlSelfRef.port17___05Freset) {
        vlSelfRef.frontend_zoneallocator__DOT__scanned = 0U;
    }
    if ((0U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        __Vdly__frontend_zoneallocator__DOT__cursor 
            = (0x0000001fU & (IData)(vlSelfRef.frontend_zoneallocator__DOT____02444));
    } else if ((2U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if ((3U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
            if ((1U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                __Vdly__frontend_zoneallocator__DOT__cursor = 0U;
            } else if ((4U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                if ((0x12U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__cursor))) {
                    __Vdly__frontend_zoneallocator__DOT__cursor 
                        = (0x0000001fU & (IData)(vlSelfRef.frontend_zoneallocator__DOT____02444));
                }
            }
        }
    }
    if (vlSelfRef.port17___05Freset) {
        __Vdly__frontend_zoneallocator__DOT__cursor = 0U;
    }
    if ((0U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if ((0x11U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__cursor))) {
            __Vdly__frontend_zoneallocator__DOT__fsm_state = 1U;
            if (vlSelfRef.recovering) {
                __Vdly__frontend_zoneallocator__DOT__fsm_state = 2U;
            }
        }
    } else if ((2U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if (vlSelfRef.recovering) {
            if (((~ (IData)(vlSelfRef.release___05Fvalid)) 
                 & (IData)(vlSelfRef.restored___05Fvalid))) {
                __Vdly__frontend_zoneallocator__DOT__fsm_state = 3U;
            }
        } else {
            __Vdly__frontend_zoneallocator__DOT__fsm_state = 1U;
        }
    } else if ((3U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        __Vdly__frontend_zoneallocator__DOT__fsm_state = 2U;
    } else if ((1U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if ((((IData)(vlSelfRef.frontend_zoneallocator__DOT____02421) 
              & (0U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__erased_count))) 
             | ((IData)(vlSelfRef.frontend_zoneallocator__DOT____02423) 
                & (0U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__dirty_count))))) {
            __Vdly__frontend_zoneallocator__DOT__fsm_state = 4U;
        }
    } else if ((4U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if ((0x12U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__cursor))) {
            __Vdly__frontend_zoneallocator__DOT__fsm_state = 5U;
        }
    } else if ((5U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        __Vdly__frontend_zoneallocator__DOT__fsm_state = 6U;
    } else if ((6U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        __Vdly__frontend_zoneallocator__DOT__fsm_state = 1U;
    }
    if (vlSelfRef.port17___05Freset) {
        __Vdly__frontend_zoneallocator__DOT__fsm_state = 0U;
    }
    if ((0U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if ((2U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
            if (vlSelfRef.erased___05Fvalid) {
                vlSelfRef.frontend_zoneallocator__DOT__erasing = 0U;
            }
        } else if ((3U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
            if ((1U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                if (vlSelfRef.erased___05Fvalid) {
                    vlSelfRef.frontend_zoneallocator__DOT__erasing = 0U;
                }
            } else if ((4U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                if (vlSelfRef.erased___05Fvalid) {
                    vlSelfRef.frontend_zoneallocator__DOT__erasing = 0U;
                }
            } else if ((5U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                if ((6U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                    if (vlSelfRef.frontend_zoneallocator__DOT____02424) {
                        vlSelfRef.frontend_zoneallocator__DOT__erasing = 1U;
                    }
                }
            }
        }
    }
    if (vlSelfRef.port17___05Freset) {
        vlSelfRef.frontend_zoneallocator__DOT__erasing = 0U;
    }
    if (vlSelfRef.rst) {
        vlSelfRef.next___05Fvalid = 0U;
        vlSelfRef.erase___05Fvalid = 0U;
        __Vdly__frontend_zoneallocator__DOT__scanning = 0U;
        vlSelfRef.frontend_zoneallocator__DOT__best_erased = 0U;
        vlSelfRef.frontend_zoneallocator__DOT__best_dirty = 0U;
        __Vdly__frontend_zoneallocator__DOT__erased_count = 0U;
        __Vdly__frontend_zoneallocator__DOT__dirty_count = 0U;
        __Vdly__frontend_zoneallocator__DOT__cursor = 0U;
        vlSelfRef.ready = 0U;
        __Vdly__frontend_zoneallocator__DOT__fsm_state = 0U;
        vlSelfRef.frontend_zoneallocator__DOT__erasing = 0U;
        vlSelfRef.frontend_zoneallocator__DOT__scanned = 0U;
        vlSelfRef.next___05Fpayload = 0U;
        vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate = 0U;
    }
    vlSelfRef.frontend_zoneallocator__DOT__scanning 
        = __Vdly__frontend_zoneallocator__DOT__scanning;
    vlSelfRef.frontend_zoneallocator__DOT__erased_count 
        = __Vdly__frontend_zoneallocator__DOT__erased_count;
    vlSelfRef.frontend_zoneallocator__DOT__dirty_count 
        = __Vdly__frontend_zoneallocator__DOT__dirty_count;
    vlSelfRef.frontend_zoneallocator__DOT__fsm_state 
        = __Vdly__frontend_zoneallocator__DOT__fsm_state;
    vlSelfRef.frontend_zoneallocator__DOT____02447 
        = (0x0000003fU & ((IData)(1U) + (IData)(vlSelfRef.frontend_zoneallocator__DOT__erased_count)));
    vlSelfRef.frontend_zoneallocator__DOT____02448 
        = (0x0000003fU & ((IData)(1U) + (IData)(vlSelfRef.frontend_zoneallocator__DOT__dirty_count)));
    vlSelfRef.frontend_zoneallocator__DOT___0_ = ((0x11U 
                                                   >= (IData)(vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr))
                                                   ? vlSelfRef.frontend_zoneallocator__DOT__states
                                                  [vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr]
                                                   : 0U);
    vlSelfRef.frontend_zoneallocator__DOT____02421 
        = (1U & (~ (IData)(vlSelfRef.next___05Fvalid)));
    vlSelfRef.frontend_zoneallocator__DOT____02423 
        = (1U & (~ (IData)(vlSelfRef.frontend_zoneallocator__DOT__erasing)));
    vlSelfRef.idle = ((~ (IData)(vlSelfRef.frontend_zoneallocator__DOT__erasing)) 
                      & ((~ (0U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__dirty_count))) 
                         & (IData)(vlSelfRef.ready)));
    vlSelfRef.frontend_zoneallocator__DOT____02422 
        = (1U & ((~ (IData)(vlSelfRef.next___05Fvalid)) 
                 & vlSelfRef.frontend_zoneallocator__DOT__best_erased));
    vlSelfRef.frontend_zoneallocator__DOT____02424 
        = (1U & ((~ (IData)(vlSelfRef.frontend_zoneallocator__DOT__erasing)) 
                 & vlSelfRef.frontend_zoneallocator__DOT__best_dirty));
    vlSelfRef.port3___05Fselected_wear___05Fdata = vlSelfRef.frontend_zoneallocator__DOT__wears
        [vlSelfRef.zone_select];
    vlSelfRef.frontend_zoneallocator__DOT___2_ = ((0x11U 
                                                   >= (IData)(vlSelfRef.frontend_zoneallocator__DOT__cursor))
                                                   ? vlSelfRef.frontend_zoneallocator__DOT__wears
                                                  [vlSelfRef.frontend_zoneallocator__DOT__cursor]
                                                   : 0U);
    vlSelfRef.restored___05Fready = 0U;
    __Vtableidx3 = vlSelfRef.frontend_zoneallocator__DOT__fsm_state;
    vlSelfRef.erased___05Fready = Vfrontend_zoneallocator__ConstPool__TABLE_hfeef67c1_0
        [__Vtableidx3];
    __Vtableidx4 = ((0x00000020U & ((~ (IData)(vlSelfRef.erased___05Fvalid)) 
                                    << 5U)) | ((0x00000010U 
                                                & ((~ (IData)(vlSelfRef.erased___05Fvalid)) 
                                                   << 4U)) 
                                               | ((8U 
                                                   & ((~ (IData)(vlSelfRef.erased___05Fvalid)) 
                                                      << 3U)) 
                                                  | (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))));
    vlSelfRef.release___05Fready = Vfrontend_zoneallocator__ConstPool__TABLE_h07f23dd1_0
        [__Vtableidx4];
    vlSelfRef.frontend_zoneallocator__DOT____02411 
        = (0x003fffffU & ((1U & (~ (0x001fffffU == 
                                    (0x001fffffU & 
                                     (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                      >> 6U))))) + 
                          (0x001fffffU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                          >> 6U))));
    vlSelfRef.erase___05Fpayload = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                                   >> 1U));
    if (__VdlySet__frontend_zoneallocator__DOT__states__v0) {
        vlSelfRef.frontend_zoneallocator__DOT__states[__VdlyDim0__frontend_zoneallocator__DOT__states__v0] 
            = __VdlyVal__frontend_zoneallocator__DOT__states__v0;
    }
    vlSelfRef.exhausted = ((~ (IData)(vlSelfRef.next___05Fvalid)) 
                           & ((~ (0U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__erased_count))) 
                              & (IData)(vlSelfRef.idle)));
    __Vtableidx1 = ((((IData)(vlSelfRef.frontend_zoneallocator__DOT____02424) 
                      << 6U) | ((IData)(vlSelfRef.frontend_zoneallocator__DOT____02422) 
                                << 5U)) | (((IData)(vlSelfRef.release___05Fvalid) 
                                            << 4U) 
                                           | (((IData)(vlSelfRef.erased___05Fvalid) 
                                               << 3U) 
                                              | (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))));
    vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fen 
        = Vfrontend_zoneallocator__ConstPool__TABLE_h105ac722_0
        [__Vtableidx1];
    if (__VdlySet__frontend_zoneallocator__DOT__wears__v0) {
        vlSelfRef.frontend_zoneallocator__DOT__wears[__VdlyDim0__frontend_zoneallocator__DOT__wears__v0] 
            = __VdlyVal__frontend_zoneallocator__DOT__wears__v0;
    }
    vlSelfRef.frontend_zoneallocator__DOT__cursor = __Vdly__frontend_zoneallocator__DOT__cursor;
    vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata__02440 = 0U;
    __Vtableidx2 = ((((((0x10U <= (IData)(vlSelfRef.erase___05Fpayload)) 
                        << 3U) | ((0x10U <= (IData)(vlSelfRef.erase___05Fpayload)) 
                                  << 2U)) | (((0x10U 
                                               <= (IData)(vlSelfRef.erase___05Fpayload)) 
                                              << 1U) 
                                             | (IData)(vlSelfRef.erased___05Fpayload))) 
                     << 4U) | (((IData)(vlSelfRef.erased___05Fvalid) 
                                << 3U) | (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state)));
    vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fen__02438 
        = Vfrontend_zoneallocator__ConstPool__TABLE_h023cd22a_0
        [__Vtableidx2];
    __Vtableidx5 = ((((((0x10U <= (IData)(vlSelfRef.erase___05Fpayload)) 
                        << 3U) | ((0x10U <= (IData)(vlSelfRef.erase___05Fpayload)) 
                                  << 2U)) | (((0x10U 
                                               <= (IData)(vlSelfRef.erase___05Fpayload)) 
                                              << 1U) 
                                             | (IData)(vlSelfRef.erased___05Fpayload))) 
                     << 4U) | (((IData)(vlSelfRef.erased___05Fvalid) 
                                << 3U) | (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state)));
    vlSelfRef.erases = Vfrontend_zoneallocator__ConstPool__TABLE_he8eae928_0
        [__Vtableidx5];
    vlSelfRef.frontend_zoneallocator__DOT____02444 
        = (0x0000003fU & ((IData)(1U) + (IData)(vlSelfRef.frontend_zoneallocator__DOT__cursor)));
    vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr 
        = vlSelfRef.frontend_zoneallocator__DOT__cursor;
    if ((0U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if ((2U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
            if ((3U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
                vlSelfRef.restored___05Fready = 1U;
            }
        }
        if ((2U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
            vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr 
                = (0x0000001fU & vlSelfRef.restored___05Fpayload);
        }
    }
    vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02439 = 0U;
    vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 0U;
    vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 = 0U;
    if ((0U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata__02440 = 0U;
        vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02439 
            = vlSelfRef.frontend_zoneallocator__DOT__cursor;
        vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata 
            = ((IData)(vlSelfRef.recovering) ? 3U : 
               ((IData)(vlSelfRef.factory) ? (3U & 
                                              (- (IData)(
                                                         (0x10U 
                                                          <= (IData)(vlSelfRef.frontend_zoneallocator__DOT__cursor)))))
                 : 1U));
        vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
            = vlSelfRef.frontend_zoneallocator__DOT__cursor;
    } else if ((2U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if (vlSelfRef.erased___05Fvalid) {
            if ((1U & (~ (IData)(vlSelfRef.erased___05Fpayload)))) {
                if ((0x10U > (IData)(vlSelfRef.erase___05Fpayload))) {
                    vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata__02440 
                        = (0x001fffffU & vlSelfRef.frontend_zoneallocator__DOT____02411);
                    vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02439 
                        = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                          >> 1U));
                }
            }
            if (vlSelfRef.erased___05Fpayload) {
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 4U;
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                    = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                      >> 1U));
            } else if ((0x10U <= (IData)(vlSelfRef.erase___05Fpayload))) {
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 3U;
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                    = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                      >> 1U));
            } else {
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 0U;
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                    = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                      >> 1U));
            }
        } else if (vlSelfRef.release___05Fvalid) {
            vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 1U;
            vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                = vlSelfRef.release___05Fpayload;
        }
    } else if ((3U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata__02440 
            = (0x001fffffU & (vlSelfRef.restored___05Fpayload 
                              >> 5U));
        vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02439 
            = (0x0000001fU & vlSelfRef.restored___05Fpayload);
        vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata 
            = ((0x04000000U & vlSelfRef.restored___05Fpayload)
                ? 1U : 3U);
        vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
            = (0x0000001fU & vlSelfRef.restored___05Fpayload);
    } else if ((1U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if (vlSelfRef.erased___05Fvalid) {
            if ((1U & (~ (IData)(vlSelfRef.erased___05Fpayload)))) {
                if ((0x10U > (IData)(vlSelfRef.erase___05Fpayload))) {
                    vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata__02440 
                        = (0x001fffffU & vlSelfRef.frontend_zoneallocator__DOT____02411);
                    vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02439 
                        = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                          >> 1U));
                }
            }
            if (vlSelfRef.erased___05Fpayload) {
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 4U;
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                    = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                      >> 1U));
            } else if ((0x10U <= (IData)(vlSelfRef.erase___05Fpayload))) {
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 3U;
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                    = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                      >> 1U));
            } else {
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 0U;
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                    = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                      >> 1U));
            }
        } else if (vlSelfRef.release___05Fvalid) {
            vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 1U;
            vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                = vlSelfRef.release___05Fpayload;
        }
    } else if ((4U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if (vlSelfRef.erased___05Fvalid) {
            if ((1U & (~ (IData)(vlSelfRef.erased___05Fpayload)))) {
                if ((0x10U > (IData)(vlSelfRef.erase___05Fpayload))) {
                    vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata__02440 
                        = (0x001fffffU & vlSelfRef.frontend_zoneallocator__DOT____02411);
                    vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02439 
                        = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                          >> 1U));
                }
            }
            if (vlSelfRef.erased___05Fpayload) {
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 4U;
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                    = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                      >> 1U));
            } else if ((0x10U <= (IData)(vlSelfRef.erase___05Fpayload))) {
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 3U;
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                    = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                      >> 1U));
            } else {
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 0U;
                vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                    = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                      >> 1U));
            }
        } else if (vlSelfRef.release___05Fvalid) {
            vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 1U;
            vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                = vlSelfRef.release___05Fpayload;
        }
    } else if ((5U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if (vlSelfRef.frontend_zoneallocator__DOT____02422) {
            vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 3U;
            vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__best_erased 
                                  >> 1U));
        }
    } else if ((6U == (IData)(vlSelfRef.frontend_zoneallocator__DOT__fsm_state))) {
        if (vlSelfRef.frontend_zoneallocator__DOT____02424) {
            vlSelfRef.frontend_zoneallocator__DOT____024signature___05Fdata = 2U;
            vlSelfRef.frontend_zoneallocator__DOT____024signature___05Faddr__02436 
                = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__best_dirty 
                                  >> 1U));
        }
    }
}

void Vfrontend_zoneallocator___024root___eval_nba(Vfrontend_zoneallocator___024root* vlSelf) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___eval_nba\n"); );
    Vfrontend_zoneallocator__Syms* const __restrict vlSymsp VL_ATTR_UNUSED = vlSelf->vlSymsp;
    auto& vlSelfRef = std::ref(*vlSelf).get();
    // Body
    if ((1ULL & vlSelfRef.__VnbaTriggered[0U])) {
        Vfrontend_zoneallocator___024root___nba_sequent__TOP__0(vlSelf);
    }
}

void Vfrontend_zoneallocator___024root___trigger_orInto__act_vec_vec(VlUnpacked<QData/*63:0*/, 1> &out, const VlUnpacked<QData/*63:0*/, 1> &in) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___trigger_orInto__act_vec_vec\n"); );
    // Locals
    IData/*31:0*/ n;
    // Body
    n = 0U;
    do {
        out[n] = (out[n] | in[n]);
        n = ((IData)(1U) + n);
    } while ((0U >= n));
}

#ifdef VL_DEBUG
VL_ATTR_COLD void Vfrontend_zoneallocator___024root___dump_triggers__act(const VlUnpacked<QData/*63:0*/, 1> &triggers, const std::string &tag);
#endif  // VL_DEBUG

bool Vfrontend_zoneallocator___024root___eval_phase__act(Vfrontend_zoneallocator___024root* vlSelf) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___eval_phase__act\n"); );
    Vfrontend_zoneallocator__Syms* const __restrict vlSymsp VL_ATTR_UNUSED = vlSelf->vlSymsp;
    auto& vlSelfRef = std::ref(*vlSelf).get();
    // Body
    Vfrontend_zoneallocator___024root___eval_triggers_vec__act(vlSelf);
#ifdef VL_DEBUG
    if (VL_UNLIKELY(vlSymsp->_vm_contextp__->debug())) {
        Vfrontend_zoneallocator___024root___dump_triggers__act(vlSelfRef.__VactTriggered, "act"s);
    }
#endif
    Vfrontend_zoneallocator___024root___trigger_orInto__act_vec_vec(vlSelfRef.__VnbaTriggered, vlSelfRef.__VactTriggered);
    return (0U);
}

void Vfrontend_zoneallocator___024root___trigger_clear__act(VlUnpacked<QData/*63:0*/, 1> &out) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___trigger_clear__act\n"); );
    // Locals
    IData/*31:0*/ n;
    // Body
    n = 0U;
    do {
        out[n] = 0ULL;
        n = ((IData)(1U) + n);
    } while ((1U > n));
}

bool Vfrontend_zoneallocator___024root___eval_phase__nba(Vfrontend_zoneallocator___024root* vlSelf) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___eval_phase__nba\n"); );
    Vfrontend_zoneallocator__Syms* const __restrict vlSymsp VL_ATTR_UNUSED = vlSelf->vlSymsp;
    auto& vlSelfRef = std::ref(*vlSelf).get();
    // Locals
    CData/*0:0*/ __VnbaExecute;
    // Body
    __VnbaExecute = Vfrontend_zoneallocator___024root___trigger_anySet__act(vlSelfRef.__VnbaTriggered);
    if (__VnbaExecute) {
        Vfrontend_zoneallocator___024root___eval_nba(vlSelf);
        Vfrontend_zoneallocator___024root___trigger_clear__act(vlSelfRef.__VnbaTriggered);
    }
    return (__VnbaExecute);
}

void Vfrontend_zoneallocator___024root___eval(Vfrontend_zoneallocator___024root* vlSelf) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___eval\n"); );
    Vfrontend_zoneallocator__Syms* const __restrict vlSymsp VL_ATTR_UNUSED = vlSelf->vlSymsp;
    auto& vlSelfRef = std::ref(*vlSelf).get();
    // Locals
    IData/*31:0*/ __VicoIterCount;
    IData/*31:0*/ __VnbaIterCount;
    // Body
    __VicoIterCount = 0U;
    vlSelfRef.__VicoFirstIteration = 1U;
    do {
        if (VL_UNLIKELY(((0x00002710U < __VicoIterCount)))) {
#ifdef VL_DEBUG
            Vfrontend_zoneallocator___024root___dump_triggers__ico(vlSelfRef.__VicoTriggered, "ico"s);
#endif
            VL_FATAL_MT("/work/wt/cost/build/model/frontend_zoneallocator-4796317059145044/src/frontend_zoneallocator.sv", 4, "", "DIDNOTCONVERGE: Input combinational region did not converge after '--converge-limit' of 10000 tries");
        }
        __VicoIterCount = ((IData)(1U) + __VicoIterCount);
        vlSelfRef.__VicoPhaseResult = Vfrontend_zoneallocator___024root___eval_phase__ico(vlSelf);
        vlSelfRef.__VicoFirstIteration = 0U;
    } while (vlSelfRef.__VicoPhaseResult);
    __VnbaIterCount = 0U;
    do {
        if (VL_UNLIKELY(((0x00002710U < __VnbaIterCount)))) {
#ifdef VL_DEBUG
            Vfrontend_zoneallocator___024root___dump_triggers__act(vlSelfRef.__VnbaTriggered, "nba"s);
#endif
            VL_FATAL_MT("/work/wt/cost/build/model/frontend_zoneallocator-4796317059145044/src/frontend_zoneallocator.sv", 4, "", "DIDNOTCONVERGE: NBA region did not converge after '--converge-limit' of 10000 tries");
        }
        __VnbaIterCount = ((IData)(1U) + __VnbaIterCount);
        vlSelfRef.__VactIterCount = 0U;
        do {
            if (VL_UNLIKELY(((0x00002710U < vlSelfRef.__VactIterCount)))) {
#ifdef VL_DEBUG
                Vfrontend_zoneallocator___024root___dump_triggers__act(vlSelfRef.__VactTriggered, "act"s);
#endif
                VL_FATAL_MT("/work/wt/cost/build/model/frontend_zoneallocator-4796317059145044/src/frontend_zoneallocator.sv", 4, "", "DIDNOTCONVERGE: Active region did not converge after '--converge-limit' of 10000 tries");
            }
            vlSelfRef.__VactIterCount = ((IData)(1U) 
                                         + vlSelfRef.__VactIterCount);
            vlSelfRef.__VactPhaseResult = Vfrontend_zoneallocator___024root___eval_phase__act(vlSelf);
        } while (vlSelfRef.__VactPhaseResult);
        vlSelfRef.__VnbaPhaseResult = Vfrontend_zoneallocator___024root___eval_phase__nba(vlSelf);
    } while (vlSelfRef.__VnbaPhaseResult);
}

#ifdef VL_DEBUG
void Vfrontend_zoneallocator___024root___eval_debug_assertions(Vfrontend_zoneallocator___024root* vlSelf) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___eval_debug_assertions\n"); );
    Vfrontend_zoneallocator__Syms* const __restrict vlSymsp VL_ATTR_UNUSED = vlSelf->vlSymsp;
    auto& vlSelfRef = std::ref(*vlSelf).get();
    // Body
    if (VL_UNLIKELY(((vlSelfRef.rst & 0xfeU)))) {
        Verilated::overWidthError("rst");
    }
    if (VL_UNLIKELY(((vlSelfRef.erase___05Fready & 0xfeU)))) {
        Verilated::overWidthError("erase__ready");
    }
    if (VL_UNLIKELY(((vlSelfRef.erased___05Fpayload 
                      & 0xfeU)))) {
        Verilated::overWidthError("erased__payload");
    }
    if (VL_UNLIKELY(((vlSelfRef.erased___05Fvalid & 0xfeU)))) {
        Verilated::overWidthError("erased__valid");
    }
    if (VL_UNLIKELY(((vlSelfRef.factory & 0xfeU)))) {
        Verilated::overWidthError("factory");
    }
    if (VL_UNLIKELY(((vlSelfRef.next___05Fready & 0xfeU)))) {
        Verilated::overWidthError("next__ready");
    }
    if (VL_UNLIKELY(((vlSelfRef.recovering & 0xfeU)))) {
        Verilated::overWidthError("recovering");
    }
    if (VL_UNLIKELY(((vlSelfRef.release___05Fpayload 
                      & 0xf0U)))) {
        Verilated::overWidthError("release__payload");
    }
    if (VL_UNLIKELY(((vlSelfRef.release___05Fvalid 
                      & 0xfeU)))) {
        Verilated::overWidthError("release__valid");
    }
    if (VL_UNLIKELY(((vlSelfRef.port17___05Freset & 0xfeU)))) {
        Verilated::overWidthError("port17__reset");
    }
    if (VL_UNLIKELY(((vlSelfRef.restored___05Fpayload 
                      & 0xf8000000U)))) {
        Verilated::overWidthError("restored__payload");
    }
    if (VL_UNLIKELY(((vlSelfRef.restored___05Fvalid 
                      & 0xfeU)))) {
        Verilated::overWidthError("restored__valid");
    }
    if (VL_UNLIKELY(((vlSelfRef.zone_select & 0xf0U)))) {
        Verilated::overWidthError("zone_select");
    }
    if (VL_UNLIKELY(((vlSelfRef.clk & 0xfeU)))) {
        Verilated::overWidthError("clk");
    }
}
#endif  // VL_DEBUG
