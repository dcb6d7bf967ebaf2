// Many instances of a component that is simulated in parts.
//
// The parts of a component are models of their own, with wires between them (generated, `parts_cpp.py`). A part whose
// inputs change is *dirty* until it has followed them, unless only registers see them; then it is *awake*, and sees
// every edge until its state and its inputs have come to rest (`sleep.h`). So an edge costs what happens at it. Wires
// are carried until nothing changes any more, which is soon: there are no combinational loops. A part with a gated
// clock sees that clock as an input.
//
// Most of what a part puts out stays as it was: it is compared in words of several outputs each (*news*), and only the
// wires of a word that is new are looked at.
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

#include "carry.h"
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
        looked_at_ = 0;
        for (int i : Each{all_}) {
            forget(i, Numbers{});
            stillness_[i].forget();
        }
    }

    // Whether this word of outputs is not what it was when asked last.
    template <std::size_t number>
    bool news(int i) {
        const auto now = word<number>(i);
        if (said_[i][number] == now) return false;
        said_[i][number] = now;
        return true;
    }

    // An input has changed: one that some logic follows within the clock, or one that only registers see.
    void soil(int i, bool changed) {
        if (changed) dirty |= uint64_t{1} << i;
    }
    void stir(int i, bool changed) {
        if (changed) wake(uint64_t{1} << i);
    }

    // One that says itself whether the next edge changes anything.
    void heed(int i, bool moves) { awake = (awake & ~(uint64_t{1} << i)) | uint64_t{moves} << i; }

    // Those that were dirty.
    uint64_t follow() { return std::exchange(dirty, 0); }
    uint64_t wake_dirty() {
        const uint64_t instances = follow();
        wake(instances);
        return instances;
    }

    // After an edge: leaves those alone that have come to rest.
    void rest(uint64_t clock) {
        const uint64_t candidates = clock % kShortestInterval == 0 ? moved : moved & looked_at_;
        for (const int i : Each{candidates}) {
            const uint64_t bit = uint64_t{1} << i;
            switch (stillness_[i].look(*roots_[i], clock, looked_at_ & bit)) {
                case Look::MOVES: looked_at_ &= ~bit; break;
                case Look::AGAIN: looked_at_ |= bit; break;
                case Look::STILL: awake &= ~bit; break;
            }
        }
    }

    // The same for one whose edge costs more than to compare its state after each.
    void rest_at_once() {
        for (const int i : Each{moved}) awake &= ~(uint64_t{stillness_[i].rests(*roots_[i])} << i);
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

    // All that it puts out is news.
    template <std::size_t... numbers>
    void forget(int i, std::index_sequence<numbers...>) {
        ((said_[i][numbers] = ~uint64_t{word<numbers>(i)}), ...);
    }

    void wake(uint64_t instances) {
        awake |= instances;
        looked_at_ &= ~instances;
    }

    uint64_t all_;
    uint64_t looked_at_ = 0;  // their state is compared at each edge
    std::array<Root*, kMostInstances> roots_{};
    std::array<std::array<uint64_t, kWords.size()>, kMostInstances> said_{};
    std::vector<std::unique_ptr<Model>> models_;
    std::array<Stillness<Root>, kMostInstances> stillness_;
};

}  // namespace flashtrain
