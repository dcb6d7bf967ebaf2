// Many instances of a component that is simulated in parts.
//
// The parts of a component are models of their own, with wires between them (generated, `emit.py`). A part whose
// inputs change is *dirty* until it has followed them, unless only registers see them; then it is *awake*, and sees
// every edge until its state and its inputs are constant (`sleep.h`). So the cost of an edge follows the activity. Wires
// are carried until nothing changes; without combinational loops that takes a few rounds. A part with a gated clock has
// that clock as an input.
//
// Most outputs of a part are constant. They are compared in words of several outputs, and only the wires of a changed
// word are visited.
//
// The same part of all instances is moved before the next part, so that its code is fetched once.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "model.h"
#include "sleep.h"
#include "verilated.h"

namespace flashtrain {

constexpr int kMostInstances = 64;  // a bit for each

// The numbers of the bits that are set.
class Each {
  public:
    explicit Each(uint64_t bits) : bits_{bits} {}

    class Iterator {
      public:
        explicit Iterator(uint64_t left) : left_{left} {}
        int operator*() const { return __builtin_ctzll(left_); }
        Iterator& operator++() {
            left_ &= left_ - 1;
            return *this;
        }
        bool operator!=(const Iterator& other) const { return left_ != other.left_; }

      private:
        uint64_t left_;
    };
    Iterator begin() const { return Iterator{bits_}; }
    Iterator end() const { return Iterator{0}; }

  private:
    uint64_t bits_;
};

// A word of a model's outputs.
[[gnu::always_inline]] inline uint64_t word_at(const void* root, Range range) {
    const char* const from = static_cast<const char*>(root) + range.offset;
    switch (range.bytes) {
        case 1: return static_cast<uint8_t>(*from);
        case 2: {
            uint16_t value;
            std::memcpy(&value, from, sizeof value);
            return value;
        }
        case 4: {
            uint32_t value;
            std::memcpy(&value, from, sizeof value);
            return value;
        }
        default: {
            uint64_t value;
            std::memcpy(&value, from, sizeof value);
            return value;
        }
    }
}

template <std::size_t count>
constexpr bool are_words(const std::array<Range, count>& ranges) {
    for (const Range& range : ranges) {
        if (range.bytes != 1 && range.bytes != 2 && range.bytes != 4 && range.bytes != 8) return false;
    }
    return true;
}

// What is to be done in the instances of a part, whatever its model.
class Schedule {
  public:
    explicit Schedule(int count) : all_{~uint64_t{0} >> (kMostInstances - count)} {}

    // An input has changed: one that some logic follows within the clock, or one that only registers see.
    void mark_input_changed(int i, bool changed) {
        if (changed) dirty |= uint64_t{1} << i;
    }
    void wake_if_changed(int i, bool changed) {
        if (changed) wake(uint64_t{1} << i);
    }

    // A part with an output that is high while an edge may change its state.
    void set_awake(int i, bool active) { awake = (awake & ~(uint64_t{1} << i)) | uint64_t{active} << i; }

    // Those that were dirty.
    uint64_t follow() { return std::exchange(dirty, 0); }
    uint64_t wake_dirty() {
        const uint64_t instances = follow();
        wake(instances);
        return instances;
    }

    uint64_t dirty = 0, awake = 0, moved = 0;

  protected:
    // All that there are.
    void begin(bool clocked) {
        dirty = moved = all_;
        awake = clocked ? all_ : 0;
        compared_ = 0;
        for (const int i : Each{all_}) idleness_[i].forget();
    }

    void compare_in_intervals(const std::vector<Range>& ranges, int equal_edges, uint64_t clock) {
        const uint64_t candidates = clock % kShortestInterval == 0 ? moved : moved & compared_;
        for (const int i : Each{candidates}) {
            const uint64_t bit = uint64_t{1} << i;
            switch (idleness_[i].look(roots_[i], ranges, equal_edges, clock, compared_ & bit)) {
                case Look::ACTIVE: compared_ &= ~bit; break;
                case Look::AGAIN: compared_ |= bit; break;
                case Look::IDLE: awake &= ~bit; break;
            }
        }
    }

    void compare_after_edge(const std::vector<Range>& ranges) {
        for (const int i : Each{moved}) awake &= ~(uint64_t{idleness_[i].unchanged(roots_[i], ranges)} << i);
    }

    std::array<void*, kMostInstances> roots_{};
    const uint64_t all_;

  private:
    void wake(uint64_t instances) {
        awake |= instances;
        compared_ &= ~instances;
    }

    uint64_t compared_ = 0;  // their state is compared at each edge
    std::array<Idleness, kMostInstances> idleness_;
};

// A part, in all instances. Its members are short: they are compiled for each part.
template <typename Model>
class Part : public Schedule {
  public:
    using Root = std::remove_pointer_t<decltype(Model::rootp)>;

    Part(VerilatedContext& context, int count) : Schedule{count} {
        for (const int i : Each{all_}) {
            models_[i] = std::make_unique<Model>(&context);
            roots_[i] = models_[i]->rootp;
        }
    }

    Root& operator[](int i) { return *static_cast<Root*>(roots_[i]); }
    const Root& operator[](int i) const { return *static_cast<const Root*>(roots_[i]); }
    Model& model(int i) { return *models_[i]; }

    template <typename Action>
    void for_each_model(Action action) {
        for (const int i : Each{all_}) action(*models_[i]);
    }

    // All that there are, and all outputs count as changed.
    void wake_all(bool clocked) {
        begin(clocked);
        for (const int i : Each{all_}) {
            for (std::size_t number = 0; number < kWords.size(); ++number) {
                last_words_[i][number] = ~word_at(roots_[i], kWords[number]);
            }
        }
    }

    // Whether this word of outputs is not what it was when asked last.
    [[gnu::always_inline]] bool word_changed(int i, std::size_t number) {
        const uint64_t now = word_at(roots_[i], kWords[number]);
        if (last_words_[i][number] == now) return false;
        last_words_[i][number] = now;
        return true;
    }

    // After an edge: idle instances sleep. Each is compared in intervals.
    void compare_in_intervals(uint64_t clock) {
        Schedule::compare_in_intervals(State<Root>::ranges, State<Root>::equal_edges, clock);
    }

    // The same, for parts whose edge costs more than a comparison after each.
    void compare_after_edge() { Schedule::compare_after_edge(State<Root>::ranges); }

  private:
    static constexpr auto& kWords = Outputs<Root>::words;
    static_assert(are_words(kWords));

    uint64_t last_words_[kMostInstances][kWords.size() + 1]{};  // one more, for there may be none
    std::array<std::unique_ptr<Model>, kMostInstances> models_;
};

}  // namespace flashtrain
