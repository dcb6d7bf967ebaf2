// Coded appends in the write command pipeline: blocks to the encoder, and its pages to the channels.

#include <algorithm>

#include "front_end.h"

namespace flashtrain {

namespace {
// From a job in the splitter to its first block for the encoder: LOCATE, BEGIN and ENCODE.
constexpr Time kFirstBlock = 3;
}  // namespace

// A job comes into the splitter at `now`.
void FrontEnd::begin_encoding(Time now) {
    const Command& command = write_job_.command;
    const Time allocated = now + kFirstBlock;
    const Time idle = std::max(allocated + 1, data_free_);
    const Time start = std::max(allocated + static_cast<Time>(p_.fetch_page + p_.memory_latency), data_free_);
    counts[WRITE_STALL_MEMORY] += start - idle;
    counts[WRITE_BUSY] += static_cast<uint64_t>(command.blocks) * static_cast<uint64_t>(p_.page_beats);
    encoded_left_ = command.count;
    encoder_.begin(kept_pages_[command.pages], command.flags & ROUNDED, now, start);
    encode();
}

// Pages as far as there are buffers for them; the oldest that no channel has accepted is offered next.
void FrontEnd::encode() {
    while (encoder_.may_encode()) {
        encoded_.push(encoder_.encode());
        if (encoder_.ended()) data_free_ = encoder_.last_beat() + 1;
    }
    // When it is whole, and the one before it is on its way.
    const Time offer = std::max(encoded_[0], encoder_.offers_from());
    env_.events.schedule({offer, Wake::PAGE_ENCODED, 0, 0, 0});
}

// The channel accepts it at `at`.
void FrontEnd::encoded_placed(uint16_t channel, Time at) {
    Command& command = write_job_.command;
    ++counts[PAGES_APPENDED];
    counts[WRITE_STALL_BUFFER] += at - page_valid_;
    const Time last_beat = encoder_.output(at);
    encoded_free_ = last_beat + 1;
    env_.events.schedule({last_beat, Wake::ENCODED_ARRIVED, 0, channel, 0});
    next_page(command);
    encoded_.pop();
    if (--encoded_left_) return encode();
    // SETTLE: one event of the tracker, and the zone's pointer.
    const Time settle = at + 1;
    track(write_job_.tag, settle);
    env_.events.schedule({settle + 1, Wake::SETTLED, 0, 0, command.stream});
    writing_ = false;
    if (command.flags & NON_VOLATILE) return flush_channels(settle);
    ++issued_;
    write_free_ = settle + 1;
    split_write(write_free_);
    split_read(write_free_);
}

}  // namespace flashtrain
