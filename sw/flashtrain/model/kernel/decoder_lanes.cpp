// The decoder lanes, and the writers behind them (`flashtrain.rtl.datapath.slice_writer`).

#include "decoder_lanes.h"

#include <algorithm>

namespace flashtrain {

namespace {

constexpr uint32_t kBurst = 32;  // slices of data
constexpr Time kBurstsHeld = 2;
// From the last slice of a page to the head of the next one; from that to the first slice, if it is there.
constexpr Time kNextHead = 1, kEnter = 2;
// Between pages, in `PlaneReader`.
constexpr Time kNextSlice = 3;
// From the last slice of a burst to its address.
constexpr Time kPortOffer = 2;

}  // namespace

DecoderLanes::DecoderLanes(const Parameters& parameters)
    : p_(parameters), lanes_(static_cast<size_t>(parameters.decoder_lanes)), last_(lanes_.size() - 1) {}

Time DecoderLanes::accepts(Time at) const {
    Time first = kNever;
    for (const Lane& lane : lanes_) first = std::min(first, lane.free);
    return std::max(at, first);
}

Time DecoderLanes::accept(const CodedPage& page, uint32_t slices, Time at, Time beat, Time& port_free) {
    do last_ = (last_ + 1) % lanes_.size();
    while (lanes_[last_].free > at);
    Lane& lane = lanes_[last_];
    const Time judged = beat + static_cast<Time>(p_.judge_page);
    const Time head = std::max(judged, lane.written + kNextHead);
    lane.free = head + 1;
    beats_ = 0;
    if (!slices) {  // refused
        lane.written = head;
        return head;
    }
    const auto width = static_cast<uint32_t>(p_.decoder_lanes);
    const auto of_slice = static_cast<Time>(p_.slice_beats);
    const auto beats_of = [&](uint32_t first, uint32_t end) -> Time {
        return ((end + width - 1) / width - first / width) * of_slice;
    };
    const uint32_t begin = page.first, end = begin + slices, last_burst = std::max(begin, (end - 1) / kBurst * kBurst);
    const uint32_t first_burst = std::min(end, (begin / kBurst + 1) * kBurst);
    const Time first = std::max({head + kEnter, judged + static_cast<Time>(p_.decode_page), lane.written + kNextSlice});
    beats_ = beats_of(begin, end);
    // The port takes bursts when they are whole.
    const Time burst_beats = beats_of(0, kBurst);
    port_free = std::max(port_free, first + (first_burst - begin) * of_slice - 1 + kPortOffer) + beats_;
    Time written = first + slices * of_slice - 1;
    if (port_free > kBurstsHeld * burst_beats) written = std::max(written, port_free - kBurstsHeld * burst_beats);
    lane.written = written;
    return std::max(written + kPortOffer + beats_of(last_burst, end), port_free) - 1;
}

}  // namespace flashtrain
