// The host interface: fetch of submission entries, command tracker, completion.

#include <algorithm>

#include "front_end.h"

namespace flashtrain {

namespace {

constexpr uint64_t kBurstsOutstanding = 16;  // of entries, and of completions
constexpr Time kEntryBeats = 8;              // 64 bytes on the queue port
constexpr Time kCompletionBeats = 2;
constexpr Time kCompletionInterval = 3;      // `WriteMux` chooses the next one in between
constexpr Time kFetchInterval = 3;           // of bursts
constexpr Time kTrackInterval = 2;           // of events
constexpr Time kTagReturns = 3;              // from a command's answer to the zone manager
constexpr size_t kDecoded = 3;  // entries between fetch and zone manager

}  // namespace

void FrontEnd::submit(int port, const Command* commands, size_t count, const CodedPage* pages, Time now) {
    for (size_t i = 0; i < count; ++i) {
        Command command = commands[i];
        if (command.flags & CODED) {
            const uint32_t of_command = command.job == Job::READ ? command.blocks : command.count;
            command.pages = keep_pages(pages, of_command);
            pages += of_command;
        }
        ports_[port].submitted.push(command);
    }
    entries_ += count;
    fetch(now + static_cast<Time>(p_.fetch_start));
}

// The pages are there until the command is answered.
uint32_t FrontEnd::keep_pages(const CodedPage* pages, uint32_t count) {
    if (free_kept_.empty()) {
        free_kept_.push_back(static_cast<uint32_t>(kept_pages_.size()));
        kept_pages_.emplace_back();
    }
    const uint32_t place = free_kept_.back();
    free_kept_.pop_back();
    kept_pages_[place].assign(pages, pages + count);
    return place;
}

void FrontEnd::consume(int port, uint64_t completions, Time now) {
    ports_[port].consumed += completions;
    fetch(now + static_cast<Time>(p_.fetch_start));
}

// `SubmissionFetch`: a burst per entry; ports take turns.
void FrontEnd::fetch(Time now) {
    const uint64_t most = std::max<uint64_t>(static_cast<uint64_t>(p_.commands) * 3 / 4, kBurstsOutstanding);
    while (fetching_.size() < kBurstsOutstanding) {
        int port = -1;
        for (int i = 1; i <= kPorts && port < 0; ++i) {
            const int candidate = (last_port_ + i) % kPorts;
            const Port& queue = ports_[candidate];
            const bool room = queue.reserved - queue.consumed < queue.cq_size - 1;
            if (!queue.submitted.empty() && room && queue.unanswered < most) port = candidate;
        }
        if (port < 0) return;
        last_port_ = port;
        ++ports_[port].reserved;
        ++ports_[port].unanswered;
        const Time burst = std::max({now, burst_free_, ready_at_});
        burst_free_ = burst + kFetchInterval;
        const Time last_beat = burst + static_cast<Time>(p_.memory_latency) + kEntryBeats - 1;
        fetching_.push({ports_[port].submitted.pop(), last_beat});
        if (fetching_.size() == 1 && !entry_waits_) {
            env_.events.schedule({std::max(last_beat, entry_free_), Wake::FETCH, 0, 0, 0});
        }
    }
}

// The last beat of the oldest entry; it goes on if the decoder has room.
void FrontEnd::arrive(Time now) {
    entry_waits_ = decoded_.size() >= kDecoded;
    if (entry_waits_) return;
    const Entry entry = fetching_.pop();
    ++counts[COMMANDS];
    ++ports_[entry.command.port].arrived;
    const Time decoded = now + static_cast<Time>(p_.decode);
    if (executes_ahead(entry.command, decoded)) {
        execute(entry.command, decoded, decoded + kDecide);
    } else {
        decoded_.push({entry.command, decoded});
        if (decoded_.size() == 1) want_manager(decoded);
    }
    entry_free_ = now + kEntryBeats;
    if (!fetching_.empty()) {
        env_.events.schedule({std::max(fetching_[0].at, entry_free_), Wake::FETCH, 0, 0, 0});
    }
    fetch(now + 1);
}

// `CommandTracker`: an event of a command reaches it at `at`.
void FrontEnd::track(uint16_t tag, Time at) {
    const Time entered = std::max(at, tracker_free_);
    tracker_free_ = entered + kTrackInterval;
    event_entered(tag, entered);
}

// The last event of a command ends it.
void FrontEnd::event_entered(uint16_t tag, Time at) {
    Tracked& command = tracked_[tag];
    command.last = std::max(command.last, at);
    if (--command.left == 0) {
        env_.events.schedule({command.last + static_cast<Time>(p_.track), Wake::TRACK, 0, 0, tag});
    }
}

// The last event of a command is entered: it is answered, and its tag is free.
void FrontEnd::retire(uint16_t tag, Time now) {
    const Tracked& command = tracked_[tag];
    const Time latency = now - command.opened;
    if (command.job == Job::APPEND) {
        ++counts[APPENDS];
        counts[APPEND_LATENCY] += latency;
    } else if (command.job == Job::READ) {
        ++counts[READS];
        counts[READ_LATENCY] += latency;
        if (--reads_in_flight_ == 0) {
            counts[READ_STALL_CHANNEL] += now - reading_since_ - (counts[READ_BUSY] - read_busy_before_);
        }
    }
    answer(command.id, command.port, now);
    if (command.flags & CODED) free_kept_.push_back(command.pages);
    free_tags_.push_back(tag);
    --commands_in_flight_;
    --of_stream_[command.stream];
    if (command.job == Job::UPDATE) --of_stream_[command.source];
    --of_job_[static_cast<int>(command.job)];
    if (!decoded_.empty() || reclaim_left_) want_manager(now + kTagReturns);
}

// `CompletionWriter`: a burst of two beats.
void FrontEnd::answer(uint32_t id, int port, Time at) {
    Time burst = std::max(at + static_cast<Time>(p_.answer), answer_free_);
    if (answers_.size() >= kBurstsOutstanding) burst = std::max(burst, answers_.pop() + 1);
    answer_free_ = burst + kCompletionInterval;
    const Time written = burst + kCompletionBeats + static_cast<Time>(p_.memory_latency + p_.answered);
    answers_.push(written);
    env_.events.schedule({written, Wake::ANSWERED, static_cast<uint8_t>(port), 0, id});
}

}  // namespace flashtrain
