// The agent of a die: the scheduler of its units, and the request mux.

#include <algorithm>

#include "channel.h"

namespace flashtrain {

namespace {

// Operations of a unit in a row while another wants the die.
int run_of(const Parameters& p, Unit unit) {
    return unit == READER ? p.read_run : unit == UPDATER ? p.update_run : p.program_run;
}

}  // namespace

bool Channel::requests(const Agent& agent, Unit unit, Time now) const {
    switch (unit) {
        case RESET:
            return false;  // its work is over
        case PROGRAMMER:
            return agent.offered != kNone8 && agent.offered_at <= now && sets_[agent.offered].kind == PageKind::DATA;
        case READER: {
            const bool free = !suspendable(agent);
            const bool statistics = agent.sets.waiting && agent.sets.statistics;
            return (agent.sets.waiting && (free || statistics)) || (!agent.queue.empty() && agent.queue[0].at <= now && free);
        }
        case ERASER:
            return agent.erase_requested && agent.erase_from <= now;
        default:
            return agent.offered != kNone8 && agent.offered_at <= now && sets_[agent.offered].kind != PageKind::DATA;
    }
}

bool Channel::busy(const Agent& agent, Unit unit) const {
    const bool suspended = agent.suspended && agent.reading != Reading::IDLE;
    switch (unit) {
        case RESET:
            return false;
        case PROGRAMMER:
            return agent.programming != Programming::IDLE || suspended;
        case READER:
            return agent.reading != Reading::IDLE;
        case ERASER:
            return agent.erasing != Erasing::IDLE || suspended;
        default:
            return agent.updating != Updating::IDLE;
    }
}

// Whether `unit` owns the die and may begin one more.
bool Channel::may_begin(const Environment& env, const Agent& agent, Unit unit, Time now) const {
    if (agent.owner != unit || agent.owned_since > now) return false;
    bool others = false;
    for (uint8_t other = 0; other < kUnits; ++other) {
        others |= other != unit && requests(agent, static_cast<Unit>(other), now);
    }
    return !others || agent.begun < run_of(env.parameters, unit);
}

// `UnitScheduler`: the owner gives the die up when it has nothing more to do, or after its run, if another wants it.
void Channel::rotate(Environment& env, uint8_t number, Time now) {
    Agent& agent = agents_[number];
    if (agent.owned_since > now || busy(agent, agent.owner)) return;
    if (requests(agent, agent.owner, now) && agent.begun < run_of(env.parameters, agent.owner)) return;
    for (uint8_t i = 1; i < kUnits; ++i) {
        const Unit next = static_cast<Unit>((agent.owner + i) % kUnits);
        if (!requests(agent, next, now)) continue;
        agent.owner = next;
        agent.begun = 0;
        agent.owned_since = now + 3;
        want_die(env, number, agent.owned_since);
        return;
    }
}

void Channel::want_die(Environment& env, uint8_t die, Time at) {
    if (agents_[die].wakes_last == at) return;
    agents_[die].wakes_last = at;
    env.events.schedule({at, Wake::AGENT, die, number, 0});
}

// Let every unit that can go on do so.
void Channel::kick(Environment& env, uint8_t die, Time now) {
    const Agent& agent = agents_[die];
    if (agent.owner == READER && !wanted(agent)) {
        gather(env, die, now);
        return read(env, die, now);
    }
    rotate(env, die, now);
    program(env, die, now);
    start_erase(env, die, now);
    update(env, die, now);
    gather(env, die, now);
    read(env, die, now);
}

void Channel::request(Environment& env, uint8_t die, bool reader, BusOp op, uint8_t plane, Time at, bool of_poller,
                      uint32_t token) {
    Agent& agent = agents_[die];
    Request& request = reader ? agent.reader_request : agent.unit_request;
    request = {true, of_poller, op, plane, at, token};
    if (agent.operating) return;  // the end of the operation wakes the mux
    const Time wakes = std::max(at + 1, agent.mux_idle);
    if (reader && reader_alone(agent)) {
        return accept_request(env, die, true, agent.of_reader ? wakes : std::max(wakes, agent.source_may_change));
    }
    if (!reader && agent.programmer_lock && !agent.of_reader) return accept_request(env, die, false, wakes);
    if (wakes < agent.mux_wakes) {
        agent.mux_wakes = wakes;
        env.events.schedule({wakes, Wake::MUX, die, number, 0});
    }
}

// The units of the die are idle as long as the reader is at work: its requests are the only ones.
bool Channel::reader_alone(const Agent& agent) const {
    return agent.owner == READER && !agent.suspended && agent.mux_wakes == kNever && !agent.unit_request.valid;
}

// At the begin of an operation: its end gives its unit's next request, and nothing can change that in between.
bool Channel::known_ahead(const Agent& agent, uint8_t bits) const {
    if (!agent.of_reader) return agent.owner == PROGRAMMER && agent.programming == Programming::PAGE_ADDRESS;
    if (!reader_alone(agent)) return false;
    const ReadSets& sets = agent.sets;
    switch (agent.reading) {
        case Reading::WAIT:
            return !(bits & RDY) || agent.cached;
        case Reading::DATA_OUT:
            return sets.marked || sets.sensed;
        case Reading::PAGE_ADDRESS:
        case Reading::NEXT_PAGE:
        case Reading::SELECT:
        case Reading::END:
            return true;
        default:
            return false;
    }
}

// `RequestMux`: the sources alternate, unless the next operation must have the same source or the reader's is urgent.
void Channel::mux(Environment& env, uint8_t die, Time now) {
    Agent& agent = agents_[die];
    if (now != agent.mux_wakes) return;
    agent.mux_wakes = kNever;
    if (agent.operating) return;
    Time later = kNever;
    const auto seen = [&](const Request& request) {
        if (!request.valid) return false;
        if (request.at + 1 > now) later = std::min(later, request.at + 1);
        return request.at + 1 <= now;
    };
    bool unit = seen(agent.unit_request), reader = seen(agent.reader_request);
    const bool lock = agent.of_reader ? agent.reader_lock : agent.programmer_lock;
    const bool urgent = agent.urgent && !agent.unit_request.of_poller;
    if (agent.of_reader) {
        unit = unit && !lock && !(reader && urgent);
        reader = reader && !unit;
    } else {
        reader = reader && !lock;
        unit = unit && !reader;
    }
    const bool changes = agent.of_reader ? unit : reader;
    if ((unit || reader) && changes && now < agent.source_may_change) {
        later = std::min(later, agent.source_may_change);
        unit = reader = false;
    }
    if (!unit && !reader) {
        if (later != kNever) {
            agent.mux_wakes = later;
            env.events.schedule({later, Wake::MUX, die, number, 0});
        }
        return;
    }
    accept_request(env, die, reader, now);
}

// The request goes to the bus at `at`.
void Channel::accept_request(Environment& env, uint8_t die, bool reader, Time at) {
    Agent& agent = agents_[die];
    agent.of_reader = reader;
    agent.operating = true;
    Request& accepted = reader ? agent.reader_request : agent.unit_request;
    agent.bus_request = accepted;
    agent.bus_request.at = at + 2;
    requesting_ |= static_cast<uint16_t>(1u << die);
    accepted.valid = false;
    if (reader && gives_page(accepted.op)) {  // the read is not needed any more
        agent.sets.pages.pop();
        --agent.sets.marked;
        --agent.sets.sensed;
        agent.sets.room_from = at;
        if (!agent.queue.empty()) want_die(env, die, at + 2);
    }
    want_bus(env, bus_of(env.parameters, agent.bus_request.op), may_choose(die));
}

// The operation of `die` ended a cycle ago: its source goes on.
void Channel::operation_done(Environment& env, uint8_t die, uint32_t argument, Time now) {
    Agent& agent = agents_[die];
    const uint8_t bits = static_cast<uint8_t>(argument >> 8);
    const bool of_poller = argument >> 16 & 1;
    agent.operating = false;
    agent.mux_idle = now + 1;
    agent.source_may_change = now + 1 + env.parameters.twb;
    if (agent.of_reader) {
        reader_done(env, die, bits, now);
    } else if (of_poller) {
        polled(env, die, bits, now);
    } else if (agent.owner == PROGRAMMER) {
        programmer_done(env, die, now);
    } else if (agent.owner == ERASER) {
        eraser_done(env, die, now);
    } else {
        updater_done(env, die, now);
    }
    if (!agent.operating && (agent.unit_request.valid || agent.reader_request.valid)) {
        const Time unit = agent.unit_request.valid ? agent.unit_request.at : kNever - 1;
        const Time reader = agent.reader_request.valid ? agent.reader_request.at : kNever - 1;
        const Time wakes = std::max(now, std::min(unit, reader)) + 1;
        if (wakes < agent.mux_wakes) {
            agent.mux_wakes = wakes;
            env.events.schedule({wakes, Wake::MUX, die, number, 0});
        }
    }
}

}  // namespace flashtrain
