// A channel: its parts, and what wakes them.

#include "channel.h"

#include "front_end.h"

namespace flashtrain {

Channel::Channel(const Parameters& p, uint16_t channel)
    : number(channel),
      agents_(static_cast<size_t>(p.dies)),
      sets_(static_cast<size_t>(p.write_sets)),
      arriving_(static_cast<size_t>(p.write_sets * p.planes)),
      free_pages_(static_cast<uint8_t>(p.read_pages)),
      complete_(static_cast<size_t>(p.read_pages)),
      freeing_(static_cast<size_t>(p.read_pages)) {
    for (uint8_t slot = 0; slot < sets_.size(); ++slot) ages_.push_back(slot);
    for (Agent& agent : agents_) {
        agent.sets.pages = Ring<ReadPage>(static_cast<size_t>(2 * p.planes));
        agent.queue = Ring<ReadPage>(static_cast<size_t>(p.read_queue));
    }
}

void Channel::wake(Environment& env, const Event& event) {
    const Time now = event.time;
    switch (event.wake) {
        case Wake::MUX:
            return mux(env, event.die, now);
        case Wake::OPERATION_DONE:
            if (is_delayed(env, event)) return;
            return operation_done(env, event.die, event.argument, now);
        case Wake::POLLER:
            return poll(env, event.die, now);
        case Wake::AGENT:
            return kick(env, event.die, now);
        case Wake::BUS:
            return choose(env, static_cast<BusKind>(event.argument), now);
        case Wake::SETS:
            return scan(env, now);
        case Wake::RESULTS:
            return free_set(env, static_cast<uint8_t>(event.argument), now);
        case Wake::LOOKUP:
            return lookup_done(env, now);
        case Wake::PAGE_COMPLETE:
            return page_completed(env, event.die, event.argument, now);
        case Wake::PAGE_FREED:
            return try_copy(env, now);
        default:
            return;
    }
}

// Whether the RTL's agents would be idle.
bool Channel::idle() const {
    for (const Agent& agent : agents_) {
        if (agent.programming != Programming::IDLE || agent.erasing != Erasing::IDLE ||
            agent.reading != Reading::IDLE || agent.updating != Updating::IDLE || !agent.queue.empty()) {
            return false;
        }
    }
    for (const PageSet& set : sets_) {
        if (set.state == SetState::CLOSED || set.state == SetState::HANDED_OUT) return false;
    }
    return !looking_up_;
}

}  // namespace flashtrain
