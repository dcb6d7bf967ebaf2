// The read buffer: lookup of pages in the write buffer, and the page buffers.

#include <algorithm>

#include "channel.h"
#include "front_end.h"

namespace flashtrain {

namespace {

// From a miss to the queue's output, and to the next page's lookup (`ReadLookup`).
constexpr Time kQueue = 1, kNextLookup = 1;
// From IDLE of the scan to the first entry's answer.
constexpr Time kFirstAnswer = 4;

}  // namespace

void Channel::look_up(Environment& env, const ReadPage& page, Time now) {
    looking_up_ = true;
    lookup_ = page;
    if (page.statistics) {
        env.events.schedule({now + 1, Wake::LOOKUP, 0, number, 0});
        return;
    }
    uint8_t slot = 0;
    if (sets_settled() && scan_free_ <= now + 1 && env.front_end->writes_idle() && !find_page(page, slot)) {
        // Nothing comes before the scan: its answer is known.
        scan_last_ = LOOK_UP;
        scan_free_ = lookup_known_ = now + 1 + kFirstAnswer + sets_.size();
        queue_page(env, lookup_known_);
        return;
    }
    requested_[LOOK_UP] = now + 1;
    want_scan(env, now + 1);
}

void Channel::answer_lookup(Environment& env, Time now) {
    uint8_t slot = 0;
    if (!find_page(lookup_, slot)) {
        requested_[LOOK_UP] = kNever;
        scan_free_ = now + kFirstAnswer + sets_.size();
        env.events.schedule({scan_free_, Wake::LOOKUP, 0, number, 0});
        return;
    }
    const auto position = static_cast<Time>(std::find(ages_.begin(), ages_.end(), slot) - ages_.begin());
    scan_free_ = now + kFirstAnswer + position + 1;
    if (lookup_.plane >= sets_[slot].filled || pinned_ != kNone8) {  // served again
        requested_[LOOK_UP] = scan_free_;
        return;
    }
    requested_[LOOK_UP] = kNever;
    pinned_ = slot;
    copy_waits_ = true;
    try_copy(env, scan_free_);
}

// The page is not in the write buffer, as is known from `at` on: into the queue of its die, if that has room.
void Channel::queue_page(Environment& env, Time at) {
    Agent& agent = agents_[lookup_.die];
    lookup_waits_ = agent.queue.size() >= static_cast<size_t>(env.parameters.read_queue);
    if (lookup_waits_) return;
    lookup_.at = at + kQueue;
    agent.queue.push(lookup_);
    if (agent.owner != READER) {
        want_die(env, lookup_.die, lookup_.at);
    } else if (agent.queue.size() == 1) {
        const Time accepted = lookup_.at + 2;
        if (agent.reading == Reading::IDLE && !agent.sets.waiting && !wanted(agent)) {
            gather(env, lookup_.die, accepted);  // the reader waits for it: nothing else is accepted before
        } else {
            want_die(env, lookup_.die, accepted);
        }
    }
    looking_up_ = false;
    lookup_free_ = at + kNextLookup;
}

void Channel::lookup_done(Environment& env, Time now) {
    queue_page(env, now);
    if (!looking_up_) env.front_end->lookup_ready(number, lookup_free_);
}

// The queue of a die has room for the page that is looked up.
void Channel::resume_lookup(Environment& env, Time now) {
    lookup_waits_ = false;
    if (lookup_known_ <= now) return lookup_done(env, now);
    env.events.schedule({lookup_known_, Wake::LOOKUP, 0, number, 0});
}

// The page is in the write buffer: copy it as soon as there is a page buffer.
void Channel::try_copy(Environment& env, Time now) {
    if (!copy_waits_) return;
    free_pages(env.events.now());
    if (!free_pages_) {
        if (!freeing_.empty()) env.events.schedule({freeing_[0], Wake::PAGE_FREED, 0, number, 0});
        return;
    }
    copy_waits_ = false;
    --free_pages_;
    ++counts[BUFFER_HITS];
    const Time begin = std::max(now, copying_until_) + 1;
    copying_until_ = begin + static_cast<Time>(env.parameters.page_beats + env.parameters.copy_page);
    env.events.schedule({copying_until_, Wake::PAGE_COMPLETE, 1, number, lookup_.token});
    looking_up_ = false;
    lookup_free_ = begin + kNextLookup;
    env.front_end->lookup_ready(number, lookup_free_);
}

// The last beat of a page from a die is at the pins at `at`.
void Channel::page_filled(Environment& env, uint32_t token, bool from_array, Time at) {
    const bool corrects = from_array && env.parameters.corrected_at_once;
    at += static_cast<Time>(env.parameters.offer_page);
    if (corrects) {
        ++correcting_;
        at += static_cast<Time>(env.parameters.correct);
    }
    env.events.schedule({at, Wake::PAGE_COMPLETE, static_cast<uint8_t>(corrects ? 3 : from_array ? 2 : 0), number, token});
}

// A page buffer is complete; `kind`: 0 of the die, 1 copied, 2 of the array, 3 the same with a code.
void Channel::page_completed(Environment& env, uint8_t kind, uint32_t token, Time now) {
    complete_.push({token, kind >= 2});
    if (kind == 1) {
        pinned_ = kNone8;
        page_room_ = true;
        if (requested_[PLACE_PAGE] != kNever) want_scan(env, now);
    }
    if (kind == 3) {
        --correcting_;
        room_found(env, now);
    }
    env.front_end->page_complete(number, now);
}

bool Channel::fill_room(const Parameters& p) const {
    return free_pages_ && (!p.corrected_at_once || correcting_ < p.corrected_at_once);
}

// The last word of a page leaves its buffer at `at`.
void Channel::page_sent(Environment& env, Time at) {
    freeing_.push(at);
    if (copy_waits_ && freeing_.size() == 1) env.events.schedule({at, Wake::PAGE_FREED, 0, number, 0});
    room_found(env, at);
}

void Channel::free_pages(Time now) {
    for (; !freeing_.empty() && freeing_[0] <= now; freeing_.pop()) ++free_pages_;
}

}  // namespace flashtrain
