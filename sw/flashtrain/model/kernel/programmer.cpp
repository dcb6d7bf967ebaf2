// The programmer: page sets with cache program, each judged by its own status.

#include <algorithm>

#include "channel.h"

namespace flashtrain {

// Begin the next set, or look for the end of the last one.
void Channel::program(Environment& env, uint8_t die, Time now) {
    Agent& agent = agents_[die];
    if (agent.programming != Programming::IDLE && agent.programming != Programming::ARRAY_BUSY) return;
    if (now < agent.programmer_from) return;
    if (requests(agent, PROGRAMMER, now) && may_begin(env, agent, PROGRAMMER, now)) {
        ++agent.begun;
        agent.programming = Programming::PAGE_ADDRESS;
        agent.plane = sets_[agent.offered].first;
        request(env, die, false, BusOp::PROGRAM_PAGE, agent.plane, now + 1);
        return;
    }
    if (agent.programming != Programming::ARRAY_BUSY) return;
    const Time idle = agent.array_predicted + 1;
    if (idle > now) {
        env.events.schedule({idle, Wake::AGENT, die, number, 0});
        return;
    }
    agent.programming = Programming::WAIT_LAST;
    start_poller(env, die, Work::LAST_PROGRAM, now);
}

void Channel::programmer_done(Environment& env, uint8_t die, Time now) {
    const Parameters& p = env.parameters;
    Agent& agent = agents_[die];
    const PageSet& set = sets_[agent.offered];
    const bool last = agent.plane == set.last;
    if (agent.programming == Programming::PAGE_ADDRESS) {
        agent.programming = Programming::LOAD;
        agent.programmer_lock = true;
        request(env, die, false, last ? BusOp::PROGRAM_LAST : BusOp::PROGRAM_MORE, agent.plane, now + p.tadl + 1);
        return;
    }
    agent.programmer_lock = false;
    ++counts[PAGES_PROGRAMMED];
    if (!last) {
        ++agent.plane;
        agent.programming = Programming::PAGE_ADDRESS;
        request(env, die, false, BusOp::PROGRAM_PAGE, agent.plane, now + p.twb + p.tdbsy + 1);
        return;
    }
    ++counts[PROGRAMS];
    const uint32_t planes = ((2u << set.last) - 1) & ~((1u << set.first) - 1);
    command(env, die, BusOp::PROGRAM_LAST, planes, now);
    agent.programming = Programming::WAIT_READY;
    start_poller(env, die, Work::PROGRAM, now);
}

// The poller found the die ready: of the set before, or of the last one, the result is known.
void Channel::programmer_ready(Environment& env, uint8_t die, Time now) {
    Agent& agent = agents_[die];
    const uint8_t before = agent.programmed_slot;
    if (agent.programming == Programming::WAIT_READY) {
        agent.programmed_slot = agent.offered;
        agent.programming = Programming::ARRAY_BUSY;
        agent.programmer_from = now + 2;
        agent.pages_read = 0;
        set_taken(env, die, now + 1);
    } else {
        agent.programmed_slot = kNone8;
        agent.programming = Programming::IDLE;
        agent.programmer_from = now + 2;
    }
    if (before != kNone8) report_set(env, before, now + 2);
    env.events.schedule({agent.programmer_from, Wake::AGENT, die, number, 0});
}

}  // namespace flashtrain
