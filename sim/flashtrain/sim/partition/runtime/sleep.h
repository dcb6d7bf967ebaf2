// Finds out when a model is idle: no edge can change its state until an input changes.
//
// If the inputs of a synchronous model are constant, and an edge leaves its state as it was, then so do all further
// edges. A comparison at every edge would cost more than it saves, so there are intervals. Large memories are left out:
// while the registers are equal, writes are equal, too, and change at most the words that are read. These appear in the
// registers at the next edge, or behind a chain of memories at a later one.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "model.h"

namespace flashtrain {

struct Range {
    std::size_t offset, bytes;
};

#define FLASHTRAIN_MEMBER(Root, name) \
    flashtrain::Range { offsetof(Root, name), sizeof(Root::name) }

// From one member to another behind it.
#define FLASHTRAIN_SPAN(Root, first, last) \
    flashtrain::Range { offsetof(Root, first), offsetof(Root, last) + sizeof(Root::last) - offsetof(Root, first) }

// What is left of so many bytes without these ranges.
inline std::vector<Range> without(std::size_t bytes, std::vector<Range> omitted) {
    std::sort(omitted.begin(), omitted.end(), [](const Range& a, const Range& b) { return a.offset < b.offset; });
    std::vector<Range> left;
    std::size_t from = 0;
    for (const Range& range : omitted) {
        left.push_back({from, range.offset - from});
        from = range.offset + range.bytes;
    }
    left.push_back({from, bytes - from});
    return left;
}

// `ranges`: a model's state without its large memories; `equal_edges`: after so many
// edges that leave it as it was, it is idle. Generated.
template <typename Root>
struct State;

// `words`: a model's outputs, several in one integer; generated.
template <typename Root>
struct Outputs;

constexpr uint64_t kShortestInterval = 8;

enum class Look { ACTIVE, AGAIN, IDLE };

// Looks at the state of one instance: `root` is its model's root, `ranges` and `equal_edges` are those of `State`. No
// template: a component has dozens of models, and a compiler would take seconds for as many copies of this.
class Idleness {
  public:
    // After an edge. `again`: the last look returned AGAIN, and no input has changed since. IDLE: further edges change
    // nothing. After ACTIVE only cycles that are multiples of `kShortestInterval` need a call.
    Look look(const void* root, const std::vector<Range>& ranges, int equal_edges, uint64_t clock, bool again) {
        if (!again) {
            if (clock % interval_ != 0) return Look::ACTIVE;
            glance_ = *at(root, differing_);
            equal_ = 0;
            return Look::AGAIN;
        }
        if (*at(root, differing_) != glance_) return active();
        if (equal_ == 0) {
            keep(root, ranges);
        } else if (!same(root, ranges)) {
            return active();
        }
        if (++equal_ <= equal_edges) return Look::AGAIN;
        interval_ = kShortestInterval;
        return Look::IDLE;
    }

    // For a model without large memories, after each of its edges: whether this one changed nothing, so that further
    // edges change nothing.
    bool unchanged(const void* root, const std::vector<Range>& ranges) {
        if (!kept_.empty() && *at(root, differing_) == glance_ && same(root, ranges)) return true;
        keep(root, ranges);
        glance_ = *at(root, differing_);
        return false;
    }

    // What was kept is no longer what the last edge has left.
    void forget() { kept_.clear(); }

  private:
    // Cycles from one look to the next: more for a model that stays active.
    static constexpr uint64_t kLongestInterval = 64;

    static const char* at(const void* root, std::size_t offset) { return static_cast<const char*>(root) + offset; }

    Look active() {
        interval_ = std::min(2 * interval_, kLongestInterval);
        return Look::ACTIVE;
    }

    // Whether the state is as it was kept; if not, notes a byte that differs.
    bool same(const void* root, const std::vector<Range>& ranges) {
        const char* kept = kept_.data();
        for (const Range& range : ranges) {
            const char* const now = at(root, range.offset);
            if (std::memcmp(kept, now, range.bytes) != 0) {
                differing_ = range.offset + (std::mismatch(kept, kept + range.bytes, now).first - kept);
                return false;
            }
            kept += range.bytes;
        }
        return true;
    }

    void keep(const void* root, const std::vector<Range>& ranges) {
        std::size_t bytes = 0;
        for (const Range& range : ranges) bytes += range.bytes;
        kept_.resize(bytes);
        char* kept = kept_.data();
        for (const Range& range : ranges) {
            std::memcpy(kept, at(root, range.offset), range.bytes);
            kept += range.bytes;
        }
    }

    std::size_t differing_ = 0;  // the byte in which the state differed last
    char glance_ = 0;  // its value
    uint64_t interval_ = kShortestInterval;
    int equal_ = 0;  // edges since the state was kept
    std::vector<char> kept_;
};

}  // namespace flashtrain
