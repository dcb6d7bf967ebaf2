// The write buffer: page sets, allocation, closing, and the offers to the dies' agents.
//
// One scan over the slots serves one request, a slot per cycle (`PageSets`, `ProgramResults`).

#include <algorithm>

#include "channel.h"
#include "front_end.h"

namespace flashtrain {

namespace {

// From IDLE to the scan's first entry.
constexpr Time kFirstEntry = 4;
// From an entry that a page joins, or the scan's last entry, to the page's acceptance.
constexpr Time kAcceptJoined = 1, kAcceptOpened = 3;
// From an entry to the offer to its agent; from the acceptance of an offer to the next scan.
constexpr Time kOffer = 2, kNextOffer = 2;
// From a result to its first event, and from the last event to the slot's freedom (`ProgramResults`).
constexpr Time kFirstEvent = 3, kFreed = 3;

}  // namespace

void Channel::want_scan(Environment& env, Time at) {
    at = std::max(at, scan_free_);
    if (at >= scan_wakes_) return;
    scan_wakes_ = at;
    env.events.schedule({at, Wake::SETS, 0, number, 0});
}

// Serve a request: offers first, then in turn.
void Channel::scan(Environment& env, Time now) {
    if (now != scan_wakes_) return;
    scan_wakes_ = kNever;
    if (now < scan_free_) return want_scan(env, scan_free_);
    if (offer_at_ <= now) {
        offer_at_ = kNever;
        offer_sets(env, now);
    } else {
        for (uint8_t i = 1; i <= kScans; ++i) {
            const auto kind = static_cast<uint8_t>((scan_last_ + i) % kScans);
            if (requested_[kind] > now || (kind == PLACE_PAGE && !page_room_)) continue;
            scan_last_ = kind;
            if (kind == PLACE_PAGE) place(env, now);
            if (kind == LOOK_UP) answer_lookup(env, now);
            if (kind == FLUSH) close_stream(env, now);
            if (kind == DISCARD) discard(env, now);
            break;
        }
    }
    Time next = offer_at_;
    for (uint8_t kind = 0; kind < kScans; ++kind) {
        if (kind != PLACE_PAGE || page_room_) next = std::min(next, requested_[kind]);
    }
    if (next != kNever) want_scan(env, next);
}

void Channel::offer_page(Environment& env, const WritePage& page, Time now) {
    page_ = page;
    requested_[PLACE_PAGE] = now;
    if (page_room_) want_scan(env, now);
}

// A page joins an open set, or opens one, or closes the oldest open one to make room.
void Channel::place(Environment& env, Time now) {
    const Time entries = static_cast<Time>(sets_.size());
    const auto closes = [&] { return page_.close || page_.plane == env.parameters.planes - 1; };
    for (size_t k = 0; k < ages_.size(); ++k) {
        const uint8_t slot = ages_[ages_.size() - 1 - k];
        PageSet& set = sets_[slot];
        if (set.state != SetState::OPEN || set.kind != page_.kind || set.zone != page_.zone ||
            set.page != page_.page || set.die != page_.die) {
            continue;
        }
        if (closes()) close_set(slot, now);
        return accept_page(env, slot, now + kFirstEntry + k + kAcceptJoined);
    }
    page_room_ = false;
    // The scan goes from the youngest to the oldest: the last that it meets is chosen.
    for (const uint8_t slot : ages_) {
        if (sets_[slot].state != SetState::FREE || slot == pinned_) continue;
        sets_[slot] = {};
        sets_[slot].state = SetState::OPEN;
        sets_[slot].kind = page_.kind;
        sets_[slot].die = page_.die;
        sets_[slot].first = page_.plane;
        sets_[slot].stream = page_.stream;
        sets_[slot].copies = page_.copies;
        sets_[slot].zone = page_.zone;
        sets_[slot].page = page_.page;
        sets_[slot].compute = page_.compute;
        make_youngest(slot);
        if (closes()) close_set(slot, now);
        return accept_page(env, slot, now + kFirstEntry - 1 + entries + kAcceptOpened);
    }
    scan_free_ = now + kFirstEntry + entries + 1;
    if (evicted_) return;
    for (const uint8_t slot : ages_) {
        if (sets_[slot].state != SetState::OPEN || sets_[slot].kind != PageKind::DATA) continue;
        evicted_ = true;
        ++scan_free_;
        return close_set(slot, now);
    }
}

void Channel::accept_page(Environment& env, uint8_t slot, Time at) {
    PageSet& set = sets_[slot];
    set.last = page_.plane;
    set.notify |= static_cast<uint32_t>(page_.notify) << page_.plane;
    set.tags[page_.plane] = page_.tag;
    arriving_.push(static_cast<uint16_t>(slot << 8 | page_.plane));
    page_room_ = true;
    evicted_ = false;
    requested_[PLACE_PAGE] = kNever;
    scan_free_ = at + 1;
    env.front_end->page_placed(number, at);
}

void Channel::make_youngest(uint8_t slot) {
    ages_.erase(std::find(ages_.begin(), ages_.end(), slot));
    ages_.push_back(slot);
}

void Channel::close_set(uint8_t slot, Time now) {
    sets_[slot].state = SetState::CLOSED;
    ++closed_;
    make_youngest(slot);
    offer_at_ = std::min(offer_at_, now + 1);
}

// The last beat of a page is in the memory.
void Channel::page_arrived(Environment& env, Time now) {
    const uint16_t place = arriving_.pop();
    PageSet& set = sets_[place >> 8];
    set.filled = static_cast<uint8_t>((place & 0xFF) + 1);
    offer_at_ = std::min(offer_at_, now + 1);
    want_scan(env, now + 1);
}

// Offer each agent its oldest closed set, if its data are complete.
void Channel::offer_sets(Environment& env, Time now) {
    uint32_t blocked = 0;
    for (size_t k = 0; k < ages_.size(); ++k) {
        PageSet& set = sets_[ages_[k]];
        if (set.state != SetState::CLOSED) continue;
        Agent& agent = agents_[set.die];
        if (!(blocked >> set.die & 1) && set.filled > set.last && agent.offered == kNone8) {
            set.state = SetState::HANDED_OUT;
            agent.offered = ages_[k];
            agent.offered_at = now + kFirstEntry + k + kOffer;
            want_die(env, set.die, agent.offered_at);
        }
        blocked |= 1u << set.die;
    }
    scan_free_ = now + kFirstEntry + sets_.size();
}

void Channel::set_taken(Environment& env, uint8_t die, Time now) {
    agents_[die].offered = kNone8;
    offer_at_ = std::min(offer_at_, now + kNextOffer);
    want_scan(env, now + kNextOffer);
}

// The result of the set is known at `now`: its pages' events, then its slot is free.
void Channel::report_set(Environment& env, uint8_t slot, Time now) {
    const PageSet& set = sets_[slot];
    Time event = std::max(now, reports_free_) + kFirstEvent;
    for (uint8_t plane = set.first; plane <= set.last; ++plane, ++event) {
        if (set.kind == PageKind::GRADIENTS || !(set.notify >> plane & 1)) continue;
        env.front_end->track(set.tags[plane], event + static_cast<Time>(env.parameters.report_page));
    }
    reports_free_ = event + 1;
    env.events.schedule({event + kFreed, Wake::RESULTS, 0, number, slot});
}

void Channel::free_set(Environment& env, uint8_t slot, Time now) {
    sets_[slot].state = SetState::FREE;
    sets_[slot].flushed_for = false;
    --closed_;
    page_room_ = true;
    if (requested_[PLACE_PAGE] != kNever) want_scan(env, now);
    check_flush(env, now);
}

void Channel::flush(Environment& env, uint8_t stream, Time now) {
    flush_stream_ = stream;
    requested_[FLUSH] = now;
    want_scan(env, now);
}

// Close the stream's open sets, and note all its sets.
void Channel::close_stream(Environment& env, Time now) {
    const std::vector<uint8_t> order = ages_;
    for (const uint8_t slot : order) {
        PageSet& set = sets_[slot];
        if (set.state == SetState::FREE || set.stream != flush_stream_) continue;
        set.flushed_for = true;
        if (set.state == SetState::OPEN) close_set(slot, now);
    }
    requested_[FLUSH] = kNever;
    flushing_ = true;
    scan_free_ = now + kFirstEntry + sets_.size();
    check_flush(env, scan_free_);
}

void Channel::check_flush(Environment& env, Time now) {
    if (!flushing_) return;
    for (const PageSet& set : sets_) {
        if (set.flushed_for) return;
    }
    flushing_ = false;
    env.front_end->flush_done(number, now);
}

void Channel::erase(Environment& env, uint32_t zone, Time now) {
    erase_zone_ = zone;
    requested_[DISCARD] = now;
    want_scan(env, now);
}

// Free the zone's sets that no agent has, then erase; a set with data outstanding, or offered, is waited for.
void Channel::discard(Environment& env, Time now) {
    bool kept = false;
    for (PageSet& set : sets_) {
        if (set.state == SetState::FREE || set.kind != PageKind::DATA || set.zone != erase_zone_) continue;
        const bool unsent = set.state != SetState::HANDED_OUT;
        const bool whole = set.filled > set.last;
        const auto slot = static_cast<uint8_t>(&set - sets_.data());
        kept |= unsent ? !whole : agents_[set.die].offered == slot;
        if (!unsent || !whole) continue;
        closed_ -= set.state == SetState::CLOSED;
        set.state = SetState::FREE;
        set.flushed_for = false;
        page_room_ = true;
    }
    scan_free_ = now + kFirstEntry + sets_.size() + 1;
    if (kept) {
        requested_[DISCARD] = scan_free_;
        return;
    }
    requested_[DISCARD] = kNever;
    ++scan_free_;
    erases_left_ = static_cast<uint8_t>(agents_.size());
    for (uint8_t die = 0; die < agents_.size(); ++die) {
        agents_[die].erase_requested = true;
        agents_[die].erase_from = scan_free_ + 1;
        want_die(env, die, scan_free_ + 1);
    }
    check_flush(env, scan_free_);
}

// No set changes, and no scan begins, before a page, a flush or an erase comes.
bool Channel::sets_settled() const {
    const bool requests = std::any_of(requested_, requested_ + kScans, [](Time at) { return at != kNever; });
    return !closed_ && arriving_.empty() && offer_at_ == kNever && !requests;
}

bool Channel::find_page(const ReadPage& page, uint8_t& slot) const {
    for (const uint8_t candidate : ages_) {
        const PageSet& set = sets_[candidate];
        const bool holds = set.state != SetState::FREE && set.kind == PageKind::DATA && set.zone == page.zone &&
                           set.page == page.page && set.die == page.die && set.first <= page.plane &&
                           page.plane <= set.last;
        if (!holds) continue;
        slot = candidate;
        return true;
    }
    return false;
}

}  // namespace flashtrain
