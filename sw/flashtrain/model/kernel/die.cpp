// The die: what its array does with the commands that reach it.

#include <algorithm>

#include "channel.h"

namespace flashtrain {

// Start the cache program that waits, if array and data registers are free by now.
void Channel::settle(Environment& env, uint8_t number, Time now) {
    Die& die = agents_[number].die;
    if (!die.waits || die.holds) return;
    const Time start = std::max({die.waits_since, die.array_free, die.released});
    if (start > now) return;
    die.waits = false;
    start_array(env, number, ArrayOp::PROGRAM, start, env.parameters.tprog, die.waits_planes);
    die.ready = std::max<Time>(start + 1, die.waits_since + env.parameters.tcbsy);
}

void Channel::start_array(Environment& env, uint8_t number, ArrayOp op, Time at, Time cycles, uint32_t planes) {
    Die& die = agents_[number].die;
    if (env.trace.on && die.active.valid) {
        env.trace.add(die.active.start, die.array_free - 1, static_cast<uint16_t>(die.active.op), this->number, number,
                      static_cast<uint16_t>(die.active.planes));
    }
    die.active = {true, op, at, planes};
    die.array_free = at + cycles;
    die.advanced = at + env.parameters.tadv;
}

// The command whose last cycle is at `now` starts an operation of the die.
void Channel::command(Environment& env, uint8_t number, BusOp op, uint32_t planes, Time now) {
    const Parameters& p = env.parameters;
    Die& die = agents_[number].die;
    settle(env, number, now);
    const Time start = std::max<Time>(now + 1, die.array_free);
    switch (op) {
        case BusOp::READ_LAST:
            start_array(env, number, ArrayOp::SENSE, start, p.tr, planes);
            die.ready = die.array_free + 1;
            break;
        case BusOp::CACHE_READ_LAST:
        case BusOp::CACHE_READ_NEXT:
            start_array(env, number, ArrayOp::SENSE, start, p.tr, planes);
            die.ready = std::max<Time>(start + 1, now + p.tcbsy);
            break;
        case BusOp::CACHE_READ_END:
            die.ready = std::max<Time>(die.array_free + 1, now + p.tcbsy);
            break;
        case BusOp::PROGRAM_LAST:
            die.waits = true;
            die.waits_since = now + 1;
            die.waits_planes = planes;
            die.ready = kNever;
            settle(env, number, now + 1);
            break;
        case BusOp::ERASE_LAST:
            start_array(env, number, ArrayOp::ERASE, start, p.tbers, planes);
            die.ready = die.array_free + 1;
            break;
        case BusOp::UPDATE_LAST:
            start_array(env, number, ArrayOp::SENSE, start, p.tr, planes);
            die.update_sense_end = die.array_free;
            if (die.holds_tile) start_array(env, number, ArrayOp::PROGRAM, die.array_free, p.tprog, planes);
            die.holds_tile = true;
            die.ready = die.update_sense_end + die.update_compute;
            break;
        case BusOp::UPDATE_END:
            if (die.holds_tile) start_array(env, number, ArrayOp::PROGRAM, start, p.tprog, planes);
            die.holds_tile = false;
            die.ready = start + 1;
            break;
        default:
            break;
    }
}

// A suspended read whose command ends at `now`: its set is in the data registers at the time that is returned.
Time Channel::suspend(Environment& env, uint8_t number, uint32_t planes, Time now) {
    const Parameters& p = env.parameters;
    Die& die = agents_[number].die;
    settle(env, number, now);
    die.holds = true;
    Time start = now + 2;
    if (die.array_free <= start) {  // the array is idle
        start_array(env, number, ArrayOp::SENSE, start, p.tr, planes);
        return die.sensed = die.array_free;
    }
    start = std::max(start, die.advanced);
    if (start >= die.array_free) {
        start_array(env, number, ArrayOp::SENSE, die.array_free, p.tr, planes);
        return die.sensed = die.array_free;
    }
    die.sensed = start + p.tsusp + p.tr;
    env.trace.add(start + p.tsusp, die.sensed - 1, static_cast<uint16_t>(ArrayOp::SENSE), this->number, number,
                  static_cast<uint16_t>(planes));
    const Time resumed = die.sensed + p.tres;
    die.array_free += resumed - start;
    if (die.active.op == ArrayOp::ERASE) die.ready += resumed - start;
    die.advanced = resumed + p.tadv;
    return die.sensed;
}

// The status that a die samples at `now`.
uint8_t Channel::status(Environment& env, uint8_t number, Time now) {
    settle(env, number, now);
    const Die& die = agents_[number].die;
    uint8_t bits = 0;
    if (!die.waits && die.ready <= now) bits |= RDY;
    if ((bits & RDY) && die.array_free <= now && !(die.holds && die.sensed > now)) bits |= ARDY;
    if (die.holds && die.sensed <= now) bits |= SUSPENDED_READ_DONE;
    return bits;
}

// Record the operations of the arrays that have ended.
void Channel::finish_records(Environment& env) {
    const Time now = env.events.now();
    for (uint8_t number = 0; number < agents_.size(); ++number) {
        settle(env, number, now);
        Die& die = agents_[number].die;
        if (!die.active.valid || die.array_free > now) continue;
        env.trace.add(die.active.start, die.array_free - 1, static_cast<uint16_t>(die.active.op), this->number, number,
                      static_cast<uint16_t>(die.active.planes));
        die.active.valid = false;
    }
}

}  // namespace flashtrain
