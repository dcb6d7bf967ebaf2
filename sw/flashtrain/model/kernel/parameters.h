// The numbers that a device is modelled from. Python sets them by name: the list below is the only one.
//
// Times are cycles of the NAND bus.

#pragma once

#include <cstdint>

namespace flashtrain {

using Time = uint64_t;
constexpr Time kNever = ~Time{0};

// clang-format off
#define FLASHTRAIN_PARAMETERS(X)                                                                                     \
    /* Geometry and buffers. */                                                                                       \
    X(channels) X(lanes) X(dies) X(planes) X(zones) X(blocks)                                       \
    X(write_sets) X(read_pages) X(read_queue) X(commands) X(corrected_at_once)                                        \
    /* Beats of a page: of the data port, of the bus, of the bus for a page of gradients. */                           \
    X(page_beats) X(bus_beats) X(loaded_beats) \
    /* Of the codec: decoder lanes, beats of a group of four slices, cycles of a slice in a lane's writer. */    \
    X(decoder_lanes) X(group_slices) X(group_beats) X(beat_register) X(line_beats) X(slice_beats)                      \
    /* `NandTiming`. */                                                                                               \
    X(twc) X(tadl) X(twhr) X(trhw) X(tchz) X(twb) X(tdbsy) X(tcbsy) X(tr) X(tprog) X(tbers)                   \
    X(tsusp) X(tres) X(tadv) X(trst)                                                                                          \
    /* SCA: whether there is a command bus, from a page on the data bus to the next, a status byte on the command bus,    \
     * from the request of a status to its sample. */                                                                  \
    X(sca) X(burst_gap) X(status_byte) X(status_lead)                                                                 \
    /* From a selection to the request of its data. */                                                                \
    X(column_change)                                                                                                  \
    /* Polls: after a program, an erase, a read or an update that was not ready yet. */                               \
    X(poll_program) X(poll_erase) X(poll_sense)                                                                       \
    /* From R/B# of a die to the poll that it allows; 0: it is not wired. */                                          \
    X(ready_line)                                                                                                     \
    /* Policy of a die agent. */                                                                                      \
    X(read_run) X(program_run) X(update_run) X(gather)                                                                \
    /* Tensor buffer. */                                                                                              \
    X(memory_latency)                                                                                                 \
    /* Stages, measured on the RTL (stages.toml). */                                                                  \
    X(fetch_start) X(decode) X(read_issue) X(fetch_page) X(arrive) X(offer_page) X(correct) X(copy_page)              \
    X(return_head) X(return_page) X(response) X(returned) X(track) X(answer) X(answered) X(report_page) X(flushed)              \
    X(status_answer) X(data_in_start) X(data_out_start) X(erase_start) X(report) X(fill_blocks) X(next_fill) X(reset_dies) \
    X(encode_page) X(output_page) X(judge_page) X(decode_page)
// clang-format on

struct Parameters {
#define X(name) int32_t name;
    FLASHTRAIN_PARAMETERS(X)
#undef X
    int32_t op_cycles[64];  // command and address cycles of each bus operation ahead of its data
    int32_t predicted[17];  // cycles of the update unit that the ready poller predicts, by pages of gradients
};

}  // namespace flashtrain
