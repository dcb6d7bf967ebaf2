// The read command pipeline: channel buffers to tensor buffer.

#include <algorithm>

#include "front_end.h"

namespace flashtrain {

namespace {
constexpr uint32_t kPagesOutstanding = 8;  // chosen, and not answered by the tensor buffer
constexpr uint32_t kHeads = 5;             // chosen, and not transferred: in the check, and three routes
}

// `ReadSplitter`: a page to its channel at `now`, or as soon as that can be.
void FrontEnd::split_read(Time now) {
    const auto channels = static_cast<uint32_t>(p_.channels), planes = static_cast<uint32_t>(p_.planes);
    const auto dies = static_cast<uint32_t>(p_.dies);
    if (!reading_) {
        if (read_jobs_.empty()) return;
        now = std::max({now, read_free_, read_jobs_[0].job.at});
    }
    if (now > env_.events.now()) {
        if (now >= read_wakes_) return;
        read_wakes_ = now;
        return env_.events.schedule({now, Wake::READ_SPLITTER, 0, 0, 0});
    }
    if (!reading_) {
        read_job_ = read_jobs_.pop();
        reading_ = true;
        read_free_ = now + static_cast<Time>(p_.read_issue);
    }
    if (read_job_.after > issued_) return;  // the write splitter wakes it
    if (now < read_free_) return split_read(read_free_);
    Command& command = read_job_.job.command;
    const uint32_t number = command.offset % channels;
    const Time idle = channels_[number].lookup_idle_from();
    if (idle == kNever) return;  // the channel wakes it
    if (now < idle) return split_read(idle);
    const bool statistics = command.job == Job::STATISTICS;
    const uint32_t row = command.offset / channels, set = statistics ? row : row / planes;
    ReadPage page;
    page.zone = read_job_.job.physical;
    page.page = set / dies;
    page.die = static_cast<uint8_t>(set % dies);
    page.plane = static_cast<uint8_t>(statistics ? 0 : row % planes);
    page.statistics = statistics;
    page.tag = read_job_.job.tag;
    channels_[number].look_up(env_, page, now);
    ++command.offset;
    if (--command.blocks == 0) reading_ = false;
    read_free_ = now + static_cast<Time>(p_.lanes);
    split_read(read_free_);
}

void FrontEnd::lookup_ready(uint16_t channel, Time at) {
    if (reading_ && read_job_.job.command.offset % static_cast<uint32_t>(p_.channels) == channel) split_read(at);
}

// A channel offers a page from `at` on.
void FrontEnd::page_complete(uint16_t, Time at) {
    ++pages_waiting_;
    if (at >= return_wakes_) return;
    return_wakes_ = at;
    env_.events.schedule({at, Wake::READ_RETURN, 0, 0, 0});
}

// `ReadReturn`: heads are chosen in turn, ahead of their beats.
void FrontEnd::return_pages(Time now) {
    if (now == return_wakes_) return_wakes_ = kNever;
    const auto channels = static_cast<uint16_t>(channels_.size());
    while (pages_waiting_ && heads_ < kHeads && returns_ < kPagesOutstanding) {
        uint16_t chosen = channels;
        Time later = kNever;
        for (uint16_t i = 1; i <= channels && chosen == channels; ++i) {
            const auto candidate = static_cast<uint16_t>((return_last_ + i) % channels);
            const Time at = channels_[candidate].page_at();
            if (at <= now) chosen = candidate;
            else later = std::min(later, at);
        }
        if (chosen == channels) {
            if (later < return_wakes_) {
                return_wakes_ = later;
                env_.events.schedule({later, Wake::READ_RETURN, 0, 0, 0});
            }
            return;
        }
        return_last_ = chosen;
        const CompletePage page = channels_[chosen].take_page();
        --pages_waiting_;
        ++heads_;
        ++returns_;
        const Time head = now + static_cast<Time>(page.from_array ? p_.return_head : p_.return_page);
        const Time start = std::max(head, return_free_);
        const Time row = static_cast<Time>(p_.page_beats * p_.lanes);
        return_free_ = start + row;
        counts[READ_BUSY] += row;
        env_.events.schedule({return_free_ - 1, Wake::PAGE_RETURNED, 0, chosen, page.tag});
        now = env_.events.now();
    }
}

// The last beat of a page moved at `now`.
void FrontEnd::page_returned(uint16_t channel, uint16_t tag, Time now) {
    counts[PAGES_READ] += static_cast<uint64_t>(p_.lanes);
    --heads_;
    channels_[channel].page_sent(env_, now);
    env_.events.schedule({now + static_cast<Time>(p_.memory_latency + p_.response), Wake::RESPONSE, 0, channel, tag});
    return_pages(now);
}

// The tensor buffer has answered the last burst of a page.
void FrontEnd::page_answered(uint16_t tag, Time now) {
    --returns_;
    track(tag, now + static_cast<Time>(p_.returned));
    return_pages(now);
}

}  // namespace flashtrain
