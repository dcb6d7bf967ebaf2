// The tile updater: gradients to the die, updates, copies back, and each tile's own status.

#include <algorithm>

#include "channel.h"
#include "front_end.h"

namespace flashtrain {

// Begin with a set of gradients or constants, or end the sequence when the array is idle.
void Channel::update(Environment& env, uint8_t die, Time now) {
    Agent& agent = agents_[die];
    if (now < agent.updater_from) return;
    const bool wants = requests(agent, UPDATER, now);
    const bool gradients = wants && sets_[agent.offered].kind == PageKind::GRADIENTS;
    switch (agent.updating) {
        case Updating::IDLE:
            if (wants && may_begin(env, agent, UPDATER, now)) load_gradients(env, die, now + 1);
            return;
        case Updating::COMPUTE:
            if (gradients && !agent.loaded && !agent.poll_started && may_begin(env, agent, UPDATER, now)) {
                load_gradients(env, die, now + 1);
            }
            return;
        case Updating::LOOK_AHEAD:
            if (agent.loaded) {
                agent.updating = Updating::SOURCE_ADDRESS;
                agent.update_plane = 0;
                return request(env, die, false, BusOp::UPDATE_SOURCE, 0, now + 1);
            }
            if (gradients && may_begin(env, agent, UPDATER, now)) return load_gradients(env, die, now + 1);
            if (!may_begin(env, agent, UPDATER, now) || wants || agent.array_predicted + 1 <= now) {
                agent.updating = Updating::END;
                return request(env, die, false, BusOp::UPDATE_END, 0, now + 1);
            }
            env.events.schedule({agent.array_predicted + 1, Wake::AGENT, die, number, 0});
            return;
        case Updating::ARRAY_BUSY:
            if (agent.array_predicted + 1 > now) {
                env.events.schedule({agent.array_predicted + 1, Wake::AGENT, die, number, 0});
                return;
            }
            agent.updating = Updating::LAST_PROGRAM;
            return start_poller(env, die, Work::LAST_PROGRAM, now);
        default:
            return;
    }
}

void Channel::load_gradients(Environment& env, uint8_t die, Time at) {
    Agent& agent = agents_[die];
    const PageSet& set = sets_[agent.offered];
    ++agent.begun;
    agent.updating = Updating::LOAD;
    agent.deferred = true;
    agent.constants = set.kind == PageKind::CONSTANTS;
    agent.update_plane = 0;
    request(env, die, false, agent.constants ? BusOp::LOAD_CONSTANTS : BusOp::LOAD_GRADIENT, 0, at);
}

void Channel::updater_done(Environment& env, uint8_t die, Time now) {
    const Parameters& p = env.parameters;
    Agent& agent = agents_[die];
    const int last_plane = p.planes - 1;
    switch (agent.updating) {
        case Updating::LOAD: {
            if (agent.update_plane++ != sets_[agent.offered].last) {
                return request(env, die, false, BusOp::LOAD_GRADIENT, agent.update_plane, now + 1);
            }
            agent.update_plane = 0;
            if (agent.constants) {
                agent.update_slot = agent.offered;
                set_taken(env, die, now + 1);
                return free_slot(env, die, now + 2);
            }
            if (agent.computing) {
                agent.loaded = true;
                agent.updating = Updating::COMPUTE;
                agent.deferred = false;
                return resume_poll(env, die, now);
            }
            agent.deferred = false;
            agent.updating = Updating::SOURCE_ADDRESS;
            return request(env, die, false, BusOp::UPDATE_SOURCE, 0, now + 1);
        }
        case Updating::SOURCE_ADDRESS:
            agent.updating = Updating::TARGET_ADDRESS;
            return request(env, die, false, agent.update_plane == last_plane ? BusOp::UPDATE_LAST : BusOp::UPDATE_MORE,
                           agent.update_plane, now + 1);
        case Updating::TARGET_ADDRESS: {
            ++counts[PAGES_PROGRAMMED];
            if (agent.update_plane != last_plane) {
                ++agent.update_plane;
                agent.updating = Updating::SOURCE_ADDRESS;
                return request(env, die, false, BusOp::UPDATE_SOURCE, agent.update_plane, now + p.twb + p.tdbsy + 1);
            }
            ++counts[PROGRAMS];
            ++counts[SENSES];
            const PageSet& set = sets_[agent.offered];
            agent.die.update_compute = set.compute;
            command(env, die, BusOp::UPDATE_LAST, (2u << last_plane) - 1, now);
            // CONFIRMED, tWB later: the set is taken.
            const Time confirmed = now + static_cast<Time>(p.twb) + 1;
            agent.last_page = set.last;
            agent.update_copies = set.copies;
            agent.update_slot = agent.offered;
            start_poller(env, die, agent.computed_valid ? Work::UPDATE : Work::FIRST_UPDATE, confirmed);
            agent.judged_valid = agent.programming_valid;
            agent.tile_judged = agent.tile_programming;
            agent.programming_valid = agent.computed_valid;
            agent.tile_programming = agent.tile_computed;
            agent.computed_valid = true;
            agent.tile_computed = set.tags[set.last];
            agent.computing = true;
            agent.loaded = false;
            agent.update_plane = 0;
            set_taken(env, die, confirmed);
            if (!agent.update_copies) return free_slot(env, die, confirmed + 1);
            agent.updating = Updating::COMPUTE;
            agent.updater_from = confirmed + 1;
            return want_die(env, die, confirmed + 1);
        }
        case Updating::SELECT:
            agent.updating = Updating::OUTPUT;
            return request(env, die, false, BusOp::DATA_OUT, agent.update_plane, now + p.column_change + 1, false,
                           sets_[agent.update_slot].tags[agent.update_plane]);
        case Updating::OUTPUT:
            ++counts[PAGES_SENSED];
            if (++agent.update_plane != agent.update_copies) {
                agent.updating = Updating::SELECT;
                return request(env, die, false, BusOp::SELECT_COPY, agent.update_plane, now + 1);
            }
            agent.update_plane = 0;
            return free_slot(env, die, now + 1);
        case Updating::END:
            command(env, die, BusOp::UPDATE_END, (2u << last_plane) - 1, now);
            agent.judged_valid = agent.programming_valid;
            agent.tile_judged = agent.tile_programming;
            agent.programming_valid = agent.computed_valid;
            agent.tile_programming = agent.tile_computed;
            agent.computed_valid = false;
            agent.updating = Updating::END_WAIT;
            return start_poller(env, die, Work::END_UPDATE, now);
        default:
            return;
    }
}

// The poller found the die ready at `now`.
void Channel::updater_ready(Environment& env, uint8_t die, Time now) {
    Agent& agent = agents_[die];
    report_tile(env, die, now + 1);
    switch (agent.updating) {
        case Updating::COMPUTE:
            agent.computing = false;
            if (agent.update_copies && agent.update_slot != kNone8) {
                agent.updating = Updating::SELECT;
                return request(env, die, false, BusOp::SELECT_COPY, 0, now + 2);
            }
            agent.updating = Updating::LOOK_AHEAD;
            break;
        case Updating::END_WAIT:
            agent.updating = Updating::ARRAY_BUSY;
            break;
        default:  // LAST_PROGRAM
            agent.judged_valid = agent.programming_valid;
            agent.tile_judged = agent.tile_programming;
            agent.programming_valid = false;
            report_tile(env, die, now + 2);
            agent.updating = Updating::IDLE;
            break;
    }
    agent.updater_from = now + 2;
    want_die(env, die, now + 2);
}

// The tile whose status came last goes to the results.
void Channel::report_tile(Environment& env, uint8_t die, Time now) {
    Agent& agent = agents_[die];
    if (!agent.judged_valid) return;
    agent.judged_valid = false;
    env.front_end->track(agent.tile_judged, now + 2 + static_cast<Time>(env.parameters.report_page));
}

// FREE_SLOT: the set's gradients are in use and its copies output.
void Channel::free_slot(Environment& env, uint8_t die, Time now) {
    Agent& agent = agents_[die];
    report_set(env, agent.update_slot, now);
    agent.update_slot = kNone8;
    agent.deferred = false;
    agent.updating = agent.computing        ? Updating::COMPUTE
                     : agent.computed_valid ? Updating::LOOK_AHEAD
                                            : Updating::IDLE;
    agent.updater_from = now + 1;
    resume_poll(env, die, now);
    want_die(env, die, now + 1);
}

}  // namespace flashtrain
