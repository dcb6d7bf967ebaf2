// Finds out when a model can be left alone because nothing in it can change.
//
// If the inputs of a synchronous model stay as they are, and an edge has left its state as it was, then so will all
// that follow, until an input changes. To compare the state at every edge would cost more than it saves: a model is
// looked at now and then. Large memories are left out. While the rest is equal, what is written to them is equal, too,
// and changes at most what is read from them: that is seen at the next edge, or behind a chain of memories at a later
// one.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "step.h"

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

// `ranges`: a model's state without its large memories; `equal_edges`: so many that leave it as it was say that it is
// still. Generated.
template <typename Root>
struct State;

// `words`: a model's outputs, several in one integer; generated.
template <typename Root>
struct Outputs;

constexpr uint64_t kShortestInterval = 8;

enum class Look { MOVES, AGAIN, STILL };

template <typename Root>
class Stillness {
  public:
    // After an edge. `again`: the last look wanted another one, and no input has changed since. STILL: the edges to
    // come change nothing. Need not be called while the last look was not for another one, but where `clock` is a
    // multiple of `kShortestInterval`.
    Look look(const Root& root, uint64_t clock, bool again) {
        if (!again) {
            if (clock % interval_ != 0) return Look::MOVES;
            glance_ = *at(root, restless_);
            equal_ = 0;
            return Look::AGAIN;
        }
        if (*at(root, restless_) != glance_) return moves();
        if (equal_ == 0) {
            keep(root);
        } else if (!same(root)) {
            return moves();
        }
        if (++equal_ <= State<Root>::equal_edges) return Look::AGAIN;
        interval_ = kShortestInterval;
        return Look::STILL;
    }

    // For a model without large memories, after each of its edges: whether this one has changed nothing. Then those to
    // come do not, either.
    bool rests(const Root& root) {
        if (!kept_.empty() && *at(root, restless_) == glance_ && same(root)) return true;
        keep(root);
        glance_ = *at(root, restless_);
        return false;
    }

    // What was kept is no longer what the last edge has left.
    void forget() { kept_.clear(); }

  private:
    // Clocks from one look to the next: more for what keeps moving.
    static constexpr uint64_t kLongestInterval = 64;

    static const char* at(const Root& root, std::size_t offset) { return reinterpret_cast<const char*>(&root) + offset; }

    Look moves() {
        interval_ = std::min(2 * interval_, kLongestInterval);
        return Look::MOVES;
    }

    // Whether the state is as it was kept; if not, notes a byte that differs.
    bool same(const Root& root) {
        const char* kept = kept_.data();
        for (const Range& range : State<Root>::ranges) {
            const char* const now = at(root, range.offset);
            if (std::memcmp(kept, now, range.bytes) != 0) {
                restless_ = range.offset + (std::mismatch(kept, kept + range.bytes, now).first - kept);
                return false;
            }
            kept += range.bytes;
        }
        return true;
    }

    void keep(const Root& root) {
        std::size_t bytes = 0;
        for (const Range& range : State<Root>::ranges) bytes += range.bytes;
        kept_.resize(bytes);
        char* kept = kept_.data();
        for (const Range& range : State<Root>::ranges) {
            std::memcpy(kept, at(root, range.offset), range.bytes);
            kept += range.bytes;
        }
    }

    std::size_t restless_ = 0;  // the byte where the state differed when it last did
    char glance_ = 0;  // what it was
    uint64_t interval_ = kShortestInterval;
    int equal_ = 0;  // edges since the state was kept
    std::vector<char> kept_;
};

}  // namespace flashtrain
