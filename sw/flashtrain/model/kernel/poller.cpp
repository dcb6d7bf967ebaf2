// The ready poller: predicts the end of a die's work, and polls from then on.

#include <algorithm>

#include "channel.h"

namespace flashtrain {

void Channel::wake_poller(Environment& env, uint8_t die, Time at) {
    Agent& agent = agents_[die];
    agent.poller_wakes = at;
    env.events.schedule({at, Wake::POLLER, die, number, 0});
}

// A unit reports at `now` that the command for `work` has been sent.
void Channel::start_poller(Environment& env, uint8_t die, Work work, Time now) {
    const Parameters& p = env.parameters;
    Agent& agent = agents_[die];
    agent.work = work;
    agent.polling = true;
    agent.poll_started = false;
    agent.late = false;
    agent.short_until = 0;
    agent.poll_idle = std::max(agent.array_predicted, now + 2);
    switch (work) {
        case Work::PROGRAM:
        case Work::END_UPDATE:
            agent.short_until = now + 1 + static_cast<Time>(p.twb + p.tcbsy);
            agent.array_predicted = agent.poll_idle + p.tprog;
            break;
        case Work::ERASE:
            agent.array_predicted = agent.poll_idle = now + 2 + static_cast<Time>(p.twb + p.tbers);
            break;
        case Work::FIRST_UPDATE:
        case Work::UPDATE:
            agent.short_until = agent.poll_idle + 1 + static_cast<Time>(p.tr + p.predicted[agent.last_page + 1]);
            agent.array_predicted = agent.poll_idle + p.tr + (work == Work::UPDATE ? p.tprog : 0);
            break;
        default:
            break;
    }
    // INTERVAL begins a cycle after the array is idle, POLL one after the short timer.
    wake_poller(env, die, std::max(agent.poll_idle + 1, agent.short_until) + 1);
}

// A suspended read prolongs the work of the array.
void Channel::prolong(Environment& env, uint8_t die, Time now) {
    const Parameters& p = env.parameters;
    Agent& agent = agents_[die];
    if (agent.array_predicted <= now) return;
    const Time prolonged = static_cast<Time>(p.tsusp + p.tr + p.tres);
    agent.array_predicted += prolonged;
    if (!agent.polling || agent.poll_started || agent.poll_idle <= now) return;
    agent.poll_idle += prolonged;
    wake_poller(env, die, std::max(agent.poll_idle + 1, agent.short_until) + 1);
}

// When R/B# allows a poll that is due at `at`: as far as is known now, for a suspended read prolongs the work.
Time Channel::line_allows(const Environment& env, uint8_t number, Time at) const {
    const Parameters& p = env.parameters;
    if (!p.ready_line) return at;
    const Die& die = agents_[number].die;
    const Time started = std::max({die.waits_since, die.array_free, die.released}) + 1;
    const Time ready = die.waits ? std::max<Time>(started, die.waits_since + p.tcbsy) : die.ready;
    return std::max(at, ready + p.ready_line);
}

// POLL, unless a suspended read holds the data registers or a unit defers it.
void Channel::poll(Environment& env, uint8_t die, Time now) {
    Agent& agent = agents_[die];
    if (now != agent.poller_wakes || !agent.polling || agent.poll_started) return;
    agent.poller_wakes = kNever;
    agent.program_delayed = agent.registers_held;
    agent.late |= agent.registers_held;
    // The end of the suspended read or the unit wakes it.
    agent.poll_waits = agent.registers_held || agent.deferred;
    if (agent.poll_waits) return;
    settle(env, die, now);
    const Time allowed = line_allows(env, die, now);
    agent.late |= allowed > now + env.parameters.ready_line;
    if (allowed > now) return wake_poller(env, die, allowed);
    request_poll(env, die, now);
}

void Channel::request_poll(Environment& env, uint8_t die, Time at) {
    Agent& agent = agents_[die];
    agent.poll_waits = agent.program_delayed = false;
    agent.poll_started = true;
    request(env, die, false, BusOp::STATUS, 0, at, true);
}

// What a poll waited for has gone.
void Channel::resume_poll(Environment& env, uint8_t die, Time now) {
    Agent& agent = agents_[die];
    agent.program_delayed = false;
    if (!agent.poll_waits || agent.registers_held || agent.deferred) return;
    agent.poll_waits = false;
    wake_poller(env, die, now + 1);
}

void Channel::polled(Environment& env, uint8_t die, uint8_t bits, Time now) {
    const Parameters& p = env.parameters;
    Agent& agent = agents_[die];
    agent.poll_started = false;
    const bool until_array = agent.work == Work::LAST_PROGRAM || agent.work == Work::ERASE;
    const bool of_update = agent.work == Work::UPDATE || agent.work == Work::FIRST_UPDATE;
    if (bits & (until_array ? ARDY : RDY)) {
        agent.polling = false;
        if (agent.late && (agent.work == Work::PROGRAM || agent.work == Work::END_UPDATE)) {
            agent.array_predicted = now + p.tprog;
        } else if (agent.late && agent.work == Work::UPDATE) {
            agent.array_predicted = now + static_cast<Time>(std::max(1, p.tprog - p.predicted[agent.last_page + 1]));
        }
        switch (agent.owner) {
            case PROGRAMMER:
                return programmer_ready(env, die, now + 1);
            case ERASER:
                return erased(env, die, now + 1);
            default:
                return updater_ready(env, die, now + 1);
        }
    }
    agent.late = true;
    const Time interval =
        static_cast<Time>(agent.work == Work::ERASE ? p.poll_erase : of_update ? p.poll_sense : p.poll_program);
    agent.poll_idle = now;
    wake_poller(env, die, now + interval + 2);
}

}  // namespace flashtrain
