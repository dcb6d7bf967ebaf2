// The eraser: the blocks of a zone on all planes of a die.

#include "channel.h"
#include "front_end.h"

namespace flashtrain {

void Channel::start_erase(Environment& env, uint8_t die, Time now) {
    Agent& agent = agents_[die];
    if (agent.erasing != Erasing::IDLE || !agent.erase_requested || !may_begin(env, agent, ERASER, now)) return;
    ++agent.begun;
    agent.erasing = Erasing::BLOCK_ADDRESS;
    agent.erase_plane = 0;
    const bool last = env.parameters.planes == 1;
    request(env, die, false, last ? BusOp::ERASE_LAST : BusOp::ERASE_MORE, 0, now + 1);
}

void Channel::eraser_done(Environment& env, uint8_t die, Time now) {
    const Parameters& p = env.parameters;
    Agent& agent = agents_[die];
    const int last = p.planes - 1;
    if (agent.erase_plane == last) {
        command(env, die, BusOp::ERASE_LAST, (2u << last) - 1, now);
        agent.erasing = Erasing::ARRAY_BUSY;
        start_poller(env, die, Work::ERASE, now);
        return kick(env, die, now + 1);  // reads may suspend it
    }
    ++agent.erase_plane;
    request(env, die, false, agent.erase_plane == last ? BusOp::ERASE_LAST : BusOp::ERASE_MORE, agent.erase_plane,
            now + p.twb + p.tdbsy + 1);
}

void Channel::erased(Environment& env, uint8_t die, Time now) {
    Agent& agent = agents_[die];
    ++counts[ERASES];
    agent.erasing = Erasing::IDLE;
    agent.erase_requested = false;
    if (--erases_left_ == 0) env.front_end->erased(number, now + 2);
    kick(env, die, now + 2);
}

}  // namespace flashtrain
