// The queue of events: a timing wheel of two levels, and a heap for what lies beyond.
//
// Events of one cycle come in the order in which they were scheduled.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "parameters.h"

namespace flashtrain {

enum class Wake : uint8_t {
    // Of a die agent.
    MUX, OPERATION_DONE, POLLER, AGENT,
    // Of a channel.
    BUS, SETS, RESULTS, LOOKUP, PAGE_COMPLETE, PAGE_FREED,
    // Of the front end.
    FETCH, MANAGER, WRITE_SPLITTER, PAGE_ARRIVED, PAGE_ENCODED, ENCODED_ARRIVED, SETTLED, READ_SPLITTER, READ_RETURN, TRACK, ANSWERED, ALLOCATOR,
};

struct Event {
    Time time;
    Wake wake;
    uint8_t die;
    uint16_t channel;
    uint32_t argument;
};

class Events {
  public:
    Events() : slots_(2 * kSlots, Slot{kNone, kNone}) {}

    Time now() const { return now_; }

    // Events since the start.
    uint64_t taken() const { return taken_; }

    // No other event of this cycle is scheduled.
    bool cycle_ends() const { return slots_[now_ & kMask].first == kNone; }

    static constexpr uint32_t kNone = ~uint32_t{0};

    // Its name for `cancel` until it is taken; kNone if it cannot be cancelled.
    uint32_t schedule(const Event& event) { return insert(allocate(event)); }

    void cancel(uint32_t node) {
        const Time time = nodes_[node].event.time;
        const bool near = time >> kBits == now_ >> kBits;
        unlink(near ? time & kMask : kSlots + (time >> kBits & kMask), node);
    }

    // Take the next event up to `limit`; without one go to `limit`, if it is a time.
    bool next(Time limit, Event& event) {
        while (true) {
            const uint32_t slot = find(0, now_ & kMask);
            if (slot != kNone) {
                const Time time = (now_ & ~Time{kMask}) | slot;
                if (time > limit) return advance(limit);
                now_ = time;
                event = take(slot);
                ++taken_;
                return true;
            }
            if (!turn(limit)) return advance(limit);
        }
    }

  private:
    static constexpr uint32_t kBits = 12, kSlots = 1 << kBits, kMask = kSlots - 1;

    struct Node {
        Event event;
        uint32_t next, previous;
    };

    struct Slot {
        uint32_t first, last;
    };

    uint32_t allocate(const Event& event) {
        if (free_ == kNone) {
            nodes_.push_back({event, kNone, kNone});
            return static_cast<uint32_t>(nodes_.size() - 1);
        }
        const uint32_t node = free_;
        free_ = nodes_[node].next;
        nodes_[node].event = event;
        return node;
    }

    uint32_t insert(uint32_t node) {
        const Time time = nodes_[node].event.time;
        if (time >> kBits == now_ >> kBits) {
            append(time & kMask, node);
        } else if (time >> 2 * kBits == now_ >> 2 * kBits) {
            append(kSlots + (time >> kBits & kMask), node);
        } else {
            far_.push_back({nodes_[node].event, order_++, kNone});
            std::push_heap(far_.begin(), far_.end(), later);
            release(node);
            return kNone;
        }
        return node;
    }

    void release(uint32_t node) {
        nodes_[node].next = free_;
        free_ = node;
    }

    static bool later(const Node& a, const Node& b) {
        return a.event.time != b.event.time ? a.event.time > b.event.time : a.next > b.next;
    }

    void append(uint32_t slot, uint32_t node) {
        Slot& events = slots_[slot];
        nodes_[node].next = kNone;
        nodes_[node].previous = events.last;
        if (events.first == kNone) {
            events.first = node;
            used_[slot / 64] |= uint64_t{1} << slot % 64;
            words_[slot / kSlots] |= uint64_t{1} << slot / 64 % 64;
        } else {
            nodes_[events.last].next = node;
        }
        events.last = node;
    }

    void unlink(uint64_t slot, uint32_t node) {
        const uint32_t previous = nodes_[node].previous, next = nodes_[node].next;
        Slot& events = slots_[slot];
        (previous == kNone ? events.first : nodes_[previous].next) = next;
        (next == kNone ? events.last : nodes_[next].previous) = previous;
        if (events.first == kNone) clear(slot);
        release(node);
    }

    // The first used slot of a level from `from` on.
    uint32_t find(uint32_t level, uint32_t from) const {
        uint32_t word = from / 64;
        uint64_t bits = used_[level * 64 + word] & ~uint64_t{0} << from % 64;
        if (!bits) {
            const uint64_t words = words_[level] & ~uint64_t{1} << word;
            if (!words) return kNone;
            word = static_cast<uint32_t>(__builtin_ctzll(words));
            bits = used_[level * 64 + word];
        }
        return word * 64 + static_cast<uint32_t>(__builtin_ctzll(bits));
    }

    Event take(uint32_t slot) {
        const uint32_t node = slots_[slot].first;
        const Event event = nodes_[node].event;
        unlink(slot, node);
        return event;
    }

    void clear(uint64_t slot) {
        uint64_t& word = used_[slot / 64];
        word &= ~(uint64_t{1} << slot % 64);
        if (!word) words_[slot / kSlots] &= ~(uint64_t{1} << slot / 64 % 64);
    }

    // No event comes until `limit`: go there.
    bool advance(Time limit) {
        if (limit == kNever || limit <= now_) return false;
        const bool far = now_ >> 2 * kBits != limit >> 2 * kBits;
        now_ = limit;
        if (far) take_far();
        cascade(now_ >> kBits & kMask);
        return false;
    }

    // Go to the next turn of the first level that has events, if it begins by `limit`.
    bool turn(Time limit) {
        const uint32_t slot = find(1, now_ >> kBits & kMask);
        if (slot != kNone) {
            const Time start = (now_ & ~((Time{1} << 2 * kBits) - 1)) | Time{slot} << kBits;
            if (start > limit) return false;
            now_ = start;
            cascade(slot);
            return true;
        }
        if (far_.empty()) return false;
        const Time start = far_.front().event.time & ~((Time{1} << 2 * kBits) - 1);
        if (start > limit) return false;
        now_ = start;
        take_far();
        return true;
    }

    // The events of the second level that belong to the present turn of the first.
    void cascade(uint32_t slot) {
        uint32_t node = slots_[kSlots + slot].first;
        slots_[kSlots + slot] = {kNone, kNone};
        clear(kSlots + slot);
        while (node != kNone) {
            const uint32_t next = nodes_[node].next;
            append(nodes_[node].event.time & kMask, node);
            node = next;
        }
    }

    // Those beyond both levels that belong to the present turn of the second.
    void take_far() {
        while (!far_.empty() && far_.front().event.time >> 2 * kBits == now_ >> 2 * kBits) {
            std::pop_heap(far_.begin(), far_.end(), later);
            const Event event = far_.back().event;
            far_.pop_back();
            schedule(event);
        }
    }

    std::vector<Node> nodes_;
    std::vector<Node> far_;  // a heap; `next` is the order of scheduling
    std::vector<Slot> slots_;  // of both levels
    std::array<uint64_t, 2 * kSlots / 64> used_{};  // slots with events
    std::array<uint64_t, 2> words_{};               // words of `used_` that are not 0, of each level
    uint32_t free_ = kNone;
    uint32_t order_ = 0;
    uint64_t taken_ = 0;
    Time now_ = 0;
};

}  // namespace flashtrain
