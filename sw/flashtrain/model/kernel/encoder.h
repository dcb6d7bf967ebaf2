// The encoder: blocks of data to coded pages (`flashtrain.rtl.codec.encoder`).
//
// Data enter in groups of four slices, and a page closes with the group that it has no room for. The groups of a page
// are not followed one by one: all but its last one are encoded before that.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "command.h"
#include "parameters.h"
#include "ring.h"

namespace flashtrain {

class Encoder {
  public:
    explicit Encoder(const Parameters& parameters) : p_(parameters) {}

    // An append begins at `now`, and its first beat of data may move at `beat`.
    void begin(const std::vector<CodedPage>& pages, bool rounded, Time now, Time beat);

    // The next page has a buffer, and the page before is encoded.
    bool may_encode() const { return pages_ && page_ < pages_->size() && begun_ - output_ < kBuffers; }
    // When it is whole, and offered.
    Time encode();

    // The oldest page is accepted at `at`: when its last beat moves.
    Time output(Time at);
    // The next page may be offered from then on.
    Time offers_from() const { return offers_from_; }

    bool ended() const { return page_ == pages_->size(); }
    // The last beat of data, when all pages are encoded.
    Time last_beat() const { return last_beat_; }

  private:
    static constexpr uint64_t kBuffers = 3;

    // Beats move one per cycle from `beat` on, which moves at `time`.
    struct Run {
        uint64_t beat;
        Time time;
    };

    uint64_t slices() const { return static_cast<uint64_t>(p_.group_slices); }  // of a group
    Time moves(uint64_t beat);
    void stall(uint64_t beat, Time at);

    const Parameters& p_;
    const std::vector<CodedPage>* pages_ = nullptr;
    size_t page_ = 0;      // the next one
    uint64_t behind_ = 0;  // slices of the pages before it
    uint64_t groups_ = 0, group_beats_ = 1;
    uint64_t group_ = 0;  // the next page begins with it
    Time closed_ = 0;     // the page before; the choice for the next one begins
    Ring<Run> runs_{16};  // of beats of data
    Time last_beat_ = 0;

    uint64_t begun_ = 0, output_ = 0;  // pages
    Time free_[kBuffers] = {};         // page buffers, in turn
    Time offers_from_ = 0;
    Time released_ = 0;  // the last line of a page is requested
};

}  // namespace flashtrain
