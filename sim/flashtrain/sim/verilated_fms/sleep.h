// A model that is left alone while nothing in it can change.
//
// If the inputs of a synchronous model stay as they are, and an edge has left its state as it was, then so will all
// that follow, until an input changes. To compare the state at every edge would cost more than it saves: a model is
// looked at now and then. Large memories are left out. While the rest is equal, what is written to them is equal, too,
// and changes at most what is read from them: that is seen at the next edge, or behind a chain of memories at a later
// one.

#pragma once

#include <algorithm>
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

// `ranges`: a model's state without its large memories; generated.
template <typename Root>
struct State;

template <typename Model, typename Root>
class Sleeper {
  public:
    explicit Sleeper(Model& model) : model_{model} {}

    bool awake() const { return awake_; }

    // Inputs have changed.
    void wake() {
        awake_ = true;
        equal_ = 0;
    }

    // Inputs have changed, and some of the logic behind them comes before any register: it follows.
    void inputs_changed() {
        settle(root());
        wake();
    }

    void edge(uint64_t clock) {
        if (!awake_) return;
        rising_edge(root());
        if (equal_ == 0 && clock % kInterval != 0) return;
        if (equal_ > 0 && same()) {
            awake_ = ++equal_ <= kEqualEdges;
        } else {
            equal_ = clock % kInterval == 0;
            if (equal_) keep();
        }
    }

  private:
    static constexpr uint64_t kInterval = 8;
    static constexpr int kEqualEdges = 4;

    Root& root() { return *model_.rootp; }
    const char* at(const Range& range) { return reinterpret_cast<const char*>(&root()) + range.offset; }

    bool same() {
        const char* kept = kept_.data();
        for (const Range& range : State<Root>::ranges) {
            if (std::memcmp(kept, at(range), range.bytes) != 0) return false;
            kept += range.bytes;
        }
        return true;
    }

    void keep() {
        kept_.clear();
        for (const Range& range : State<Root>::ranges) kept_.insert(kept_.end(), at(range), at(range) + range.bytes);
    }

    Model& model_;
    bool awake_ = true;
    int equal_ = 0;  // edges, if any, since the state was kept, and one
    std::vector<char> kept_;
};

}  // namespace flashtrain
