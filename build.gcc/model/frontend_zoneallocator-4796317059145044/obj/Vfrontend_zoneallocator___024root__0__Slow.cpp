// Verilated -*- C++ -*-
// DESCRIPTION: Verilator output: Design implementation internals
// See Vfrontend_zoneallocator.h for the primary calling header

#include "Vfrontend_zoneallocator__pch.h"

VL_ATTR_COLD void Vfrontend_zoneallocator___024root___eval_static(Vfrontend_zoneallocator___024root* vlSelf) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___eval_static\n"); );
    Vfrontend_zoneallocator__Syms* const __restrict vlSymsp VL_ATTR_UNUSED = vlSelf->vlSymsp;
    auto& vlSelfRef = std::ref(*vlSelf).get();
    // Body
    vlSelfRef.frontend_zoneallocator__DOT__best_dirty = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__best_erased = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__cursor = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__dirty_count = 0U;
    vlSelfRef.erase___05Fvalid = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__erased_count = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__erasing = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__fsm_state = 0U;
    vlSelfRef.next___05Fpayload = 0U;
    vlSelfRef.next___05Fvalid = 0U;
    vlSelfRef.ready = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__scanned = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__scanning = 0U;
    vlSelfRef.__Vtrigprevexpr___TOP__clk__0 = vlSelfRef.clk;
}

VL_ATTR_COLD void Vfrontend_zoneallocator___024root___eval_static__TOP(Vfrontend_zoneallocator___024root* vlSelf) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___eval_static__TOP\n"); );
    Vfrontend_zoneallocator__Syms* const __restrict vlSymsp VL_ATTR_UNUSED = vlSelf->vlSymsp;
    auto& vlSelfRef = std::ref(*vlSelf).get();
    // Body
    vlSelfRef.frontend_zoneallocator__DOT__best_dirty = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__best_erased = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__cursor = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__dirty_count = 0U;
    vlSelfRef.erase___05Fvalid = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__erased_count = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__erasing = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__fsm_state = 0U;
    vlSelfRef.next___05Fpayload = 0U;
    vlSelfRef.next___05Fvalid = 0U;
    vlSelfRef.ready = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__scanned = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__scanning = 0U;
}

