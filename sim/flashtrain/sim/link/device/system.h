// The simulated hardware in parts: front end, channels and dies, and what passes between them in each cycle.

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "Vdie_rest__Dpi.h"
#include "components.h"
#include "verilated.h"

namespace flashtrain {

class System {
  public:
    System() {
        for (int first = 0; first < kChannels; first += kGroup) {
            groups_.push_back(std::make_unique<Group>(context_, first, std::min(kGroup, kChannels - first)));
        }
    }
    ~System() {
        for_each_model([](auto& model) { model.final(); });
    }

    FrontEnd& front_end() { return front_end_; }

    // The power fails in this cycle, at whose number the reset cuts operations short.
    void cut_power(uint64_t clock) {
        for (auto& group : groups_) {
            for (auto& dies : group->dies) {
                for (int i = 0; i < group->count; ++i) dies->model.cycle(clock, i);
                dies->model.settle();
            }
        }
    }

    void reset(bool on) {
        for_each_model([on](auto& model) {
            model.rst = on;
            model.eval();
        });
    }

    void settle_front_end() { front_end_changed_ |= front_end_.settle() != 0; }

    // All pins take their values before the edge. The front end drives its outputs from registers, so the channels can
    // have them before; of a channel's outputs, only the answer to a request depends on them within the cycle.
    void settle(uint64_t clock) {
        const bool front_end_changed = std::exchange(front_end_changed_, false);
        if (front_end_changed) broadcast();
        for (auto& group : groups_) {
            exchange_with_dies(*group, clock);
            const uint64_t sent_to = front_end_changed ? to_engines(*group) : 0;
            for (const int i : Each{group->engines.settle() | sent_to}) {
                from_channel[group->first + i](group->engines, i, front_end_);
            }
            if (front_end_.broadcast__counter_sample()) {
                for (int i = 0; i < group->count; ++i) counter[group->first + i](group->engines, i, front_end_);
            }
        }
        settle_front_end();
    }

    void edge(uint64_t clock) {
        front_end_.edge(clock);
        for (auto& group : groups_) {
            for (int i = 0; i < group->count; ++i) group->engines.cycle(clock, i);
            group->engines.edge(clock);
            for (auto& dies : group->dies) dies->model.edge(clock, dies->awake);
        }
    }

    // Calls the action with each of `kPins` (`pins.py`), settled.
    template <typename Action>
    void for_each_pin(Action action) const {
        pins_of_front_end(front_end_, action);
        for (const auto& group : groups_) {
            for (int i = 0; i < group->count; ++i) pins_of_channel(group->engines, group->dies, i, action);
        }
    }

    // Appends what crosses a seam in this cycle (`seams.py`), settled.
    void collect_seams(std::vector<Seam>& seams) const {
        seams_of_front_end(front_end_, seams);
        for (const auto& group : groups_) {
            for (int i = 0; i < group->count; ++i) {
                seams_of_channel[group->first + i](front_end_, group->engines, i, seams);
            }
        }
    }

  private:
    static constexpr int kGroup = 64;  // channels

    // The dies of one number of all channels of a group.
    struct Dies {
        Dies(VerilatedContext& context, int count) : model{context, count}, all{~uint64_t{0} >> (64 - count)} {}

        // The next event of an array; constant while the die sleeps.
        void note_wake(int i, uint64_t clock) {
            const uint64_t bit = uint64_t{1} << i;
            wake[i] = model.wake(i);
            due = clock >= wake[i] ? due | bit : due & ~bit;
            if (wake[i] > clock) next_wake = std::min(next_wake, wake[i]);
        }

        void select(bool on, int i) {
            const uint64_t bit = uint64_t{1} << i;
            if (!on) deselected |= selected & bit;
            selected = on ? selected | bit : selected & ~bit;
        }

        // The instances that see the pins and the next edge.
        void choose(uint64_t clock) {
            if (clock >= next_wake) {
                due = 0;
                next_wake = ~uint64_t{0};
                for (const int i : Each{all}) {
                    due |= uint64_t{clock >= wake[i]} << i;
                    if (wake[i] > clock) next_wake = std::min(next_wake, wake[i]);
                }
            }
            awake = selected | std::exchange(deselected, 0) | due | model.awake();
        }

