// The read command pipeline: channel buffers to tensor buffer.

#include <algorithm>

#include "front_end.h"

namespace flashtrain {

namespace {
constexpr uint32_t kPagesOutstanding = 8;  // chosen, and not answered by the tensor buffer
constexpr uint32_t kHeads = 5;             // chosen, and not transferred: in the check, and three routes
// From a choice to `PageCheck`; from the acceptance of a coded page to its first beat; the merge of all lanes.
constexpr Time kChecked = 2, kFirstBeat = 3, kMerged = 1;
}

// `ReadSplitter`: a page to its channel at `now`, or as soon as that can be. A page of a job that comes from the manager
// is looked up ahead, until `known`: while nothing is written, nothing reaches its channel before it.
void FrontEnd::split_read(Time now, Time known) {
    if (reading_) {
        known = 0;
    } else {
        if (read_jobs_.empty()) return;
        read_job_ = read_jobs_.pop();
        reading_ = true;
        read_free_ = std::max({now, read_free_, read_job_.job.at}) + static_cast<Time>(p_.read_issue);
    }
    if (read_job_.after > issued_) return;  // the write splitter wakes it
    Command& command = read_job_.job.command;
    const auto channels = static_cast<uint32_t>(p_.channels), planes = static_cast<uint32_t>(p_.planes);
    const auto dies = static_cast<uint32_t>(p_.dies);
    const uint32_t number = command.offset % channels;
    const Time idle = channels_[number].lookup_idle_from();
    if (idle == kNever) return;  // the channel wakes it
    now = std::max({now, read_free_, idle});
    const Time present = env_.events.now();
    if (now > present) {
        if (now >= read_wakes_) return;
        if (now > std::max(known, present + 1) || !writes_idle() || dirty_) {
            read_wakes_ = now;
            env_.events.schedule({now, Wake::READ_SPLITTER, 0, 0, 0});
            return;
        }
    }
    const bool statistics = command.job == Job::STATISTICS;
    const uint32_t row = command.offset / channels, set = statistics ? row : row / planes;
    ReadPage page;
    page.zone = read_job_.job.physical;
    page.page = set / dies;
    page.die = static_cast<uint8_t>(set % dies);
    page.plane = static_cast<uint8_t>(statistics ? 0 : row % planes);
    page.statistics = statistics;
    page.token = read_job_.page++ << 16 | read_job_.job.tag;
    ++command.offset;
    if (--command.blocks == 0) reading_ = false;
    read_free_ = now + static_cast<Time>(p_.lanes);
    channels_[number].look_up(env_, page, now);
    split_read(read_free_);
}

void FrontEnd::lookup_ready(uint16_t channel, Time at) {
    if (reading_ && read_job_.job.command.offset % static_cast<uint32_t>(p_.channels) == channel) split_read(at);
}

// A channel offers a page from `now` on. The choice follows all offers of the cycle.
void FrontEnd::page_complete(uint16_t channel, Time now) {
    offering_[channel / 64] |= uint64_t{1} << channel % 64;
    ++pages_waiting_;
    if (env_.events.cycle_ends()) return return_pages(now);
    if (now >= return_wakes_) return;
    return_wakes_ = now;
    env_.events.schedule({now, Wake::READ_RETURN, 0, 0, 0});
}

// The channel with complete pages whose turn it is.
uint16_t FrontEnd::next_offering() const {
    const size_t words = offering_.size(), start = (return_last_ + 1u) / 64;
    const uint64_t behind = ~uint64_t{0} << (return_last_ + 1u) % 64;
    for (size_t i = 0; i <= words; ++i) {
        const size_t word = (start + i) % words;
        const uint64_t bits = i == 0 ? offering_[word] & behind : offering_[word];
        if (bits) return static_cast<uint16_t>(word * 64 + static_cast<size_t>(__builtin_ctzll(bits)));
    }
    return return_last_;
}

// A coded page is offered to the decoder lanes at `offered`: when its data are written.
Time FrontEnd::decode_page(uint32_t token, Time offered) {
    const Tracked& command = tracked_[static_cast<uint16_t>(token)];
    const CodedPage& page = kept_pages_[command.pages][token >> 16];
    const Time accepted = decoder_lanes_.accepts(offered);
    check_free_ = accepted + 1 - kChecked;
    return_free_ = std::max(accepted + kFirstBeat, return_free_) + static_cast<Time>(p_.page_beats);
    heads_.push(return_free_ - 1);
    ++counts[PAGES_READ];
    const uint32_t slices = page.slices * (command.flags & ROUNDED ? 2u : 1u);
    const Time written = decoder_lanes_.accept(page, slices, accepted, return_free_ - 1, port_free_);
    counts[READ_BUSY] += decoder_lanes_.beats();
    return written;
}

// `ReadReturn`: heads are chosen in turn, ahead of their beats. The end of all beats, and the answer of the tensor
// buffer to the last one, follow from the choice.
void FrontEnd::return_pages(Time now) {
    while (!heads_.empty() && heads_[0] <= now) heads_.pop();
    while (!returns_.empty() && returns_[0] <= now) returns_.pop();
    while (pages_waiting_) {
        const Time head_free = heads_.size() < kHeads ? now : heads_[0];
        const Time event_free = returns_.size() < kPagesOutstanding ? head_free : std::max(head_free, returns_[0]);
        const Time choice = std::max(event_free, check_free_);
        if (choice > now) {
            if (choice >= return_wakes_) return;
            return_wakes_ = choice;
            env_.events.schedule({choice, Wake::READ_RETURN, 0, 0, 0});
            return;
        }
        const uint16_t chosen = next_offering();
        Channel& channel = channels_[chosen];
        return_last_ = chosen;
        const CompletePage page = channel.take_page();
        if (!channel.offers_page()) offering_[chosen / 64] &= ~(uint64_t{1} << chosen % 64);
        --pages_waiting_;
        const auto tag = static_cast<uint16_t>(page.token);
        const Time head = now + static_cast<Time>(page.from_array ? p_.return_head : p_.return_page);
        if (tracked_[tag].flags & CODED) {
            const Time written = decode_page(page.token, head - kFirstBeat);
            channel.page_sent(env_, heads_[heads_.size() - 1]);
            const Time returned = written + static_cast<Time>(p_.memory_latency + p_.response + p_.returned) + kMerged;
            event_entered(tag, std::max(returned, tracker_free_));
            continue;
        }
        const Time row = static_cast<Time>(p_.page_beats * p_.lanes);
        return_free_ = port_free_ = std::max({head, return_free_, port_free_}) + row;
        counts[READ_BUSY] += row;
        counts[PAGES_READ] += static_cast<uint64_t>(p_.lanes);
        const Time last_beat = return_free_ - 1;
        const Time answered = last_beat + static_cast<Time>(p_.memory_latency + p_.response);
        heads_.push(last_beat);
        returns_.push(answered);
        channel.page_sent(env_, last_beat);
        // Ahead of its time it takes no cycle of the tracker from events that come before it.
        event_entered(tag, std::max(answered + static_cast<Time>(p_.returned), tracker_free_));
    }
}

}  // namespace flashtrain
