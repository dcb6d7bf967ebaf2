// Generated from the text of the models.
#pragma once
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
#include "sleep.h"
#include "Vfrontend_rest.h"
#include "Vfrontend_rest___024root.h"
FLASHTRAIN_SETTLE(Vfrontend_rest)
void Vfrontend_rest___024root___nba_sequent__TOP__0(Vfrontend_rest___024root*);
namespace flashtrain { inline void rising_edge(Vfrontend_rest___024root& root) { Vfrontend_rest___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vfrontend_rest___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vfrontend_rest___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vfrontend_rest___024root> {
    static constexpr std::array<Range, 6> words{{FLASHTRAIN_SPAN(Vfrontend_rest___024root, port51___05Ffatal, port58___05Fspare_use___05Fready), FLASHTRAIN_SPAN(Vfrontend_rest___024root, port59___05Fw_rdy, port69___05Fquiesce), FLASHTRAIN_SPAN(Vfrontend_rest___024root, port70___05Fpins___05Fawid, port77___05Fraw), FLASHTRAIN_SPAN(Vfrontend_rest___024root, channels___05F1___05Fread_ready, channel_reset), FLASHTRAIN_SPAN(Vfrontend_rest___024root, port68___05Fpulses, port68___05Fpulses), FLASHTRAIN_SPAN(Vfrontend_rest___024root, port50___05Fchannel_counters___05Fvalue, port50___05Fchannel_counters___05Fvalue)}};
};
#include "Vfrontend_registerfile.h"
#include "Vfrontend_registerfile___024root.h"
FLASHTRAIN_SETTLE(Vfrontend_registerfile)
FLASHTRAIN_EDGE(Vfrontend_registerfile)
template <>
struct flashtrain::State<Vfrontend_registerfile___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vfrontend_registerfile___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vfrontend_registerfile___024root> {
    static constexpr std::array<Range, 14> words{{FLASHTRAIN_SPAN(Vfrontend_registerfile___024root, channel_select, counters___05Fselect), FLASHTRAIN_SPAN(Vfrontend_registerfile___024root, port57___05Fsignal, channel_counters___05Fselect), FLASHTRAIN_SPAN(Vfrontend_registerfile___024root, queues___05F0___05Fcq_head, queues___05F0___05Fsq_tail), FLASHTRAIN_SPAN(Vfrontend_registerfile___024root, queues___05F1___05Fcq_head, queues___05F1___05Fsq_tail), FLASHTRAIN_SPAN(Vfrontend_registerfile___024root, streams___05F0, streams___05F1), FLASHTRAIN_SPAN(Vfrontend_registerfile___024root, streams___05F2, streams___05F3), FLASHTRAIN_SPAN(Vfrontend_registerfile___024root, streams___05F4, streams___05F5), FLASHTRAIN_SPAN(Vfrontend_registerfile___024root, streams___05F6, streams___05F7), FLASHTRAIN_SPAN(Vfrontend_registerfile___024root, time, port61___05Fbus___05Frdata), FLASHTRAIN_SPAN(Vfrontend_registerfile___024root, queues___05F0___05Fsq_base, queues___05F0___05Fsq_base), FLASHTRAIN_SPAN(Vfrontend_registerfile___024root, queues___05F1___05Fsq_base, queues___05F1___05Fsq_base), FLASHTRAIN_SPAN(Vfrontend_registerfile___024root, memory_bytes, memory_bytes), FLASHTRAIN_SPAN(Vfrontend_registerfile___024root, queues___05F0___05Fcq_base, queues___05F0___05Fcq_base), FLASHTRAIN_SPAN(Vfrontend_registerfile___024root, queues___05F1___05Fcq_base, queues___05F1___05Fcq_base)}};
};
#include "Vfrontend_submissionfetch.h"
#include "Vfrontend_submissionfetch___024root.h"
FLASHTRAIN_SETTLE(Vfrontend_submissionfetch)
void Vfrontend_submissionfetch___024root___nba_sequent__TOP__0(Vfrontend_submissionfetch___024root*);
namespace flashtrain { inline void rising_edge(Vfrontend_submissionfetch___024root& root) { Vfrontend_submissionfetch___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vfrontend_submissionfetch___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vfrontend_submissionfetch___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vfrontend_submissionfetch___024root> {
    static constexpr std::array<Range, 4> words{{FLASHTRAIN_SPAN(Vfrontend_submissionfetch___024root, port0___05Flast, axi___05Far___05Fvalid), FLASHTRAIN_SPAN(Vfrontend_submissionfetch___024root, axi___05Fr___05Fready, axi___05Fr___05Fready), FLASHTRAIN_SPAN(Vfrontend_submissionfetch___024root, head___05F0, head___05F1), FLASHTRAIN_SPAN(Vfrontend_submissionfetch___024root, axi___05Far___05Fpayload, axi___05Far___05Fpayload)}};
};
#include "Vfrontend_decoder.h"
#include "Vfrontend_decoder___024root.h"
FLASHTRAIN_SETTLE(Vfrontend_decoder)
void Vfrontend_decoder___024root___nba_sequent__TOP__0(Vfrontend_decoder___024root*);
namespace flashtrain { inline void rising_edge(Vfrontend_decoder___024root& root) { Vfrontend_decoder___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vfrontend_decoder___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vfrontend_decoder___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vfrontend_decoder___024root> {
    static constexpr std::array<Range, 1> words{{FLASHTRAIN_SPAN(Vfrontend_decoder___024root, port0___05Fadvance, commands___05Fvalid)}};
};
#include "Vfrontend_zonemanager.h"
#include "Vfrontend_zonemanager___024root.h"
FLASHTRAIN_SETTLE(Vfrontend_zonemanager)
void Vfrontend_zonemanager___024root___nba_sequent__TOP__0(Vfrontend_zonemanager___024root*);
void Vfrontend_zonemanager___024root___nba_sequent__TOP__1(Vfrontend_zonemanager___024root*);
namespace flashtrain { inline void rising_edge(Vfrontend_zonemanager___024root& root) { Vfrontend_zonemanager___024root___nba_sequent__TOP__0(&root); Vfrontend_zonemanager___024root___nba_sequent__TOP__1(&root); } }
template <>
struct flashtrain::State<Vfrontend_zonemanager___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vfrontend_zonemanager___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vfrontend_zonemanager___024root> {
    static constexpr std::array<Range, 9> words{{FLASHTRAIN_SPAN(Vfrontend_zonemanager___024root, idle, zone_waits), FLASHTRAIN_SPAN(Vfrontend_zonemanager___024root, commands___05Fready, report___05Fvalid), FLASHTRAIN_SPAN(Vfrontend_zonemanager___024root, open___05Fvalid, answers___05Fvalid), FLASHTRAIN_SPAN(Vfrontend_zonemanager___024root, port68___05Fspare_use___05Fpayload, port68___05Fspare_use___05Fpayload), FLASHTRAIN_SPAN(Vfrontend_zonemanager___024root, generation___05F0, generation___05F3), FLASHTRAIN_SPAN(Vfrontend_zonemanager___024root, generation___05F4, generation___05F7), FLASHTRAIN_SPAN(Vfrontend_zonemanager___024root, port18___05Fsequence, port55___05Fphysical___05Fpayload), FLASHTRAIN_SPAN(Vfrontend_zonemanager___024root, port60___05Freport, port60___05Freport), FLASHTRAIN_SPAN(Vfrontend_zonemanager___024root, answers___05Fpayload, answers___05Fpayload)}};
};
#include "Vfrontend_zoneallocator.h"
#include "Vfrontend_zoneallocator___024root.h"
FLASHTRAIN_SETTLE(Vfrontend_zoneallocator)
void Vfrontend_zoneallocator___024root___nba_sequent__TOP__0(Vfrontend_zoneallocator___024root*);
namespace flashtrain { inline void rising_edge(Vfrontend_zoneallocator___024root& root) { Vfrontend_zoneallocator___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vfrontend_zoneallocator___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vfrontend_zoneallocator___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vfrontend_zoneallocator___024root> {
    static constexpr std::array<Range, 3> words{{FLASHTRAIN_SPAN(Vfrontend_zoneallocator___024root, erases, erased___05Fready), FLASHTRAIN_SPAN(Vfrontend_zoneallocator___024root, erase___05Fpayload, erase___05Fvalid), FLASHTRAIN_SPAN(Vfrontend_zoneallocator___024root, port3___05Fselected_wear___05Fdata, next___05Fpayload)}};
};
#include "Vfrontend_erasebroadcast.h"
#include "Vfrontend_erasebroadcast___024root.h"
FLASHTRAIN_SETTLE(Vfrontend_erasebroadcast)
FLASHTRAIN_EDGE(Vfrontend_erasebroadcast)
template <>
struct flashtrain::State<Vfrontend_erasebroadcast___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vfrontend_erasebroadcast___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vfrontend_erasebroadcast___024root> {
    static constexpr std::array<Range, 2> words{{FLASHTRAIN_SPAN(Vfrontend_erasebroadcast___024root, request___05Fready, erase___05F1___05Fvalid), FLASHTRAIN_SPAN(Vfrontend_erasebroadcast___024root, erased___05F1___05Fready, erased___05F1___05Fready)}};
};
#include "Vfrontend_zonereport.h"
#include "Vfrontend_zonereport___024root.h"
FLASHTRAIN_SETTLE(Vfrontend_zonereport)
void Vfrontend_zonereport___024root___nba_sequent__TOP__0(Vfrontend_zonereport___024root*);
namespace flashtrain { inline void rising_edge(Vfrontend_zonereport___024root& root) { Vfrontend_zonereport___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vfrontend_zonereport___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vfrontend_zonereport___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vfrontend_zonereport___024root> {
    static constexpr std::array<Range, 4> words{{FLASHTRAIN_SPAN(Vfrontend_zonereport___024root, request___05Fready, axi___05Faw___05Fvalid), FLASHTRAIN_SPAN(Vfrontend_zonereport___024root, axi___05Fb___05Fready, axi___05Fw___05Fvalid), FLASHTRAIN_SPAN(Vfrontend_zonereport___024root, done___05Fpayload, done___05Fpayload), FLASHTRAIN_SPAN(Vfrontend_zonereport___024root, axi___05Faw___05Fpayload, axi___05Faw___05Fpayload)}};
};
#include "Vfrontend_commandtracker.h"
#include "Vfrontend_commandtracker___024root.h"
FLASHTRAIN_SETTLE(Vfrontend_commandtracker)
void Vfrontend_commandtracker___024root___nba_sequent__TOP__0(Vfrontend_commandtracker___024root*);
namespace flashtrain { inline void rising_edge(Vfrontend_commandtracker___024root& root) { Vfrontend_commandtracker___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vfrontend_commandtracker___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vfrontend_commandtracker___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vfrontend_commandtracker___024root> {
    static constexpr std::array<Range, 5> words{{FLASHTRAIN_SPAN(Vfrontend_commandtracker___024root, idle, arrived___05Fready), FLASHTRAIN_SPAN(Vfrontend_commandtracker___024root, returned___05Fready, programmed___05Fready), FLASHTRAIN_SPAN(Vfrontend_commandtracker___024root, span, span), FLASHTRAIN_SPAN(Vfrontend_commandtracker___024root, retired___05Fpayload, retired___05Fpayload), FLASHTRAIN_SPAN(Vfrontend_commandtracker___024root, answers___05Fpayload, answers___05Fpayload)}};
};
#include "Vfrontend_streammerge.h"
#include "Vfrontend_streammerge___024root.h"
FLASHTRAIN_SETTLE(Vfrontend_streammerge)
FLASHTRAIN_EDGE(Vfrontend_streammerge)
template <>
struct flashtrain::State<Vfrontend_streammerge___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vfrontend_streammerge___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vfrontend_streammerge___024root> {
    static constexpr std::array<Range, 3> words{{FLASHTRAIN_SPAN(Vfrontend_streammerge___024root, inputs___05F1___05Fready, inputs___05F0___05Fready), FLASHTRAIN_SPAN(Vfrontend_streammerge___024root, output___05Fvalid, output___05Fvalid), FLASHTRAIN_SPAN(Vfrontend_streammerge___024root, output___05Fpayload, output___05Fpayload)}};
};
#include "Vfrontend_completionwriter.h"
#include "Vfrontend_completionwriter___024root.h"
FLASHTRAIN_SETTLE(Vfrontend_completionwriter)
void Vfrontend_completionwriter___024root___nba_sequent__TOP__0(Vfrontend_completionwriter___024root*);
namespace flashtrain { inline void rising_edge(Vfrontend_completionwriter___024root& root) { Vfrontend_completionwriter___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vfrontend_completionwriter___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vfrontend_completionwriter___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vfrontend_completionwriter___024root> {
    static constexpr std::array<Range, 4> words{{FLASHTRAIN_SPAN(Vfrontend_completionwriter___024root, failed, port3___05Fdone), FLASHTRAIN_SPAN(Vfrontend_completionwriter___024root, axi___05Faw___05Fvalid, axi___05Fb___05Fready), FLASHTRAIN_SPAN(Vfrontend_completionwriter___024root, axi___05Fw___05Fvalid, axi___05Fw___05Fvalid), FLASHTRAIN_SPAN(Vfrontend_completionwriter___024root, axi___05Faw___05Fpayload, axi___05Faw___05Fpayload)}};
};
#include "Vfrontend_writesplitter.h"
#include "Vfrontend_writesplitter___024root.h"
FLASHTRAIN_SETTLE(Vfrontend_writesplitter)
void Vfrontend_writesplitter___024root___nba_sequent__TOP__0(Vfrontend_writesplitter___024root*);
namespace flashtrain { inline void rising_edge(Vfrontend_writesplitter___024root& root) { Vfrontend_writesplitter___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vfrontend_writesplitter___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vfrontend_writesplitter___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vfrontend_writesplitter___024root> {
    static constexpr std::array<Range, 4> words{{FLASHTRAIN_SPAN(Vfrontend_writesplitter___024root, allocated___05Fvalid, flush___05F0___05Fvalid), FLASHTRAIN_SPAN(Vfrontend_writesplitter___024root, pages___05F1___05Fvalid, flush___05F1___05Fpayload), FLASHTRAIN_SPAN(Vfrontend_writesplitter___024root, flush___05F1___05Fvalid, flush___05F1___05Fvalid), FLASHTRAIN_SPAN(Vfrontend_writesplitter___024root, issued, allocated___05Fpayload)}};
};
#include "Vfrontend_writefetch.h"
#include "Vfrontend_writefetch___024root.h"
FLASHTRAIN_SETTLE(Vfrontend_writefetch)
void Vfrontend_writefetch___024root___nba_sequent__TOP__0(Vfrontend_writefetch___024root*);
namespace flashtrain { inline void rising_edge(Vfrontend_writefetch___024root& root) { Vfrontend_writefetch___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vfrontend_writefetch___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vfrontend_writefetch___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vfrontend_writefetch___024root> {
    static constexpr std::array<Range, 3> words{{FLASHTRAIN_SPAN(Vfrontend_writefetch___024root, port0___05Faccepts, data_valid), FLASHTRAIN_SPAN(Vfrontend_writefetch___024root, data, data), FLASHTRAIN_SPAN(Vfrontend_writefetch___024root, axi___05Far___05Fpayload, axi___05Far___05Fpayload)}};
};
#include "Vfrontend_streammerge_1.h"
#include "Vfrontend_streammerge_1___024root.h"
FLASHTRAIN_SETTLE(Vfrontend_streammerge_1)
FLASHTRAIN_EDGE(Vfrontend_streammerge_1)
template <>
struct flashtrain::State<Vfrontend_streammerge_1___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vfrontend_streammerge_1___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vfrontend_streammerge_1___024root> {
    static constexpr std::array<Range, 1> words{{FLASHTRAIN_SPAN(Vfrontend_streammerge_1___024root, output___05Fpayload, inputs___05F0___05Fready)}};
};
#include "Vfrontend_readsplitter.h"
#include "Vfrontend_readsplitter___024root.h"
FLASHTRAIN_SETTLE(Vfrontend_readsplitter)
void Vfrontend_readsplitter___024root___nba_sequent__TOP__0(Vfrontend_readsplitter___024root*);
namespace flashtrain { inline void rising_edge(Vfrontend_readsplitter___024root& root) { Vfrontend_readsplitter___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vfrontend_readsplitter___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vfrontend_readsplitter___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vfrontend_readsplitter___024root> {
    static constexpr std::array<Range, 4> words{{FLASHTRAIN_SPAN(Vfrontend_readsplitter___024root, jobs___05Fready, pages___05F0___05Fvalid), FLASHTRAIN_SPAN(Vfrontend_readsplitter___024root, pages___05F1___05Fvalid, pages___05F1___05Fvalid), FLASHTRAIN_SPAN(Vfrontend_readsplitter___024root, pages___05F0___05Fpayload, pages___05F0___05Fpayload), FLASHTRAIN_SPAN(Vfrontend_readsplitter___024root, pages___05F1___05Fpayload, pages___05F1___05Fpayload)}};
};
#include "Vfrontend_returnarbiter.h"
#include "Vfrontend_returnarbiter___024root.h"
FLASHTRAIN_SETTLE(Vfrontend_returnarbiter)
FLASHTRAIN_EDGE(Vfrontend_returnarbiter)
template <>
struct flashtrain::State<Vfrontend_returnarbiter___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vfrontend_returnarbiter___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vfrontend_returnarbiter___024root> {
    static constexpr std::array<Range, 2> words{{FLASHTRAIN_SPAN(Vfrontend_returnarbiter___024root, chosen___05Fvalid, heads___05F0___05Fready), FLASHTRAIN_SPAN(Vfrontend_returnarbiter___024root, heads___05F1___05Fready, heads___05F1___05Fready)}};
};
#include "Vfrontend_readreturn.h"
#include "Vfrontend_readreturn___024root.h"
FLASHTRAIN_SETTLE(Vfrontend_readreturn)
void Vfrontend_readreturn___024root___nba_sequent__TOP__0(Vfrontend_readreturn___024root*);
namespace flashtrain { inline void rising_edge(Vfrontend_readreturn___024root& root) { Vfrontend_readreturn___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vfrontend_readreturn___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vfrontend_readreturn___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vfrontend_readreturn___024root> {
    static constexpr std::array<Range, 6> words{{FLASHTRAIN_SPAN(Vfrontend_readreturn___024root, busy, port8___05Fchosen___05Fready), FLASHTRAIN_SPAN(Vfrontend_readreturn___024root, port22___05Fr_rdy, axi___05Fb___05Fready), FLASHTRAIN_SPAN(Vfrontend_readreturn___024root, axi___05Fw___05Fvalid, axi___05Fw___05Fvalid), FLASHTRAIN_SPAN(Vfrontend_readreturn___024root, port6___05Foutput___05Fpayload, port6___05Foutput___05Fpayload), FLASHTRAIN_SPAN(Vfrontend_readreturn___024root, axi___05Faw___05Fpayload, axi___05Faw___05Fpayload), FLASHTRAIN_SPAN(Vfrontend_readreturn___024root, axi___05Fw___05Fpayload, axi___05Fw___05Fpayload)}};
};
#include "Vfrontend_registerslices.h"
#include "Vfrontend_registerslices___024root.h"
FLASHTRAIN_SETTLE(Vfrontend_registerslices)
FLASHTRAIN_EDGE(Vfrontend_registerslices)
template <>
struct flashtrain::State<Vfrontend_registerslices___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vfrontend_registerslices___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vfrontend_registerslices___024root> {
    static constexpr std::array<Range, 2> words{{FLASHTRAIN_SPAN(Vfrontend_registerslices___024root, port7___05Foutput___05Fpayload, port10___05Foutput___05Fvalid), FLASHTRAIN_SPAN(Vfrontend_registerslices___024root, port11___05Finput___05Fready, port12___05Finput___05Fready)}};
};
#include "Vfrontend_registerslices_1.h"
#include "Vfrontend_registerslices_1___024root.h"
FLASHTRAIN_SETTLE(Vfrontend_registerslices_1)
void Vfrontend_registerslices_1___024root___nba_sequent__TOP__0(Vfrontend_registerslices_1___024root*);
namespace flashtrain { inline void rising_edge(Vfrontend_registerslices_1___024root& root) { Vfrontend_registerslices_1___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vfrontend_registerslices_1___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vfrontend_registerslices_1___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vfrontend_registerslices_1___024root> {
    static constexpr std::array<Range, 1> words{{FLASHTRAIN_SPAN(Vfrontend_registerslices_1___024root, port1___05Foutput___05Fvalid, port12___05Finput___05Fready)}};
};
#include "Vfrontend_streammerge_2.h"
#include "Vfrontend_streammerge_2___024root.h"
FLASHTRAIN_SETTLE(Vfrontend_streammerge_2)
FLASHTRAIN_EDGE(Vfrontend_streammerge_2)
template <>
struct flashtrain::State<Vfrontend_streammerge_2___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vfrontend_streammerge_2___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vfrontend_streammerge_2___024root> {
    static constexpr std::array<Range, 1> words{{FLASHTRAIN_SPAN(Vfrontend_streammerge_2___024root, output___05Fpayload, inputs___05F1___05Fready)}};
};
#include "Vfrontend_stopwatch.h"
#include "Vfrontend_stopwatch___024root.h"
FLASHTRAIN_EDGE(Vfrontend_stopwatch)
template <>
struct flashtrain::State<Vfrontend_stopwatch___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vfrontend_stopwatch___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vfrontend_stopwatch___024root> {
    static constexpr std::array<Range, 1> words{{FLASHTRAIN_SPAN(Vfrontend_stopwatch___024root, latency, latency)}};
};
#include "Vfrontend_counters.h"
#include "Vfrontend_counters___024root.h"
FLASHTRAIN_SETTLE(Vfrontend_counters)
void Vfrontend_counters___024root___nba_sequent__TOP__0(Vfrontend_counters___024root*);
namespace flashtrain { inline void rising_edge(Vfrontend_counters___024root& root) { Vfrontend_counters___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vfrontend_counters___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vfrontend_counters___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vfrontend_counters___024root> {
    static constexpr std::array<Range, 1> words{{FLASHTRAIN_SPAN(Vfrontend_counters___024root, port___05Fvalue, port___05Fvalue)}};
};
#include "Vfrontend_seconds.h"
#include "Vfrontend_seconds___024root.h"
FLASHTRAIN_EDGE(Vfrontend_seconds)
template <>
struct flashtrain::State<Vfrontend_seconds___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vfrontend_seconds___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vfrontend_seconds___024root> {
    static constexpr std::array<Range, 1> words{{FLASHTRAIN_SPAN(Vfrontend_seconds___024root, second, second)}};
};
#include "Vfrontend_writemux.h"
#include "Vfrontend_writemux___024root.h"
FLASHTRAIN_SETTLE(Vfrontend_writemux)
void Vfrontend_writemux___024root___nba_sequent__TOP__0(Vfrontend_writemux___024root*);
namespace flashtrain { inline void rising_edge(Vfrontend_writemux___024root& root) { Vfrontend_writemux___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vfrontend_writemux___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vfrontend_writemux___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vfrontend_writemux___024root> {
    static constexpr std::array<Range, 4> words{{FLASHTRAIN_SPAN(Vfrontend_writemux___024root, writers___05F1___05Faw___05Fready, writers___05F0___05Fw___05Fready), FLASHTRAIN_SPAN(Vfrontend_writemux___024root, axi___05Faw___05Fvalid, axi___05Fb___05Fready), FLASHTRAIN_SPAN(Vfrontend_writemux___024root, axi___05Fw___05Fvalid, axi___05Fw___05Fvalid), FLASHTRAIN_SPAN(Vfrontend_writemux___024root, axi___05Faw___05Fpayload, axi___05Faw___05Fpayload)}};
};
#include "Vfrontend_axiguard.h"
#include "Vfrontend_axiguard___024root.h"
FLASHTRAIN_SETTLE(Vfrontend_axiguard)
void Vfrontend_axiguard___024root___nba_sequent__TOP__0(Vfrontend_axiguard___024root*);
namespace flashtrain { inline void rising_edge(Vfrontend_axiguard___024root& root) { Vfrontend_axiguard___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vfrontend_axiguard___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        memories.push_back(FLASHTRAIN_MEMBER(Vfrontend_axiguard___024root, frontend_axiguard__DOT__lengths));
        return without(sizeof(Vfrontend_axiguard___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 4;
};
template <>
struct flashtrain::Outputs<Vfrontend_axiguard___024root> {
    static constexpr std::array<Range, 7> words{{FLASHTRAIN_SPAN(Vfrontend_axiguard___024root, drained, pins___05Fawlen), FLASHTRAIN_SPAN(Vfrontend_axiguard___024root, pins___05Fawsize, pins___05Fwstrb), FLASHTRAIN_SPAN(Vfrontend_axiguard___024root, pins___05Fwlast, pins___05Frready), FLASHTRAIN_SPAN(Vfrontend_axiguard___024root, pins___05Fwdata, pins___05Fwdata), FLASHTRAIN_SPAN(Vfrontend_axiguard___024root, read___05Fr___05Fpayload, read___05Fr___05Fpayload), FLASHTRAIN_SPAN(Vfrontend_axiguard___024root, pins___05Fawaddr, pins___05Fawaddr), FLASHTRAIN_SPAN(Vfrontend_axiguard___024root, pins___05Faraddr, pins___05Faraddr)}};
};
#include "Vfrontend_axiguard_1.h"
#include "Vfrontend_axiguard_1___024root.h"
FLASHTRAIN_SETTLE(Vfrontend_axiguard_1)
void Vfrontend_axiguard_1___024root___nba_sequent__TOP__0(Vfrontend_axiguard_1___024root*);
namespace flashtrain { inline void rising_edge(Vfrontend_axiguard_1___024root& root) { Vfrontend_axiguard_1___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vfrontend_axiguard_1___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        memories.push_back(FLASHTRAIN_MEMBER(Vfrontend_axiguard_1___024root, frontend_axiguard_1__DOT__lengths));
        return without(sizeof(Vfrontend_axiguard_1___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 4;
};
template <>
struct flashtrain::Outputs<Vfrontend_axiguard_1___024root> {
    static constexpr std::array<Range, 6> words{{FLASHTRAIN_SPAN(Vfrontend_axiguard_1___024root, drained, pins___05Fawlen), FLASHTRAIN_SPAN(Vfrontend_axiguard_1___024root, pins___05Fawsize, pins___05Fwstrb), FLASHTRAIN_SPAN(Vfrontend_axiguard_1___024root, pins___05Fwlast, pins___05Frready), FLASHTRAIN_SPAN(Vfrontend_axiguard_1___024root, pins___05Fawaddr, pins___05Fawaddr), FLASHTRAIN_SPAN(Vfrontend_axiguard_1___024root, pins___05Faraddr, pins___05Faraddr), FLASHTRAIN_SPAN(Vfrontend_axiguard_1___024root, pins___05Fwdata, pins___05Fwdata)}};
};
#include "Vchannel_rest.h"
#include "Vchannel_rest___024root.h"
template <>
struct flashtrain::State<Vchannel_rest___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vchannel_rest___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vchannel_rest___024root> {
    static constexpr std::array<Range, 0> words{{}};
};
#include "Vchannel_pagesets.h"
#include "Vchannel_pagesets___024root.h"
FLASHTRAIN_SETTLE(Vchannel_pagesets)
void Vchannel_pagesets___024root___nba_sequent__TOP__0(Vchannel_pagesets___024root*);
namespace flashtrain { inline void rising_edge(Vchannel_pagesets___024root& root) { Vchannel_pagesets___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vchannel_pagesets___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vchannel_pagesets___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vchannel_pagesets___024root> {
    static constexpr std::array<Range, 3> words{{FLASHTRAIN_SPAN(Vchannel_pagesets___024root, pages___05Fready, sets___05F0___05Fvalid), FLASHTRAIN_SPAN(Vchannel_pagesets___024root, busy, flushed), FLASHTRAIN_SPAN(Vchannel_pagesets___024root, sets___05F0___05Fpayload, sets___05F0___05Fpayload)}};
};
#include "Vchannel_programresults.h"
#include "Vchannel_programresults___024root.h"
FLASHTRAIN_SETTLE(Vchannel_programresults)
void Vchannel_programresults___024root___nba_sequent__TOP__0(Vchannel_programresults___024root*);
namespace flashtrain { inline void rising_edge(Vchannel_programresults___024root& root) { Vchannel_programresults___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vchannel_programresults___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vchannel_programresults___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vchannel_programresults___024root> {
    static constexpr std::array<Range, 3> words{{FLASHTRAIN_SPAN(Vchannel_programresults___024root, slot, updated___05F0___05Fready), FLASHTRAIN_SPAN(Vchannel_programresults___024root, busy, port15___05Fsignal), FLASHTRAIN_SPAN(Vchannel_programresults___024root, programmed___05Fvalid, programmed___05Fvalid)}};
};
#include "Vchannel_setidentities.h"
#include "Vchannel_setidentities___024root.h"
FLASHTRAIN_SETTLE(Vchannel_setidentities)
void Vchannel_setidentities___024root___nba_sequent__TOP__0(Vchannel_setidentities___024root*);
namespace flashtrain { inline void rising_edge(Vchannel_setidentities___024root& root) { Vchannel_setidentities___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vchannel_setidentities___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vchannel_setidentities___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vchannel_setidentities___024root> {
    static constexpr std::array<Range, 2> words{{FLASHTRAIN_SPAN(Vchannel_setidentities___024root, plain, row), FLASHTRAIN_SPAN(Vchannel_setidentities___024root, source, source)}};
};
#include "Vchannel_pageserializer.h"
#include "Vchannel_pageserializer___024root.h"
FLASHTRAIN_SETTLE(Vchannel_pageserializer)
void Vchannel_pageserializer___024root___nba_sequent__TOP__0(Vchannel_pageserializer___024root*);
namespace flashtrain { inline void rising_edge(Vchannel_pageserializer___024root& root) { Vchannel_pageserializer___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vchannel_pageserializer___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vchannel_pageserializer___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vchannel_pageserializer___024root> {
    static constexpr std::array<Range, 3> words{{FLASHTRAIN_SPAN(Vchannel_pageserializer___024root, port0___05Fpage, beats___05Fvalid), FLASHTRAIN_SPAN(Vchannel_pageserializer___024root, read, read), FLASHTRAIN_SPAN(Vchannel_pageserializer___024root, address, beats___05Fpayload)}};
};
#include "Vchannel_readlookup.h"
#include "Vchannel_readlookup___024root.h"
FLASHTRAIN_SETTLE(Vchannel_readlookup)
void Vchannel_readlookup___024root___nba_sequent__TOP__0(Vchannel_readlookup___024root*);
namespace flashtrain { inline void rising_edge(Vchannel_readlookup___024root& root) { Vchannel_readlookup___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vchannel_readlookup___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vchannel_readlookup___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vchannel_readlookup___024root> {
    static constexpr std::array<Range, 5> words{{FLASHTRAIN_SPAN(Vchannel_readlookup___024root, lookup___05Fvalid, busy), FLASHTRAIN_SPAN(Vchannel_readlookup___024root, port14___05Fr_rdy, pages___05Fready), FLASHTRAIN_SPAN(Vchannel_readlookup___024root, lookup___05Fpayload, lookup___05Fpayload), FLASHTRAIN_SPAN(Vchannel_readlookup___024root, hits___05Fpayload, hits___05Fpayload), FLASHTRAIN_SPAN(Vchannel_readlookup___024root, port11___05Fr_port___05Fdata, port11___05Fr_port___05Fdata)}};
};
#include "Vchannel_pagememory.h"
#include "Vchannel_pagememory___024root.h"
FLASHTRAIN_SETTLE(Vchannel_pagememory)
FLASHTRAIN_EDGE(Vchannel_pagememory)
template <>
struct flashtrain::State<Vchannel_pagememory___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        memories.push_back(FLASHTRAIN_MEMBER(Vchannel_pagememory___024root, channel_pagememory__DOT__memory));
        return without(sizeof(Vchannel_pagememory___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 4;
};
template <>
struct flashtrain::Outputs<Vchannel_pagememory___024root> {
    static constexpr std::array<Range, 5> words{{FLASHTRAIN_SPAN(Vchannel_pagememory___024root, port15___05Fread_request, port21___05Fends), FLASHTRAIN_SPAN(Vchannel_pagememory___024root, port22___05Fidentified, port24___05Froom), FLASHTRAIN_SPAN(Vchannel_pagememory___024root, copy_room, copy_room), FLASHTRAIN_SPAN(Vchannel_pagememory___024root, port20___05Fcounts, port20___05Fcounts), FLASHTRAIN_SPAN(Vchannel_pagememory___024root, port16___05Fread___05Fdata, port16___05Fread___05Fdata)}};
};
#include "Vchannel_freepages.h"
#include "Vchannel_freepages___024root.h"
FLASHTRAIN_SETTLE(Vchannel_freepages)
FLASHTRAIN_EDGE(Vchannel_freepages)
template <>
struct flashtrain::State<Vchannel_freepages___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vchannel_freepages___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vchannel_freepages___024root> {
    static constexpr std::array<Range, 1> words{{FLASHTRAIN_SPAN(Vchannel_freepages___024root, output___05Fpayload, output___05Fvalid)}};
};
#include "Vchannel_pagesender.h"
#include "Vchannel_pagesender___024root.h"
FLASHTRAIN_SETTLE(Vchannel_pagesender)
FLASHTRAIN_EDGE(Vchannel_pagesender)
template <>
struct flashtrain::State<Vchannel_pagesender___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vchannel_pagesender___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vchannel_pagesender___024root> {
    static constexpr std::array<Range, 2> words{{FLASHTRAIN_SPAN(Vchannel_pagesender___024root, address, read_data___05Fvalid), FLASHTRAIN_SPAN(Vchannel_pagesender___024root, port15___05Fsent, port15___05Fsent)}};
};
#include "Vchannel_readbuffer.h"
#include "Vchannel_readbuffer___024root.h"
FLASHTRAIN_SETTLE(Vchannel_readbuffer)
void Vchannel_readbuffer___024root___nba_sequent__TOP__0(Vchannel_readbuffer___024root*);
namespace flashtrain { inline void rising_edge(Vchannel_readbuffer___024root& root) { Vchannel_readbuffer___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vchannel_readbuffer___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vchannel_readbuffer___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vchannel_readbuffer___024root> {
    static constexpr std::array<Range, 6> words{{FLASHTRAIN_SPAN(Vchannel_readbuffer___024root, hits___05Fready, port8___05Ffills), FLASHTRAIN_SPAN(Vchannel_readbuffer___024root, port9___05Foutput___05Fready, settled), FLASHTRAIN_SPAN(Vchannel_readbuffer___024root, retries___05Fvalid, retries___05Fvalid), FLASHTRAIN_SPAN(Vchannel_readbuffer___024root, counts, counts), FLASHTRAIN_SPAN(Vchannel_readbuffer___024root, port7___05Ffill_target, port7___05Ffill_target), FLASHTRAIN_SPAN(Vchannel_readbuffer___024root, retries___05Fpayload, retries___05Fpayload)}};
};
#include "Vchannel_busarbiter.h"
#include "Vchannel_busarbiter___024root.h"
FLASHTRAIN_SETTLE(Vchannel_busarbiter)
FLASHTRAIN_EDGE(Vchannel_busarbiter)
template <>
struct flashtrain::State<Vchannel_busarbiter___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vchannel_busarbiter___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vchannel_busarbiter___024root> {
    static constexpr std::array<Range, 1> words{{FLASHTRAIN_SPAN(Vchannel_busarbiter___024root, port5___05Fdie, grant)}};
};
#include "Vchannel_turnaround.h"
#include "Vchannel_turnaround___024root.h"
FLASHTRAIN_EDGE(Vchannel_turnaround)
template <>
struct flashtrain::State<Vchannel_turnaround___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vchannel_turnaround___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vchannel_turnaround___024root> {
    static constexpr std::array<Range, 1> words{{FLASHTRAIN_SPAN(Vchannel_turnaround___024root, blocked, blocked)}};
};
#include "Vchannel_cyclesequencer.h"
#include "Vchannel_cyclesequencer___024root.h"
FLASHTRAIN_SETTLE(Vchannel_cyclesequencer)
FLASHTRAIN_EDGE(Vchannel_cyclesequencer)
template <>
struct flashtrain::State<Vchannel_cyclesequencer___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vchannel_cyclesequencer___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vchannel_cyclesequencer___024root> {
    static constexpr std::array<Range, 1> words{{FLASHTRAIN_SPAN(Vchannel_cyclesequencer___024root, next_step, next_phase)}};
};
#include "Vchannel_buscontrolleroperation.h"
#include "Vchannel_buscontrolleroperation___024root.h"
FLASHTRAIN_SETTLE(Vchannel_buscontrolleroperation)
void Vchannel_buscontrolleroperation___024root___nba_sequent__TOP__0(Vchannel_buscontrolleroperation___024root*);
namespace flashtrain { inline void rising_edge(Vchannel_buscontrolleroperation___024root& root) { Vchannel_buscontrolleroperation___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vchannel_buscontrolleroperation___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vchannel_buscontrolleroperation___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vchannel_buscontrolleroperation___024root> {
    static constexpr std::array<Range, 7> words{{FLASHTRAIN_SPAN(Vchannel_buscontrolleroperation___024root, fetch___05Fpayload, port8___05Fdie), FLASHTRAIN_SPAN(Vchannel_buscontrolleroperation___024root, port9___05Fsent, lookup___05Fplace), FLASHTRAIN_SPAN(Vchannel_buscontrolleroperation___024root, requests___05F0___05Fready, done___05F0), FLASHTRAIN_SPAN(Vchannel_buscontrolleroperation___024root, beats___05Fready, beats___05Fready), FLASHTRAIN_SPAN(Vchannel_buscontrolleroperation___024root, port11___05Frow, port11___05Frow), FLASHTRAIN_SPAN(Vchannel_buscontrolleroperation___024root, fill___05Fpayload, fill___05Fpayload), FLASHTRAIN_SPAN(Vchannel_buscontrolleroperation___024root, port31___05Frequest, port31___05Frequest)}};
};
#include "Vchannel_buscontrollerpins.h"
#include "Vchannel_buscontrollerpins___024root.h"
FLASHTRAIN_SETTLE(Vchannel_buscontrollerpins)
FLASHTRAIN_EDGE(Vchannel_buscontrollerpins)
template <>
struct flashtrain::State<Vchannel_buscontrollerpins___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vchannel_buscontrollerpins___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vchannel_buscontrollerpins___024root> {
    static constexpr std::array<Range, 4> words{{FLASHTRAIN_SPAN(Vchannel_buscontrollerpins___024root, activity, nand___05Fcle), FLASHTRAIN_SPAN(Vchannel_buscontrollerpins___024root, nand___05Fdqs_o, nand___05Fre), FLASHTRAIN_SPAN(Vchannel_buscontrollerpins___024root, nand___05Fwe, nand___05Fwe), FLASHTRAIN_SPAN(Vchannel_buscontrollerpins___024root, nand___05Fdq_o, nand___05Fdq_o)}};
};
#include "Vchannel_buscontroller.h"
#include "Vchannel_buscontroller___024root.h"
FLASHTRAIN_SETTLE(Vchannel_buscontroller)
void Vchannel_buscontroller___024root___nba_sequent__TOP__0(Vchannel_buscontroller___024root*);
namespace flashtrain { inline void rising_edge(Vchannel_buscontroller___024root& root) { Vchannel_buscontroller___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vchannel_buscontroller___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vchannel_buscontroller___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vchannel_buscontroller___024root> {
    static constexpr std::array<Range, 3> words{{FLASHTRAIN_SPAN(Vchannel_buscontroller___024root, fill_valid, port4___05Fincomplete), FLASHTRAIN_SPAN(Vchannel_buscontroller___024root, port5___05Fnext_phase, status), FLASHTRAIN_SPAN(Vchannel_buscontroller___024root, fill_data, port6___05Fleft)}};
};
#include "Vchannel_blocktable.h"
#include "Vchannel_blocktable___024root.h"
FLASHTRAIN_SETTLE(Vchannel_blocktable)
FLASHTRAIN_EDGE(Vchannel_blocktable)
template <>
struct flashtrain::State<Vchannel_blocktable___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vchannel_blocktable___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vchannel_blocktable___024root> {
    static constexpr std::array<Range, 1> words{{FLASHTRAIN_SPAN(Vchannel_blocktable___024root, lookup___05Fblock, ready)}};
};
#include "Vchannel_erasebroadcast.h"
#include "Vchannel_erasebroadcast___024root.h"
FLASHTRAIN_SETTLE(Vchannel_erasebroadcast)
FLASHTRAIN_EDGE(Vchannel_erasebroadcast)
template <>
struct flashtrain::State<Vchannel_erasebroadcast___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vchannel_erasebroadcast___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vchannel_erasebroadcast___024root> {
    static constexpr std::array<Range, 2> words{{FLASHTRAIN_SPAN(Vchannel_erasebroadcast___024root, erase___05F0___05Fpayload, request___05Fready), FLASHTRAIN_SPAN(Vchannel_erasebroadcast___024root, done___05Fpayload, done___05Fvalid)}};
};
#include "Vchannel_holdtimer.h"
#include "Vchannel_holdtimer___024root.h"
FLASHTRAIN_EDGE(Vchannel_holdtimer)
template <>
struct flashtrain::State<Vchannel_holdtimer___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vchannel_holdtimer___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vchannel_holdtimer___024root> {
    static constexpr std::array<Range, 1> words{{FLASHTRAIN_SPAN(Vchannel_holdtimer___024root, running, running)}};
};
#include "Vchannel_timer.h"
#include "Vchannel_timer___024root.h"
FLASHTRAIN_EDGE(Vchannel_timer)
template <>
struct flashtrain::State<Vchannel_timer___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vchannel_timer___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vchannel_timer___024root> {
    static constexpr std::array<Range, 1> words{{FLASHTRAIN_SPAN(Vchannel_timer___024root, port___05Frunning, port___05Frunning)}};
};
#include "Vchannel_timer_1.h"
#include "Vchannel_timer_1___024root.h"
FLASHTRAIN_EDGE(Vchannel_timer_1)
template <>
struct flashtrain::State<Vchannel_timer_1___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vchannel_timer_1___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vchannel_timer_1___024root> {
    static constexpr std::array<Range, 1> words{{FLASHTRAIN_SPAN(Vchannel_timer_1___024root, port___05Frunning, port___05Frunning)}};
};
#include "Vchannel_timer_2.h"
#include "Vchannel_timer_2___024root.h"
FLASHTRAIN_EDGE(Vchannel_timer_2)
template <>
struct flashtrain::State<Vchannel_timer_2___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vchannel_timer_2___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vchannel_timer_2___024root> {
    static constexpr std::array<Range, 1> words{{FLASHTRAIN_SPAN(Vchannel_timer_2___024root, port___05Frunning, port___05Frunning)}};
};
#include "Vchannel_holdtimer_1.h"
#include "Vchannel_holdtimer_1___024root.h"
FLASHTRAIN_EDGE(Vchannel_holdtimer_1)
template <>
struct flashtrain::State<Vchannel_holdtimer_1___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vchannel_holdtimer_1___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vchannel_holdtimer_1___024root> {
    static constexpr std::array<Range, 1> words{{FLASHTRAIN_SPAN(Vchannel_holdtimer_1___024root, running, running)}};
};
#include "Vchannel_dieagent.h"
#include "Vchannel_dieagent___024root.h"
FLASHTRAIN_SETTLE(Vchannel_dieagent)
void Vchannel_dieagent___024root___nba_sequent__TOP__0(Vchannel_dieagent___024root*);
void Vchannel_dieagent___024root___nba_sequent__TOP__1(Vchannel_dieagent___024root*);
void Vchannel_dieagent___024root___nba_sequent__TOP__2(Vchannel_dieagent___024root*);
namespace flashtrain { inline void rising_edge(Vchannel_dieagent___024root& root) { Vchannel_dieagent___024root___nba_sequent__TOP__0(&root); Vchannel_dieagent___024root___nba_sequent__TOP__1(&root); Vchannel_dieagent___024root___nba_sequent__TOP__2(&root); } }
template <>
struct flashtrain::State<Vchannel_dieagent___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vchannel_dieagent___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vchannel_dieagent___024root> {
    static constexpr std::array<Range, 8> words{{FLASHTRAIN_SPAN(Vchannel_dieagent___024root, sets___05Fready, port8___05Ferased___05Fpayload), FLASHTRAIN_SPAN(Vchannel_dieagent___024root, port9___05Ferased___05Fvalid, ended), FLASHTRAIN_SPAN(Vchannel_dieagent___024root, failure, programmed), FLASHTRAIN_SPAN(Vchannel_dieagent___024root, port51___05Fready, port54___05Frestored___05Fready), FLASHTRAIN_SPAN(Vchannel_dieagent___024root, port55___05Fretries___05Fready, sensed), FLASHTRAIN_SPAN(Vchannel_dieagent___024root, port11___05Fport___05Fcycles, port13___05Fport___05Fcycles), FLASHTRAIN_SPAN(Vchannel_dieagent___024root, port15___05Fport___05Fcycles, port15___05Fport___05Fcycles), FLASHTRAIN_SPAN(Vchannel_dieagent___024root, port5___05Fbus___05Fpayload, port5___05Fbus___05Fpayload)}};
};
#include "Vchannel_eventcounters.h"
#include "Vchannel_eventcounters___024root.h"
void Vchannel_eventcounters___024root___nba_sequent__TOP__0(Vchannel_eventcounters___024root*);
namespace flashtrain { inline void rising_edge(Vchannel_eventcounters___024root& root) { Vchannel_eventcounters___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vchannel_eventcounters___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vchannel_eventcounters___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vchannel_eventcounters___024root> {
    static constexpr std::array<Range, 19> words{{FLASHTRAIN_SPAN(Vchannel_eventcounters___024root, bits_corrected, bits_corrected), FLASHTRAIN_SPAN(Vchannel_eventcounters___024root, blocks_replaced, blocks_replaced), FLASHTRAIN_SPAN(Vchannel_eventcounters___024root, buffer_hits, buffer_hits), FLASHTRAIN_SPAN(Vchannel_eventcounters___024root, dies_offline, dies_offline), FLASHTRAIN_SPAN(Vchannel_eventcounters___024root, erases, erases), FLASHTRAIN_SPAN(Vchannel_eventcounters___024root, failures, failures), FLASHTRAIN_SPAN(Vchannel_eventcounters___024root, pages_corrected_1, pages_corrected_1), FLASHTRAIN_SPAN(Vchannel_eventcounters___024root, pages_corrected_16, pages_corrected_16), FLASHTRAIN_SPAN(Vchannel_eventcounters___024root, pages_corrected_2, pages_corrected_2), FLASHTRAIN_SPAN(Vchannel_eventcounters___024root, pages_corrected_4, pages_corrected_4), FLASHTRAIN_SPAN(Vchannel_eventcounters___024root, pages_corrected_8, pages_corrected_8), FLASHTRAIN_SPAN(Vchannel_eventcounters___024root, pages_programmed, pages_programmed), FLASHTRAIN_SPAN(Vchannel_eventcounters___024root, pages_rescued, pages_rescued), FLASHTRAIN_SPAN(Vchannel_eventcounters___024root, pages_retried, pages_retried), FLASHTRAIN_SPAN(Vchannel_eventcounters___024root, pages_sensed, pages_sensed), FLASHTRAIN_SPAN(Vchannel_eventcounters___024root, programs, programs), FLASHTRAIN_SPAN(Vchannel_eventcounters___024root, senses, senses), FLASHTRAIN_SPAN(Vchannel_eventcounters___024root, sets_repeated, sets_repeated), FLASHTRAIN_SPAN(Vchannel_eventcounters___024root, words_uncorrectable, words_uncorrectable)}};
};
#include "Vchannel_channelcounters.h"
#include "Vchannel_channelcounters___024root.h"
void Vchannel_channelcounters___024root___nba_sequent__TOP__0(Vchannel_channelcounters___024root*);
namespace flashtrain { inline void rising_edge(Vchannel_channelcounters___024root& root) { Vchannel_channelcounters___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vchannel_channelcounters___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vchannel_channelcounters___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vchannel_channelcounters___024root> {
    static constexpr std::array<Range, 1> words{{FLASHTRAIN_SPAN(Vchannel_channelcounters___024root, value, value)}};
};
#include "Vchannel_channelengine.h"
#include "Vchannel_channelengine___024root.h"
FLASHTRAIN_SETTLE(Vchannel_channelengine)
void Vchannel_channelengine___024root___nba_sequent__TOP__0(Vchannel_channelengine___024root*);
namespace flashtrain { inline void rising_edge(Vchannel_channelengine___024root& root) { Vchannel_channelengine___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vchannel_channelengine___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        memories.push_back(FLASHTRAIN_MEMBER(Vchannel_channelengine___024root, channel_channelengine__DOT__write_buffer__DOT__memory));
        return without(sizeof(Vchannel_channelengine___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 4;
};
template <>
struct flashtrain::Outputs<Vchannel_channelengine___024root> {
    static constexpr std::array<Range, 11> words{{FLASHTRAIN_SPAN(Vchannel_channelengine___024root, port0___05Farrived, port7___05Fplace), FLASHTRAIN_SPAN(Vchannel_channelengine___024root, port8___05Fbeats___05Fready, port13___05Fcopy_valid), FLASHTRAIN_SPAN(Vchannel_channelengine___024root, port14___05Fcopy___05Fready, port15___05Ffailed___05Fready), FLASHTRAIN_SPAN(Vchannel_channelengine___024root, port16___05Fbeats___05Fvalid, port26___05Frestored___05Fvalid), FLASHTRAIN_SPAN(Vchannel_channelengine___024root, port28___05Fretries___05F0___05Fvalid, front_end___05Fready), FLASHTRAIN_SPAN(Vchannel_channelengine___024root, front_end___05Fidle, front_end___05Fidle), FLASHTRAIN_SPAN(Vchannel_channelengine___024root, port19___05Fbeats___05Fpayload, port20___05Fchange___05Fpayload), FLASHTRAIN_SPAN(Vchannel_channelengine___024root, port11___05Ffetched, port18___05Fread___05Fdata), FLASHTRAIN_SPAN(Vchannel_channelengine___024root, port29___05Fevents, port29___05Fevents), FLASHTRAIN_SPAN(Vchannel_channelengine___024root, port10___05Fsource, port10___05Fsource), FLASHTRAIN_SPAN(Vchannel_channelengine___024root, port27___05Fr_port___05Fdata, port27___05Fr_port___05Fdata)}};
};
#include "Vchannel_pinchecker.h"
#include "Vchannel_pinchecker___024root.h"
FLASHTRAIN_EDGE(Vchannel_pinchecker)
template <>
struct flashtrain::State<Vchannel_pinchecker___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        memories.push_back(FLASHTRAIN_MEMBER(Vchannel_pinchecker___024root, cycle));
        return without(sizeof(Vchannel_pinchecker___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vchannel_pinchecker___024root> {
    static constexpr std::array<Range, 2> words{{FLASHTRAIN_SPAN(Vchannel_pinchecker___024root, hears, hears), FLASHTRAIN_SPAN(Vchannel_pinchecker___024root, violations, violations)}};
};
#include "Vdie_rest.h"
#include "Vdie_rest___024root.h"
FLASHTRAIN_SETTLE(Vdie_rest)
void Vdie_rest___024root___nba_sequent__TOP__0(Vdie_rest___024root*);
namespace flashtrain { inline void rising_edge(Vdie_rest___024root& root) { Vdie_rest___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vdie_rest___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        memories.push_back(FLASHTRAIN_MEMBER(Vdie_rest___024root, cycle));
        return without(sizeof(Vdie_rest___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vdie_rest___024root> {
    static constexpr std::array<Range, 5> words{{FLASHTRAIN_SPAN(Vdie_rest___024root, port11___05Farray___05Fbusy, port14___05Farray___05Fwords___05Fplane), FLASHTRAIN_SPAN(Vdie_rest___024root, port15___05Farray___05Fwords___05Fput, port16___05Farray___05Fwords___05Ftake), FLASHTRAIN_SPAN(Vdie_rest___024root, port18___05Farray___05Fwords___05Fword, port18___05Farray___05Fwords___05Fword), FLASHTRAIN_SPAN(Vdie_rest___024root, violations, violations), FLASHTRAIN_SPAN(Vdie_rest___024root, wake, wake)}};
};
#include "Vdie_commandcontrol.h"
#include "Vdie_commandcontrol___024root.h"
FLASHTRAIN_SETTLE(Vdie_commandcontrol)
void Vdie_commandcontrol___024root___nba_sequent__TOP__0(Vdie_commandcontrol___024root*);
namespace flashtrain { inline void rising_edge(Vdie_commandcontrol___024root& root) { Vdie_commandcontrol___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vdie_commandcontrol___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vdie_commandcontrol___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vdie_commandcontrol___024root> {
    static constexpr std::array<Range, 5> words{{FLASHTRAIN_SPAN(Vdie_commandcontrol___024root, port12___05Faddress, statistics_begin), FLASHTRAIN_SPAN(Vdie_commandcontrol___024root, clear_statistics, seek), FLASHTRAIN_SPAN(Vdie_commandcontrol___024root, seek_plane, transfer), FLASHTRAIN_SPAN(Vdie_commandcontrol___024root, column, column), FLASHTRAIN_SPAN(Vdie_commandcontrol___024root, port17___05Frow, port17___05Frow)}};
};
#include "Vdie_timer.h"
#include "Vdie_timer___024root.h"
FLASHTRAIN_EDGE(Vdie_timer)
template <>
struct flashtrain::State<Vdie_timer___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vdie_timer___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vdie_timer___024root> {
    static constexpr std::array<Range, 1> words{{FLASHTRAIN_SPAN(Vdie_timer___024root, port___05Frunning, port___05Frunning)}};
};
#include "Vdie_sequencer.h"
#include "Vdie_sequencer___024root.h"
FLASHTRAIN_SETTLE(Vdie_sequencer)
void Vdie_sequencer___024root___nba_sequent__TOP__0(Vdie_sequencer___024root*);
namespace flashtrain { inline void rising_edge(Vdie_sequencer___024root& root) { Vdie_sequencer___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vdie_sequencer___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vdie_sequencer___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vdie_sequencer___024root> {
    static constexpr std::array<Range, 4> words{{FLASHTRAIN_SPAN(Vdie_sequencer___024root, array___05Fabort, failed), FLASHTRAIN_SPAN(Vdie_sequencer___024root, failed_before, source_row), FLASHTRAIN_SPAN(Vdie_sequencer___024root, target_row, target_row), FLASHTRAIN_SPAN(Vdie_sequencer___024root, array___05Fblocks, port12___05Fport___05Fcycles)}};
};
#include "Vdie_pageregisters.h"
#include "Vdie_pageregisters___024root.h"
FLASHTRAIN_SETTLE(Vdie_pageregisters)
void Vdie_pageregisters___024root___nba_sequent__TOP__0(Vdie_pageregisters___024root*);
namespace flashtrain { inline void rising_edge(Vdie_pageregisters___024root& root) { Vdie_pageregisters___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vdie_pageregisters___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vdie_pageregisters___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vdie_pageregisters___024root> {
    static constexpr std::array<Range, 6> words{{FLASHTRAIN_SPAN(Vdie_pageregisters___024root, code___05Fread_ready, identities___05Fready), FLASHTRAIN_SPAN(Vdie_pageregisters___024root, tile___05Fread_ready, tile___05Fwrite_ready), FLASHTRAIN_SPAN(Vdie_pageregisters___024root, edge_enable, edge_enable), FLASHTRAIN_SPAN(Vdie_pageregisters___024root, tile___05Foperand, tile___05Foperand), FLASHTRAIN_SPAN(Vdie_pageregisters___024root, code___05Ffound, code___05Ffound), FLASHTRAIN_SPAN(Vdie_pageregisters___024root, identities___05Ffound, identities___05Ffound)}};
};
#include "Vdie_tiledecoder.h"
#include "Vdie_tiledecoder___024root.h"
FLASHTRAIN_SETTLE(Vdie_tiledecoder)
void Vdie_tiledecoder___024root___nba_sequent__TOP__0(Vdie_tiledecoder___024root*);
void Vdie_tiledecoder___024root___nba_sequent__TOP__1(Vdie_tiledecoder___024root*);
void Vdie_tiledecoder___024root___nba_sequent__TOP__2(Vdie_tiledecoder___024root*);
void Vdie_tiledecoder___024root___nba_sequent__TOP__3(Vdie_tiledecoder___024root*);
void Vdie_tiledecoder___024root___nba_sequent__TOP__4(Vdie_tiledecoder___024root*);
namespace flashtrain { inline void rising_edge(Vdie_tiledecoder___024root& root) { Vdie_tiledecoder___024root___nba_sequent__TOP__0(&root); Vdie_tiledecoder___024root___nba_sequent__TOP__1(&root); Vdie_tiledecoder___024root___nba_sequent__TOP__2(&root); Vdie_tiledecoder___024root___nba_sequent__TOP__3(&root); Vdie_tiledecoder___024root___nba_sequent__TOP__4(&root); } }
template <>
struct flashtrain::State<Vdie_tiledecoder___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vdie_tiledecoder___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vdie_tiledecoder___024root> {
    static constexpr std::array<Range, 2> words{{FLASHTRAIN_SPAN(Vdie_tiledecoder___024root, busy, finished), FLASHTRAIN_SPAN(Vdie_tiledecoder___024root, lanes___05Fcontent, lanes___05Fcontent)}};
};
#include "Vdie_tileencoder.h"
#include "Vdie_tileencoder___024root.h"
FLASHTRAIN_SETTLE(Vdie_tileencoder)
void Vdie_tileencoder___024root___nba_sequent__TOP__0(Vdie_tileencoder___024root*);
namespace flashtrain { inline void rising_edge(Vdie_tileencoder___024root& root) { Vdie_tileencoder___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vdie_tileencoder___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vdie_tileencoder___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vdie_tileencoder___024root> {
    static constexpr std::array<Range, 3> words{{FLASHTRAIN_SPAN(Vdie_tileencoder___024root, busy, lanes___05Fread), FLASHTRAIN_SPAN(Vdie_tileencoder___024root, lanes___05Fwrite, lanes___05Fwrite), FLASHTRAIN_SPAN(Vdie_tileencoder___024root, port10___05Foutput___05Fpayload, port10___05Foutput___05Fpayload)}};
};
#include "Vdie_updater.h"
#include "Vdie_updater___024root.h"
FLASHTRAIN_SETTLE(Vdie_updater)
void Vdie_updater___024root___nba_sequent__TOP__0(Vdie_updater___024root*);
void Vdie_updater___024root___nba_sequent__TOP__1(Vdie_updater___024root*);
namespace flashtrain { inline void rising_edge(Vdie_updater___024root& root) { Vdie_updater___024root___nba_sequent__TOP__0(&root); Vdie_updater___024root___nba_sequent__TOP__1(&root); } }
template <>
struct flashtrain::State<Vdie_updater___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        memories.push_back(FLASHTRAIN_MEMBER(Vdie_updater___024root, die_updater__DOT__gradients__DOT__cells));
        return without(sizeof(Vdie_updater___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 4;
};
template <>
struct flashtrain::Outputs<Vdie_updater___024root> {
    static constexpr std::array<Range, 16> words{{FLASHTRAIN_SPAN(Vdie_updater___024root, damaged, port8___05Fpages___05Fread), FLASHTRAIN_SPAN(Vdie_updater___024root, port9___05Fpages___05Fwrite, port18___05Fall_passed), FLASHTRAIN_SPAN(Vdie_updater___024root, port19___05Fallowed, port82___05Fgradient_format), FLASHTRAIN_SPAN(Vdie_updater___024root, port83___05Fcopy_format, port85___05Findex), FLASHTRAIN_SPAN(Vdie_updater___024root, port86___05Frestart, port86___05Frestart), FLASHTRAIN_SPAN(Vdie_updater___024root, port87___05Fvalid, port91___05Fclock), FLASHTRAIN_SPAN(Vdie_updater___024root, port92___05Fupdate_rst, port92___05Fupdate_rst), FLASHTRAIN_SPAN(Vdie_updater___024root, port17___05Fparameters, port75___05Fbyte_pair), FLASHTRAIN_SPAN(Vdie_updater___024root, port78___05Ftile___05Fresult, port78___05Ftile___05Fresult), FLASHTRAIN_SPAN(Vdie_updater___024root, port84___05Fgradient, port88___05Fkept_w), FLASHTRAIN_SPAN(Vdie_updater___024root, port89___05Fkept_m, port90___05Fkept_v), FLASHTRAIN_SPAN(Vdie_updater___024root, port1___05Flanes___05Fcontent, port1___05Flanes___05Fcontent), FLASHTRAIN_SPAN(Vdie_updater___024root, port14___05Flanes___05Ffound, port14___05Flanes___05Ffound), FLASHTRAIN_SPAN(Vdie_updater___024root, port20___05Flanes___05Ffound, port20___05Flanes___05Ffound), FLASHTRAIN_SPAN(Vdie_updater___024root, port76___05Fread___05Fdata, port76___05Fread___05Fdata), FLASHTRAIN_SPAN(Vdie_updater___024root, port77___05Fpages___05Fcontent, port77___05Fpages___05Fcontent)}};
};
#include "Vdie_die.h"
#include "Vdie_die___024root.h"
FLASHTRAIN_SETTLE(Vdie_die)
void Vdie_die___024root___nba_sequent__TOP__0(Vdie_die___024root*);
namespace flashtrain { inline void rising_edge(Vdie_die___024root& root) { Vdie_die___024root___nba_sequent__TOP__0(&root); } }
template <>
struct flashtrain::State<Vdie_die___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vdie_die___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vdie_die___024root> {
    static constexpr std::array<Range, 10> words{{FLASHTRAIN_SPAN(Vdie_die___024root, port0___05Flevel, port9___05Fput), FLASHTRAIN_SPAN(Vdie_die___024root, port11___05Fask, port16___05Fstatistics_next), FLASHTRAIN_SPAN(Vdie_die___024root, port18___05Fplane, port19___05Fput), FLASHTRAIN_SPAN(Vdie_die___024root, pins___05Fdqs_i, pins___05Fdqs_i), FLASHTRAIN_SPAN(Vdie_die___024root, port13___05Fbyte_pair_in, pins___05Fdq_i), FLASHTRAIN_SPAN(Vdie_die___024root, port10___05Ftile___05Fresult, port20___05Fvalues___05Foperand), FLASHTRAIN_SPAN(Vdie_die___024root, port5___05Fidentities___05Fcontent, port5___05Fidentities___05Fcontent), FLASHTRAIN_SPAN(Vdie_die___024root, port7___05Flane_in, port7___05Flane_in), FLASHTRAIN_SPAN(Vdie_die___024root, port15___05Flane_in, port15___05Flane_in), FLASHTRAIN_SPAN(Vdie_die___024root, port17___05Fplain___05Ffound, port17___05Fplain___05Ffound)}};
};
#include "Vdie_updateunit.h"
#include "Vdie_updateunit___024root.h"
FLASHTRAIN_SETTLE(Vdie_updateunit)
FLASHTRAIN_EDGE(Vdie_updateunit)
template <>
struct flashtrain::State<Vdie_updateunit___024root> {
    static inline const std::vector<Range> ranges = [] {
        std::vector<Range> memories;
        return without(sizeof(Vdie_updateunit___024root), std::move(memories));
    }();
    static constexpr int equal_edges = 1;
};
template <>
struct flashtrain::Outputs<Vdie_updateunit___024root> {
    static constexpr std::array<Range, 7> words{{FLASHTRAIN_SPAN(Vdie_updateunit___024root, done, ready), FLASHTRAIN_SPAN(Vdie_updateunit___024root, busy, busy), FLASHTRAIN_SPAN(Vdie_updateunit___024root, port0___05Fchosen, port0___05Fchosen), FLASHTRAIN_SPAN(Vdie_updateunit___024root, port2___05Finfinities, port3___05Flargest), FLASHTRAIN_SPAN(Vdie_updateunit___024root, port4___05Fnans, port5___05Fchosen), FLASHTRAIN_SPAN(Vdie_updateunit___024root, port6___05Fchosen, port7___05Fchosen), FLASHTRAIN_SPAN(Vdie_updateunit___024root, port9___05Fsum, port9___05Fsum)}};
};
