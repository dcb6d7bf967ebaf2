// The encoder.

#include "encoder.h"

#include <algorithm>

namespace flashtrain {

namespace {

// Slices that are taken before the first of them is encoded: in `GroupRing`, those on their way to it included.
constexpr uint64_t kSlicesHeld = 128;
// From a group's last beat until `PageFitter` has it at work: collector, ring, classifier.
constexpr Time kClassified = 16;
// From the end of a page to the settled choice of the next one; to its first group at work if the choice changes.
constexpr Time kSettled = 8, kRestarted = 22;
// From a group that is done until a beat takes its place.
constexpr Time kRetired = 7;
// From the acceptance of a page to the request for its first line; from that for its last line to the free buffer.
constexpr Time kTaken = 2, kReleased = 1;

}  // namespace

void Encoder::begin(const std::vector<CodedPage>& pages, bool rounded, Time now, Time beat) {
    pages_ = &pages;
    page_ = 0;
    behind_ = group_ = groups_ = 0;
    for (const CodedPage& page : pages) groups_ += page.slices;
    groups_ /= slices();
    group_beats_ = static_cast<uint64_t>(p_.group_beats) * (rounded ? 2 : 1);
    closed_ = now;
    while (!runs_.empty()) runs_.pop();
    runs_.push({0, beat});
}

// When a beat moves; none before it is asked for later.
Time Encoder::moves(uint64_t beat) {
    while (runs_.size() > 1 && runs_[1].beat <= beat) runs_.pop();
    return runs_[0].time + (beat - runs_[0].beat);
}

// `beat`, which is behind all runs, and those behind it do not move before `at`.
void Encoder::stall(uint64_t beat, Time at) {
    const Run& run = runs_[runs_.size() - 1];
    const Time time = run.time + (beat - run.beat);
    if (at > time) runs_.push({beat, at});
}

Time Encoder::encode() {
    const CodedPage& page = (*pages_)[page_++];
    behind_ += page.slices;
    // A page takes a group per cycle from its beginning on, as far as they have come.
    Time begins = std::max(closed_ + 1, free_[begun_ % kBuffers]);
    if (page.changes) begins = std::max(begins, closed_ + kRestarted);
    if (page_ > 1) stall((group_ + kSlicesHeld / slices()) * group_beats_, std::max(begins, closed_ + kSettled) + kRetired);
    const uint64_t closing = std::min(behind_ / slices(), groups_ - 1);
    const Time beat = moves((closing + 1) * group_beats_ - 1);
    closed_ = std::max(beat + p_.beat_register + kClassified, begins + (closing - group_));
    group_ = closing;
    ++begun_;
    if (ended()) last_beat_ = beat;
    return closed_ + static_cast<Time>(p_.encode_page) - kClassified;
}

Time Encoder::output(Time at) {
    offers_from_ = std::max(at + kTaken, released_ + 1);
    const Time begin = std::max(at + kTaken, released_ + static_cast<Time>(p_.line_beats));
    released_ = begin + static_cast<Time>(p_.page_beats - p_.line_beats);
    free_[output_++ % kBuffers] = released_ + kReleased;
    return begin - kTaken + static_cast<Time>(p_.output_page + p_.page_beats) - 1;
}

}  // namespace flashtrain
