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

// A part, in all instances.
template <typename Model>
class Part {
  public:
    using Root = std::remove_pointer_t<decltype(Model::rootp)>;

    Part(VerilatedContext& context, int count) : all_{~uint64_t{0} >> (kMostInstances - count)} {
        for (int i = 0; i < count; ++i) {
            models_.push_back(std::make_unique<Model>(&context));
            roots_[i] = models_[i]->rootp;
        }
    }

    Root& operator[](int i) { return *roots_[i]; }
    const Root& operator[](int i) const { return *roots_[i]; }
    Model& model(int i) { return *models_[i]; }

    template <typename Action>
    void for_each_model(Action action) {
        for (auto& model : models_) action(*model);
    }

    // All that there are.
    void wake_all(bool clocked) {
        dirty = moved = all_;
        awake = clocked ? all_ : 0;
        compared_ = 0;
        for (int i : Each{all_}) {
            forget(i, Numbers{});
            idleness_[i].forget();
        }
    }

    // Whether this word of outputs is not what it was when asked last.
    template <std::size_t number>
    bool word_changed(int i) {
        const auto now = word<number>(i);
        if (last_words_[i][number] == now) return false;
        last_words_[i][number] = now;
        return true;
    }

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

    // After an edge: idle instances sleep. Each is compared in intervals.
    void compare_in_intervals(uint64_t clock) {
        const uint64_t candidates = clock % kShortestInterval == 0 ? moved : moved & compared_;
        for (const int i : Each{candidates}) {
            const uint64_t bit = uint64_t{1} << i;
            switch (idleness_[i].look(*roots_[i], clock, compared_ & bit)) {
                case Look::ACTIVE: compared_ &= ~bit; break;
                case Look::AGAIN: compared_ |= bit; break;
                case Look::IDLE: awake &= ~bit; break;
            }
        }
    }

    // The same, for parts whose edge costs more than a comparison after each.
    void compare_after_edge() {
        for (const int i : Each{moved}) awake &= ~(uint64_t{idleness_[i].unchanged(*roots_[i])} << i);
    }

    uint64_t dirty = 0, awake = 0, moved = 0;

  private:
    static constexpr auto& kWords = Outputs<Root>::words;
    using Numbers = std::make_index_sequence<kWords.size()>;

    template <std::size_t number>
    auto word(int i) const {
        constexpr std::size_t bytes = kWords[number].bytes;
        static_assert(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
        using Short = std::conditional_t<bytes == 1, uint8_t, uint16_t>;
        using Long = std::conditional_t<bytes == 4, uint32_t, uint64_t>;
        std::conditional_t<bytes <= 2, Short, Long> value;
        std::memcpy(&value, reinterpret_cast<const char*>(roots_[i]) + kWords[number].offset, bytes);
        return value;
    }

    // All outputs count as changed.
    template <std::size_t... numbers>
    void forget(int i, std::index_sequence<numbers...>) {
        ((last_words_[i][numbers] = ~uint64_t{word<numbers>(i)}), ...);
    }

    void wake(uint64_t instances) {
        awake |= instances;
        compared_ &= ~instances;
    }

    uint64_t all_;
    uint64_t compared_ = 0;  // their state is compared at each edge
    std::array<Root*, kMostInstances> roots_{};
    std::array<std::array<uint64_t, kWords.size()>, kMostInstances> last_words_{};
    std::vector<std::unique_ptr<Model>> models_;
    std::array<Idleness<Root>, kMostInstances> idleness_;
};

}  // namespace flashtrain
