// The sets of a reader: consecutive reads of one page of a zone, with ascending planes, are sensed together.

#include <algorithm>

#include "channel.h"

namespace flashtrain {

namespace {
// From a read at the queue's output to its acceptance; from one to the next; from one until its set can be taken.
constexpr Time kAccept = 2, kAcceptInterval = 4, kTakeable = 2;

// The reads of two sets at most are known.
bool full(const Environment& env, const ReadSets& sets, Time now) {
    return sets.pages.size() + (now < sets.room_from) >= static_cast<size_t>(2 * env.parameters.planes);
}

}  // namespace

// The read belongs to the next set.
bool Channel::extends(const Agent& agent, const ReadPage& page) const {
    const ReadSets& sets = agent.sets;
    return !page.statistics && !sets.statistics && page.zone == sets.zone && page.page == sets.page &&
           page.plane > sets.plane;
}

// The next set may be taken: no read can join it, or none has come for a while.
bool Channel::complete(const Environment& env, const Agent& agent, Time now) const {
    const ReadSets& sets = agent.sets;
    if (!sets.waiting || now < sets.accepted + kTakeable) return false;
    if (sets.statistics || sets.plane == env.parameters.planes - 1) return true;
    if (full(env, sets, now)) return true;
    if (!agent.queue.empty() && agent.queue[0].at < now) {
        const bool compared = now >= std::max(agent.queue[0].at + kAccept, sets.accepted + kAcceptInterval);
        return compared && !extends(agent, agent.queue[0]);
    }
    return now > sets.accepted + static_cast<Time>(env.parameters.gather) + 1;
}

bool Channel::sequential(const Agent& agent) const {
    return agent.sets.next_page && agent.sets.planes == agent.sets.planes_before;
}

void Channel::take_set(Agent& agent) { agent.sets.waiting = false; }

void Channel::sense_set(Agent& agent) { agent.sets.sensed = static_cast<uint32_t>(agent.sets.pages.size()); }

// Wake the reader when the next set can be taken, if no read completes it before.
void Channel::await_set(Environment& env, uint8_t die, Time now) {
    const ReadSets& sets = agents_[die].sets;
    const bool whole = sets.statistics || sets.plane == env.parameters.planes - 1 ||
                       full(env, sets, now);
    const Time at = sets.accepted + (whole ? kTakeable : static_cast<Time>(env.parameters.gather) + 2);
    if (at > now) want_die(env, die, at);
}

// Take reads from the die's queue into the next set.
void Channel::gather(Environment& env, uint8_t die, Time now) {
    Agent& agent = agents_[die];
    ReadSets& sets = agent.sets;
    if (agent.queue.empty()) return;
    const Time accepts = std::max(agent.queue[0].at + kAccept, sets.may_accept);
    if (now < accepts) return want_die(env, die, accepts);
    const bool stepping = !sets.waiting && sets.sensed < sets.pages.size();
    if (stepping) return;
    if (full(env, sets, now)) {
        if (now < sets.room_from) want_die(env, die, sets.room_from + 2);
        return;
    }
    const ReadPage page = agent.queue[0];
    if (sets.waiting && (!extends(agent, page) || complete(env, agent, now))) return;
    agent.queue.pop();
    if (!sets.waiting) {
        sets.next_page = !page.statistics && !sets.statistics && page.zone == sets.zone && page.page == sets.page + 1;
        sets.planes_before = sets.planes;
        sets.planes = 0;
    }
    sets.several = sets.waiting;
    sets.waiting = true;
    sets.planes |= 1u << page.plane;
    sets.zone = page.zone;
    sets.page = page.page;
    sets.plane = page.plane;
    sets.statistics = page.statistics;
    sets.pages.push(page);
    sets.accepted = now;
    sets.may_accept = now + kAcceptInterval;
    if (!agent.queue.empty() && !full(env, sets, now)) {
        want_die(env, die, std::max(agent.queue[0].at + kAccept, sets.may_accept));
    }
    if (agent.reading == Reading::IDLE || agent.reading == Reading::LOOK_AHEAD) await_set(env, die, now);
    if (lookup_waits_ && lookup_.die == die) resume_lookup(env, now);
}

}  // namespace flashtrain