VL_ATTR_COLD void Vfrontend_zoneallocator___024root___eval_initial(Vfrontend_zoneallocator___024root* vlSelf) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___eval_initial\n"); );
    Vfrontend_zoneallocator__Syms* const __restrict vlSymsp VL_ATTR_UNUSED = vlSelf->vlSymsp;
    auto& vlSelfRef = std::ref(*vlSelf).get();
    // Body
    vlSelfRef.frontend_zoneallocator__DOT__states[0U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[1U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[2U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[3U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[4U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[5U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[6U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[7U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[8U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[9U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[10U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[11U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[12U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[13U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[14U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[15U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[16U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[17U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[0U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[1U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[2U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[3U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[4U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[5U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[6U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[7U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[8U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[9U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[10U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[11U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[12U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[13U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[14U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[15U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[16U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[17U] = 0U;
}

VL_ATTR_COLD void Vfrontend_zoneallocator___024root___eval_initial__TOP(Vfrontend_zoneallocator___024root* vlSelf) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___eval_initial__TOP\n"); );
    Vfrontend_zoneallocator__Syms* const __restrict vlSymsp VL_ATTR_UNUSED = vlSelf->vlSymsp;
    auto& vlSelfRef = std::ref(*vlSelf).get();
    // Body
    vlSelfRef.frontend_zoneallocator__DOT__states[0U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[1U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[2U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[3U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[4U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[5U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[6U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[7U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[8U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[9U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[10U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[11U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[12U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[13U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[14U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[15U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[16U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__states[17U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[0U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[1U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[2U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[3U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[4U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[5U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[6U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[7U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[8U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[9U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[10U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[11U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[12U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[13U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[14U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[15U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[16U] = 0U;
    vlSelfRef.frontend_zoneallocator__DOT__wears[17U] = 0U;
}

VL_ATTR_COLD void Vfrontend_zoneallocator___024root___eval_final(Vfrontend_zoneallocator___024root* vlSelf) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___eval_final\n"); );
    Vfrontend_zoneallocator__Syms* const __restrict vlSymsp VL_ATTR_UNUSED = vlSelf->vlSymsp;
    auto& vlSelfRef = std::ref(*vlSelf).get();
}

#ifdef VL_DEBUG
VL_ATTR_COLD void Vfrontend_zoneallocator___024root___dump_triggers__stl(const VlUnpacked<QData/*63:0*/, 1> &triggers, const std::string &tag);
#endif  // VL_DEBUG
VL_ATTR_COLD bool Vfrontend_zoneallocator___024root___eval_phase__stl(Vfrontend_zoneallocator___024root* vlSelf);

VL_ATTR_COLD void Vfrontend_zoneallocator___024root___eval_settle(Vfrontend_zoneallocator___024root* vlSelf) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___eval_settle\n"); );
    Vfrontend_zoneallocator__Syms* const __restrict vlSymsp VL_ATTR_UNUSED = vlSelf->vlSymsp;
    auto& vlSelfRef = std::ref(*vlSelf).get();
    // Locals
    IData/*31:0*/ __VstlIterCount;
    // Body
    __VstlIterCount = 0U;
    vlSelfRef.__VstlFirstIteration = 1U;
    do {
        if (VL_UNLIKELY(((0x00002710U < __VstlIterCount)))) {
#ifdef VL_DEBUG
            Vfrontend_zoneallocator___024root___dump_triggers__stl(vlSelfRef.__VstlTriggered, "stl"s);
#endif
            VL_FATAL_MT("/work/wt/cost/build/model/frontend_zoneallocator-4796317059145044/src/frontend_zoneallocator.sv", 4, "", "DIDNOTCONVERGE: Settle region did not converge after '--converge-limit' of 10000 tries");
        }
        __VstlIterCount = ((IData)(1U) + __VstlIterCount);
        vlSelfRef.__VstlPhaseResult = Vfrontend_zoneallocator___024root___eval_phase__stl(vlSelf);
        vlSelfRef.__VstlFirstIteration = 0U;
    } while (vlSelfRef.__VstlPhaseResult);
}

VL_ATTR_COLD void Vfrontend_zoneallocator___024root___eval_triggers_vec__stl(Vfrontend_zoneallocator___024root* vlSelf) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___eval_triggers_vec__stl\n"); );
    Vfrontend_zoneallocator__Syms* const __restrict vlSymsp VL_ATTR_UNUSED = vlSelf->vlSymsp;
    auto& vlSelfRef = std::ref(*vlSelf).get();
    // Body
    vlSelfRef.__VstlTriggered[0U] = ((0xfffffffffffffffeULL 
                                      & vlSelfRef.__VstlTriggered[0U]) 
                                     | (IData)((IData)(vlSelfRef.__VstlFirstIteration)));
}

VL_ATTR_COLD bool Vfrontend_zoneallocator___024root___trigger_anySet__stl(const VlUnpacked<QData/*63:0*/, 1> &in);

#ifdef VL_DEBUG
VL_ATTR_COLD void Vfrontend_zoneallocator___024root___dump_triggers__stl(const VlUnpacked<QData/*63:0*/, 1> &triggers, const std::string &tag) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___dump_triggers__stl\n"); );
    // Body
    if ((1U & (~ (IData)(Vfrontend_zoneallocator___024root___trigger_anySet__stl(triggers))))) {
        VL_DBG_MSGS("         No '" + tag + "' region triggers active\n");
    }
    if ((1U & (IData)(triggers[0U]))) {
        VL_DBG_MSGS("         '" + tag + "' region trigger index 0 is active: Internal 'stl' trigger - first iteration\n");
    }
}
#endif  // VL_DEBUG

VL_ATTR_COLD bool Vfrontend_zoneallocator___024root___trigger_anySet__stl(const VlUnpacked<QData/*63:0*/, 1> &in) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___trigger_anySet__stl\n"); );
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
extern const VlUnpacked<CData/*0:0*/, 64> Vfrontend_zoneallocator__ConstPool__TABLE_h07f23dd1_0;
extern const VlUnpacked<CData/*0:0*/, 128> Vfrontend_zoneallocator__ConstPool__TABLE_h105ac722_0;
extern const VlUnpacked<CData/*0:0*/, 256> Vfrontend_zoneallocator__ConstPool__TABLE_h023cd22a_0;
extern const VlUnpacked<CData/*0:0*/, 256> Vfrontend_zoneallocator__ConstPool__TABLE_he8eae928_0;

VL_ATTR_COLD void Vfrontend_zoneallocator___024root___stl_sequent__TOP__0(Vfrontend_zoneallocator___024root* vlSelf) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___stl_sequent__TOP__0\n"); );
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
    // Body
    vlSelfRef.restored___05Fready = 0U;
    vlSelfRef.frontend_zoneallocator__DOT____02421 
        = (1U & (~ (IData)(vlSelfRef.next___05Fvalid)));
    vlSelfRef.frontend_zoneallocator__DOT____02423 
        = (1U & (~ (IData)(vlSelfRef.frontend_zoneallocator__DOT__erasing)));
    vlSelfRef.frontend_zoneallocator__DOT____02447 
        = (0x0000003fU & ((IData)(1U) + (IData)(vlSelfRef.frontend_zoneallocator__DOT__erased_count)));
    vlSelfRef.frontend_zoneallocator__DOT____02448 
        = (0x0000003fU & ((IData)(1U) + (IData)(vlSelfRef.frontend_zoneallocator__DOT__dirty_count)));
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
    vlSelfRef.idle = ((~ (IData)(vlSelfRef.frontend_zoneallocator__DOT__erasing)) 
                      & ((~ (0U != (IData)(vlSelfRef.frontend_zoneallocator__DOT__dirty_count))) 
                         & (IData)(vlSelfRef.ready)));
    vlSelfRef.frontend_zoneallocator__DOT____02411 
        = (0x003fffffU & ((1U & (~ (0x001fffffU == 
                                    (0x001fffffU & 
                                     (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                      >> 6U))))) + 
                          (0x001fffffU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                          >> 6U))));
    vlSelfRef.frontend_zoneallocator__DOT____02422 
        = (1U & ((~ (IData)(vlSelfRef.next___05Fvalid)) 
                 & vlSelfRef.frontend_zoneallocator__DOT__best_erased));
    vlSelfRef.frontend_zoneallocator__DOT____02424 
        = (1U & ((~ (IData)(vlSelfRef.frontend_zoneallocator__DOT__erasing)) 
                 & vlSelfRef.frontend_zoneallocator__DOT__best_dirty));
    vlSelfRef.erase___05Fpayload = (0x0000001fU & (vlSelfRef.frontend_zoneallocator__DOT__erasing_candidate 
                                                   >> 1U));
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

VL_ATTR_COLD void Vfrontend_zoneallocator___024root___eval_stl(Vfrontend_zoneallocator___024root* vlSelf) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___eval_stl\n"); );
    Vfrontend_zoneallocator__Syms* const __restrict vlSymsp VL_ATTR_UNUSED = vlSelf->vlSymsp;
    auto& vlSelfRef = std::ref(*vlSelf).get();
    // Body
    if ((1ULL & vlSelfRef.__VstlTriggered[0U])) {
        Vfrontend_zoneallocator___024root___stl_sequent__TOP__0(vlSelf);
    }
}

VL_ATTR_COLD bool Vfrontend_zoneallocator___024root___eval_phase__stl(Vfrontend_zoneallocator___024root* vlSelf) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___eval_phase__stl\n"); );
    Vfrontend_zoneallocator__Syms* const __restrict vlSymsp VL_ATTR_UNUSED = vlSelf->vlSymsp;
    auto& vlSelfRef = std::ref(*vlSelf).get();
    // Locals
    CData/*0:0*/ __VstlExecute;
    // Body
    Vfrontend_zoneallocator___024root___eval_triggers_vec__stl(vlSelf);
#ifdef VL_DEBUG
    if (VL_UNLIKELY(vlSymsp->_vm_contextp__->debug())) {
        Vfrontend_zoneallocator___024root___dump_triggers__stl(vlSelfRef.__VstlTriggered, "stl"s);
    }
#endif
    __VstlExecute = Vfrontend_zoneallocator___024root___trigger_anySet__stl(vlSelfRef.__VstlTriggered);
    if (__VstlExecute) {
        Vfrontend_zoneallocator___024root___eval_stl(vlSelf);
    }
    return (__VstlExecute);
}

bool Vfrontend_zoneallocator___024root___trigger_anySet__ico(const VlUnpacked<QData/*63:0*/, 1> &in);

#ifdef VL_DEBUG
VL_ATTR_COLD void Vfrontend_zoneallocator___024root___dump_triggers__ico(const VlUnpacked<QData/*63:0*/, 1> &triggers, const std::string &tag) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___dump_triggers__ico\n"); );
    // Body
    if ((1U & (~ (IData)(Vfrontend_zoneallocator___024root___trigger_anySet__ico(triggers))))) {
        VL_DBG_MSGS("         No '" + tag + "' region triggers active\n");
    }
    if ((1U & (IData)(triggers[0U]))) {
        VL_DBG_MSGS("         '" + tag + "' region trigger index 0 is active: Internal 'ico' trigger - first iteration\n");
    }
}
#endif  // VL_DEBUG

bool Vfrontend_zoneallocator___024root___trigger_anySet__act(const VlUnpacked<QData/*63:0*/, 1> &in);

#ifdef VL_DEBUG
VL_ATTR_COLD void Vfrontend_zoneallocator___024root___dump_triggers__act(const VlUnpacked<QData/*63:0*/, 1> &triggers, const std::string &tag) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___dump_triggers__act\n"); );
    // Body
    if ((1U & (~ (IData)(Vfrontend_zoneallocator___024root___trigger_anySet__act(triggers))))) {
        VL_DBG_MSGS("         No '" + tag + "' region triggers active\n");
    }
    if ((1U & (IData)(triggers[0U]))) {
        VL_DBG_MSGS("         '" + tag + "' region trigger index 0 is active: @(posedge clk)\n");
    }
}
#endif  // VL_DEBUG

VL_ATTR_COLD void Vfrontend_zoneallocator___024root___ctor_var_reset(Vfrontend_zoneallocator___024root* vlSelf) {
    VL_DEBUG_IF(VL_DBG_MSGF("+    Vfrontend_zoneallocator___024root___ctor_var_reset\n"); );
    Vfrontend_zoneallocator__Syms* const __restrict vlSymsp VL_ATTR_UNUSED = vlSelf->vlSymsp;
    auto& vlSelfRef = std::ref(*vlSelf).get();
    // Body
    vlSelf->rst = 0;
    vlSelf->erase___05Fready = 0;
    vlSelf->erased___05Fpayload = 0;
    vlSelf->erased___05Fvalid = 0;
    vlSelf->factory = 0;
    vlSelf->next___05Fready = 0;
    vlSelf->recovering = 0;
    vlSelf->release___05Fpayload = 0;
    vlSelf->release___05Fvalid = 0;
    vlSelf->port17___05Freset = 0;
    vlSelf->restored___05Fpayload = 0;
    vlSelf->restored___05Fvalid = 0;
    vlSelf->zone_select = 0;
    vlSelf->erases = 0;
    vlSelf->idle = 0;
    vlSelf->port3___05Fselected_wear___05Fdata = 0;
    vlSelf->exhausted = 0;
    vlSelf->restored___05Fready = 0;
    vlSelf->release___05Fready = 0;
    vlSelf->erased___05Fready = 0;
    vlSelf->erase___05Fpayload = 0;
    vlSelf->clk = 0;
    vlSelf->frontend_zoneallocator__DOT____Vlvbound_h0acd39fb__0 = 0;
    vlSelf->frontend_zoneallocator__DOT____Vlvbound_h954725f7__0 = 0;
    vlSelf->frontend_zoneallocator__DOT____02411 = 0;
    vlSelf->frontend_zoneallocator__DOT____02421 = 0;
    vlSelf->frontend_zoneallocator__DOT____02422 = 0;
    vlSelf->frontend_zoneallocator__DOT____02423 = 0;
    vlSelf->frontend_zoneallocator__DOT____02424 = 0;
    vlSelf->frontend_zoneallocator__DOT____02444 = 0;
    vlSelf->frontend_zoneallocator__DOT____02447 = 0;
    vlSelf->frontend_zoneallocator__DOT____02448 = 0;
    vlSelf->frontend_zoneallocator__DOT____024signature___05Faddr = 0;
    vlSelf->frontend_zoneallocator__DOT____024signature___05Faddr__02436 = 0;
    vlSelf->frontend_zoneallocator__DOT____024signature___05Faddr__02439 = 0;
    vlSelf->frontend_zoneallocator__DOT____024signature___05Fdata = 0;
    vlSelf->frontend_zoneallocator__DOT____024signature___05Fdata__02440 = 0;
    vlSelf->frontend_zoneallocator__DOT____024signature___05Fen = 0;
    vlSelf->frontend_zoneallocator__DOT____024signature___05Fen__02438 = 0;
    for (int __Vi0 = 0; __Vi0 < 18; ++__Vi0) {
        vlSelf->frontend_zoneallocator__DOT__states[__Vi0] = 0;
    }
    vlSelf->frontend_zoneallocator__DOT___0_ = 0;
    for (int __Vi0 = 0; __Vi0 < 18; ++__Vi0) {
        vlSelf->frontend_zoneallocator__DOT__wears[__Vi0] = 0;
    }
    vlSelf->frontend_zoneallocator__DOT___2_ = 0;
    for (int __Vi0 = 0; __Vi0 < 1; ++__Vi0) {
        vlSelf->__VstlTriggered[__Vi0] = 0;
    }
    for (int __Vi0 = 0; __Vi0 < 1; ++__Vi0) {
        vlSelf->__VicoTriggered[__Vi0] = 0;
    }
    for (int __Vi0 = 0; __Vi0 < 1; ++__Vi0) {
        vlSelf->__VactTriggered[__Vi0] = 0;
    }
    vlSelf->__Vtrigprevexpr___TOP__clk__0 = 0;
    for (int __Vi0 = 0; __Vi0 < 1; ++__Vi0) {
        vlSelf->__VnbaTriggered[__Vi0] = 0;
    }
}
