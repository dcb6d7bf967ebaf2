// The write command pipeline: tensor buffer to channel buffers.

#include <algorithm>

#include "front_end.h"

namespace flashtrain {

namespace {
constexpr uint32_t kPagesFetched = 8;
constexpr Time kJoinInterval = 6;  // of pages that join a set (`PageSets`)
}

// `WriteSplitter`: the next job at `now`, or as soon as the splitter is idle.
void FrontEnd::split_write(Time now) {
    if (writing_ || flush_waits_ || write_jobs_.empty()) return;
    const Time at = std::max({now, write_free_, write_jobs_[0].at});
    if (at > env_.events.now()) {
        if (at < write_wakes_) {
            write_wakes_ = at;
            env_.events.schedule({at, Wake::WRITE_SPLITTER, 0, 0, 0});
        }
        return;
    }
    write_job_ = write_jobs_.pop();
    const Command& command = write_job_.command;
    if (command.job == Job::FLUSH) return flush_channels(at);
    writing_ = true;
    if (encodes(command)) return begin_encoding(at);
    offer_page(at + 1);
}

// A flush, or the end of a coded append, is in the splitter at `now`.
void FrontEnd::flush_channels(Time now) {
    flush_waits_ = flushing_;
    if (flush_waits_) return;
    flushing_ = true;
    flush_is_command_ = write_job_.command.job == Job::FLUSH;
    flush_tag_ = write_job_.tag;
    flushes_left_ = static_cast<uint32_t>(channels_.size());
    for (Channel& channel : channels_) channel.flush(env_, write_job_.command.stream, now + 2);
    write_free_ = now + 4 + static_cast<Time>(p_.write_sets);
    ++issued_;
    split_write(write_free_);
    split_read(write_free_);
}

void FrontEnd::offer_page(Time now) {
    const Command& command = write_job_.command;
    page_waits_ = !encodes(command) && pages_fetched_ >= kPagesFetched;
    if (page_waits_) return;
    const auto channels = static_cast<uint32_t>(p_.channels), planes = static_cast<uint32_t>(p_.planes);
    const auto dies = static_cast<uint32_t>(p_.dies);
    const uint32_t set = command.offset / channels / planes, plane = command.offset / channels % planes;
    const bool is_data = command.job == Job::APPEND, ends_set = plane == command.last_page;
    const bool non_volatile = command.flags & NON_VOLATILE;
    const bool last_of_job = non_volatile && !encodes(command) && command.blocks <= channels;
    WritePage page;
    page.zone = write_job_.physical;
    page.page = set / dies;
    page.die = static_cast<uint8_t>(set % dies);
    page.plane = static_cast<uint8_t>(plane);
    page.tag = write_job_.tag;
    page.stream = command.stream;
    page.copies = command.copies;
    page.kind = is_data                           ? PageKind::DATA
                : command.job == Job::CONSTANTS   ? PageKind::CONSTANTS
                                                  : PageKind::GRADIENTS;
    page.notify = is_data ? non_volatile : ends_set;
    page.close = is_data ? last_of_job : ends_set;
    page.compute = command.compute;
    page_valid_ = now;
    channels_[command.offset % channels].offer_page(env_, page, now);
}

// The channel accepts the page at `at`.
void FrontEnd::page_placed(uint16_t channel, Time at) {
    Command& command = write_job_.command;
    if (encodes(command)) return encoded_placed(channel, at);
    counts[PAGES_APPENDED] += static_cast<uint64_t>(p_.lanes);
    counts[WRITE_STALL_BUFFER] += at - page_valid_;
    const Time idle = std::max(at + 1, data_free_);
    const Time start = std::max({at + static_cast<Time>(p_.fetch_page + p_.memory_latency), data_free_, encoded_free_});
    counts[WRITE_STALL_MEMORY] += start - idle;
    const Time row = static_cast<Time>(p_.page_beats * p_.lanes);
    counts[WRITE_BUSY] += row;
    data_free_ = start + row;
    ++pages_fetched_;
    env_.events.schedule({start + static_cast<Time>(p_.page_beats) - 1, Wake::PAGE_ARRIVED, 0, channel, write_job_.tag});
    next_page(command);
    --command.blocks;
    Time next = at + 1;
    if (p_.lanes > 1) {  // the channels that follow take their pages before it is this one's turn
        const Time others = static_cast<Time>(p_.lanes - 1) * kJoinInterval;
        const Time ahead = static_cast<Time>(kPagesFetched) * static_cast<Time>(p_.page_beats);
        next = std::max(next + others, data_free_ > ahead ? data_free_ - ahead : 0);
    }
    if (command.blocks) return offer_page(next);
    writing_ = false;
    ++issued_;
    write_free_ = next;
    split_write(next);
    split_read(next);
}

void FrontEnd::next_page(Command& command) const {
    const auto channels = static_cast<uint32_t>(p_.channels), planes = static_cast<uint32_t>(p_.planes);
    const bool last_channel = command.offset % channels == channels - 1;
    const bool ends_set = command.offset / channels % planes == command.last_page;
    command.offset = last_channel && ends_set ? (command.offset / (channels * planes) + 1) * channels * planes
                                              : command.offset + 1;
}

// The last beat of a page moved at `now`.
void FrontEnd::page_arrived(uint16_t channel, uint16_t tag, Time now) {
    --pages_fetched_;
    channels_[channel].page_arrived(env_, now + 1);
    track(tag, now + static_cast<Time>(p_.arrive + (p_.lanes - 1) * p_.page_beats));
    if (page_waits_) offer_page(now + 1);
}

void FrontEnd::flush_done(uint16_t, Time at) {
    if (--flushes_left_) return;
    flushing_ = false;
    if (flush_is_command_) track(flush_tag_, at + static_cast<Time>(p_.flushed));
    if (flush_waits_) flush_channels(at);
}

}  // namespace flashtrain
