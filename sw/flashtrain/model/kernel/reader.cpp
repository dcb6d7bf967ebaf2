// The reader: senses one page set after the other, each during the output of the one before it.

#include <algorithm>

#include "channel.h"

namespace flashtrain {

namespace {

// From the command of a read to the request of the status of a die that is ready after `busy`.
Time wait_to_poll(const Parameters& p, int64_t busy) {
    return static_cast<Time>(std::max<int64_t>(busy - p.status_lead, 1));
}

}  // namespace

// A suspended read may begin beside the work of the die's owner.
bool Channel::suspendable(const Agent& agent) const {
    return (agent.owner == PROGRAMMER && agent.programming != Programming::IDLE) ||
           (agent.owner == ERASER && agent.erasing != Erasing::IDLE);
}

// Programs go first: while a page set waits for the array, one set of several pages is read for each one programmed, or
// with a backlog the pages of a run. An erase has no such limit: no page set can be programmed before its end.
bool Channel::defer_sets(const Environment& env, const Agent& agent) const {
    const Parameters& p = env.parameters;
    const bool waits = agent.owner == PROGRAMMER && agent.offered != kNone8 &&
                       sets_[agent.offered].kind == PageKind::DATA;
    const bool backlog = agent.queue.size() >= static_cast<size_t>(p.read_queue / 2);
    return waits && (agent.pages_read >= p.read_run * p.planes || (agent.pages_read && !backlog));
}

// Begin a set, or go on where the next one is waited for.
void Channel::read(Environment& env, uint8_t die, Time now) {
    Agent& agent = agents_[die];
    if (agent.reading == Reading::LOOK_AHEAD) return look_ahead(env, die, now);
    if (agent.reading != Reading::IDLE || now < agent.reader_from) return;
    if (!complete(env, agent, now)) {
        if (agent.sets.waiting) await_set(env, die, now);
        return;
    }
    if (may_begin(env, agent, READER, now)) {
        ++agent.begun;
        take_set(agent);
        agent.suspended = agent.cached = false;
        if (agent.sets.statistics) {
            sense_set(agent);
            agent.sets.marked = agent.sets.sensed;
            return select_page(env, die, now + 3);
        }
        return address_page(env, die, now + 1);
    }
    if (!suspendable(agent) || agent.sets.statistics || (agent.sets.several && defer_sets(env, agent))) return;
    take_set(agent);
    const bool next_page = agent.suspended && sequential(agent);
    agent.suspended = true;
    agent.cached = false;
    if (!next_page) return address_page(env, die, now + 1);
    sense_set(agent);
    agent.reading = Reading::NEXT_PAGE;
    agent.urgent = true;
    request(env, die, true, BusOp::SUSPENDED_READ_NEXT, 0, now + 1);
}

void Channel::address_page(Environment& env, uint8_t die, Time at) {
    Agent& agent = agents_[die];
    agent.reading = Reading::PAGE_ADDRESS;
    agent.urgent = true;
    const bool last = agent.sets.sensed + 1 == agent.sets.pages.size();
    BusOp op = last ? BusOp::READ_LAST : BusOp::READ_MORE;
    if (agent.suspended) op = last ? BusOp::SUSPENDED_READ_LAST : BusOp::SUSPENDED_READ_MORE;
    if (agent.cached && last) op = BusOp::CACHE_READ_LAST;
    request(env, die, true, op, agent.sets.pages[agent.sets.sensed].plane, at);
}

// The command of the sense ended at `now`.
void Channel::start_sense(Environment& env, uint8_t die, Time now) {
    const Parameters& p = env.parameters;
    Agent& agent = agents_[die];
    ++counts[SENSES];
    agent.reading = Reading::WAIT;
    agent.urgent = true;
    const uint32_t planes = agent.sets.planes;
    Time wait = wait_to_poll(p, p.twb + p.tr);
    if (agent.suspended) {
        const bool idle = agent.array_predicted <= now;
        if (!idle) wait = static_cast<Time>(p.tsusp + p.tr + (agent.reader_timer > now ? p.tadv : 0));
        agent.registers_held = true;
        if (agent.pages_read < p.read_run * p.planes) {
            agent.pages_read += static_cast<int>(agent.sets.sensed - agent.sets.marked);
        }
        suspend(env, die, planes, now);
        prolong(env, die, now);
    } else if (agent.cached) {
        wait = wait_to_poll(p, p.twb + p.tcbsy);
        command(env, die, BusOp::CACHE_READ_NEXT, planes, now);
    } else {
        command(env, die, BusOp::READ_LAST, planes, now);
    }
    agent.reader_timer = now + wait + 1;
    request_status(env, die);
    if (now <= env.events.now()) return gather(env, die, now + 1);
    agent.sets.may_accept = std::max(agent.sets.may_accept, now + 1);
    if (!agent.queue.empty()) want_die(env, die, now + 1);
}

// A poll when the timer has ended and, but for a suspended read, R/B# is high. A look at the line takes a cycle.
void Channel::request_status(Environment& env, uint8_t die) {
    const Agent& agent = agents_[die];
    Time at = agent.reader_timer;
    if (env.parameters.ready_line) at = (agent.suspended ? at : line_allows(env, die, at)) + 1;
    request(env, die, true, BusOp::STATUS, 0, at);
}

// The set is in the data registers: output it, and sense the next one meanwhile if there is one.
void Channel::look_ahead(Environment& env, uint8_t die, Time now) {
    Agent& agent = agents_[die];
    if (now < agent.reader_from) return;
    agent.sets.marked = agent.sets.sensed;
    const bool granted = may_begin(env, agent, READER, now);
    const bool is_complete = complete(env, agent, now);
    if (granted && is_complete && !agent.sets.statistics) {
        ++agent.begun;
        take_set(agent);
        agent.cached = true;
        if (!sequential(agent)) return address_page(env, die, now + 1);
        sense_set(agent);
        agent.reading = Reading::NEXT_PAGE;
        agent.urgent = true;
        return request(env, die, true, BusOp::CACHE_READ_NEXT, 0, now + 1);
    }
    const bool queued = !agent.queue.empty() && agent.queue[0].at <= now + 1;
    const bool none = !agent.sets.waiting && !queued &&
                      now > agent.sets.accepted + static_cast<Time>(env.parameters.gather) + 1;
    if (granted && !none && !(is_complete && agent.sets.statistics)) {
        return await_set(env, die, now);  // a read comes, or completes the set
    }
    if (!agent.cached) return select_page(env, die, now + 1);
    agent.reading = Reading::END;
    agent.urgent = true;
    request(env, die, true, BusOp::CACHE_READ_END, 0, now + 1);
}

void Channel::select_page(Environment& env, uint8_t die, Time at) {
    Agent& agent = agents_[die];
    agent.reading = Reading::SELECT;
    agent.urgent = false;
    const ReadPage& page = agent.sets.pages[0];
    const BusOp op = page.statistics   ? BusOp::SELECT_STATISTICS
                     : agent.suspended ? BusOp::SUSPENDED_READ_SELECT
                                       : BusOp::SELECT;
    request(env, die, true, op, page.plane, at);
}

// An operation of the reader ended; `bits` is the status, if it was one.
void Channel::reader_done(Environment& env, uint8_t die, uint8_t bits, Time now) {
    const Parameters& p = env.parameters;
    Agent& agent = agents_[die];
    ReadSets& sets = agent.sets;
    agent.reader_lock = false;
    switch (agent.reading) {
        case Reading::PAGE_ADDRESS:
            if (++sets.sensed == sets.pages.size()) return start_sense(env, die, now);
            agent.reader_lock = true;
            return address_page(env, die, now + 1 + (agent.suspended ? 0 : static_cast<Time>(p.twb + p.tdbsy)));
        case Reading::NEXT_PAGE:
            return start_sense(env, die, now);
        case Reading::WAIT:
            if (!(bits & (agent.suspended ? SUSPENDED_READ_DONE : RDY))) {
                return request(env, die, true, BusOp::STATUS, 0, now + 1 + static_cast<Time>(p.poll_sense));
            }
            if (agent.suspended) sets.marked = sets.sensed;
            if (agent.suspended || agent.cached) return select_page(env, die, now + (agent.suspended ? 2 : 1));
            agent.reading = Reading::LOOK_AHEAD;
            agent.urgent = false;
            agent.reader_from = now + 1;
            look_ahead(env, die, now + 1);
            if (agent.reading == Reading::LOOK_AHEAD) {
                const Time gathered = sets.accepted + static_cast<Time>(p.gather) + 2;
                env.events.schedule({std::max(gathered, now + 2), Wake::AGENT, die, number, 0});
            }
            return;
        case Reading::SELECT:
            agent.reading = Reading::DATA_OUT;
            agent.reader_lock = true;
            return request(env, die, true, BusOp::DATA_OUT, sets.pages[0].plane, now + 1 + p.column_change, false,
                           sets.pages[0].token);
        case Reading::DATA_OUT:
            ++counts[PAGES_SENSED];
            if (sets.marked) return select_page(env, die, now + 1);
            if (agent.suspended) {
                agent.renew = complete(env, agent, now) && !sets.statistics && sequential(agent) && suspendable(agent) &&
                              agent.array_predicted > now && !(sets.several && defer_sets(env, agent));
                if (agent.renew) {
                    take_set(agent);
                    sense_set(agent);
                }
                agent.reading = Reading::END;
                agent.urgent = true;
                return request(env, die, true,
                               agent.renew ? BusOp::SUSPENDED_READ_RENEW : BusOp::SUSPENDED_READ_END, 0, now + 1);
            }
            agent.reader_from = now + 1;
            agent.reading = sets.sensed ? Reading::LOOK_AHEAD : Reading::IDLE;
            if (sets.sensed || sets.waiting || !agent.queue.empty() || wanted(agent)) want_die(env, die, now + 1);
            return;
        case Reading::END:
            if (!agent.suspended) {
                agent.reading = Reading::WAIT;
                agent.reader_timer = now + wait_to_poll(p, p.twb + p.tcbsy) + 1;
                command(env, die, BusOp::CACHE_READ_END, 0, now);
                return request_status(env, die);
            }
            agent.reader_timer = agent.program_delayed ? now + static_cast<Time>(p.tadv) : 0;
            agent.registers_held = false;
            agent.die.holds = false;
            // The renewal's first command frees the data registers.
            agent.die.released = now + 1 - (agent.renew ? static_cast<Time>(p.twc) : 0);
            settle(env, die, now + 1);
            if (agent.renew) {
                // In the cycle of RENEWED the registers are free: a poll that waits for them is requested.
                if (agent.poll_waits && !agent.deferred) request_poll(env, die, now + 1);
                return start_sense(env, die, now + 1);
            }
            resume_poll(env, die, now);
            agent.reading = Reading::IDLE;
            agent.urgent = false;
            agent.reader_from = now + 1;
            want_die(env, die, now + 1);
            return;
        default:
            return;
    }
}

}  // namespace flashtrain