        Die model;
        uint64_t all;
        uint64_t awake = 0;
        uint64_t changed = 0;  // their outputs
        uint64_t unseen = 0;  // their pins have moved since they were awake
        uint64_t selected = 0;  // CE_n is low
        uint64_t deselected = 0;  // it rises in this cycle
        std::array<uint64_t, kGroup> wake{};
        uint64_t due = 0;  // their array has work
        uint64_t next_wake = 0;  // no other is due before
    };

    // Channels that are moved together.
    struct Group {
        Group(VerilatedContext& context, int first_channel, int channels)
            : first{first_channel}, count{channels}, engines{context, channels} {
            for (auto& numbered : dies) numbered = std::make_unique<Dies>(context, channels);
            for (int i = 0; i < count; ++i) {
                engines.channel(static_cast<CData>(first + i), i);
                for (int d = 0; d < kDies; ++d) {
                    dies[d]->model.channel(static_cast<CData>(first + i), i);
                    dies[d]->model.die(static_cast<CData>(d), i);
                }
            }
        }
        int first, count;
        Channel engines;
        std::array<uint32_t, kGroup> last_sent{};  // by the front end, as `sent` has it
        std::array<std::unique_ptr<Dies>, kDies> dies;
    };

    // Carries the front end's outputs to the channels before the edge. Returns those whose inputs changed or are valid.
    uint64_t to_engines(Group& group) {
        uint64_t instances = 0;
        for (int i = 0; i < group.count; ++i) {
            const int number = group.first + i;
            const bool data_valid = front_end_.data_valid() >> number & 1;
            const uint32_t now = sent[number](front_end_) | uint32_t{data_valid} << kDataValid;
            if (now == group.last_sent[i] && !(now & kValid)) continue;
            group.last_sent[i] = now;
            instances |= uint64_t{1} << i;
            to_channel[number](front_end_, group.engines, i);
            group.engines.data_valid(static_cast<CData>(data_valid), i);
            if (data_valid) group.engines.data(front_end_.broadcast__data(), i);
        }
        return instances;
    }

    // Rare values for all channels.
    void broadcast() {
        const Broadcast now{front_end_.channel_reset(), front_end_.broadcast__counter_select(),
                            front_end_.broadcast__counter_sample()};
        if (now == broadcast_) return;
        broadcast_ = now;
        for (auto& group : groups_) {
            for (int i = 0; i < group->count; ++i) {
                group->engines.channel_reset(front_end_.channel_reset(), i);
                group->engines.counter_select(front_end_.broadcast__counter_select(), i);
                group->engines.counter_sample(front_end_.broadcast__counter_sample(), i);
            }
        }
    }

    // Pins between channels and their dies, before the edge. A die sleeps while nothing in it can change.
    void exchange_with_dies(Group& group, uint64_t clock) {
        Channel& engines = group.engines;
        uint64_t answered = 0;
        for (auto& dies : group.dies) {
            answered |= std::exchange(dies->changed, 0) | dies->model.settle();
            for (const int i : Each{dies->model.changed_wake()}) dies->note_wake(i, clock);
        }
        for (const int i : Each{answered}) from_dies(group.dies, engines, i);
        const uint64_t pins = engines.changed_pins();
        for (int d = 0; d < kDies; ++d) {
            Dies& dies = *group.dies[d];
            for (const int i : Each{pins}) dies.select(may_be_selected(engines, i, d), i);
            dies.unseen |= pins;
            dies.choose(clock);
            for (const int i : Each{dies.awake & dies.unseen}) to_die(engines, dies.model, i, d);
            dies.unseen &= ~dies.awake;
            for (const int i : Each{dies.awake}) dies.model.cycle(clock, i);
            for (const int i : Each{dies.due}) dies.model.apply_silent_inputs(i);
            dies.changed |= dies.model.settle();
        }
    }

    template <typename Action>
    void for_each_model(Action action) {
        front_end_.for_each_model(action);
        for (auto& group : groups_) {
            group->engines.for_each_model(action);
            for (auto& dies : group->dies) dies->model.for_each_model(action);
        }
    }

    using Broadcast = std::array<CData, 3>;

    VerilatedContext context_;
    FrontEnd front_end_{context_, 1};
    bool front_end_changed_ = false;  // for the channels
    std::vector<std::unique_ptr<Group>> groups_;
    Broadcast broadcast_{2};  // as no signal of one bit is
};

}  // namespace flashtrain
