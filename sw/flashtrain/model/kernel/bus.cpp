// The bus: arbitration between the dies' requests, and the cycles of an operation.
//
// With SCA commands, addresses and status have a bus of their own, and an operation needs the bus of its kind. Pages are
// then in split_bus.cpp.

#include <algorithm>
#include <utility>

#include "channel.h"

namespace flashtrain {

namespace {

enum : uint16_t { COMMAND = 10, DATA_IN = 11, DATA_OUT = 12, STATUS = 13 };

// From a choice of the arbiter to the first cycle of the operation is granted, and from there to the pins.
constexpr Time kGrant = 2, kPins = 2;
// A turnaround overlaps the cycles from the last beat to a choice, and from there to the pins (`Turnaround`).
constexpr Time kOverlap = 7;

}  // namespace

Channel::BusKind Channel::bus_of(const Parameters& p, BusOp op) { return p.sca && moves_page(op) ? DATA : COMMANDS; }

// Choose at `at` or as soon after it as the bus allows.
void Channel::want_bus(Environment& env, BusKind kind, Time at) {
    Bus& bus = buses_[kind];
    if (bus.idle) at = std::max(at, bus.idle - 1);
    if (at >= bus.wakes) return;
    if (bus.event != Events::kNone) env.events.cancel(bus.event);
    bus.wakes = at;
    bus.event = env.events.schedule({at, Wake::BUS, 0, number, kind});
}

// There is room for a page from a die.
void Channel::room_found(Environment& env, Time at) {
    if (no_room_) want_bus(env, env.parameters.sca ? DATA : COMMANDS, at);
}

// The request of `die` cannot be chosen before this time.
Time Channel::may_choose(uint8_t die) const {
    const Request& request = agents_[die].bus_request;
    const Time at = std::max(request.at, blocked_[die]);
    return gives_page(request.op) ? std::max(at, fill_free_) : at;
}

// The dies that request an operation, from the one after `last` on.
template <typename Visit>
void Channel::for_requests(uint8_t last, const Visit& visit) const {
    const uint32_t behind = requesting_ & ~((2u << last) - 1);
    for (uint32_t bits = behind; bits; bits &= bits - 1) visit(static_cast<uint8_t>(__builtin_ctz(bits)));
    for (uint32_t bits = requesting_ ^ behind; bits; bits &= bits - 1) visit(static_cast<uint8_t>(__builtin_ctz(bits)));
}

// `BusArbiter`: short operations first, in turn within each class.
void Channel::choose(Environment& env, BusKind kind, Time now) {
    Bus& bus = buses_[kind];
    if (now != bus.wakes) return;
    bus.wakes = kNever;
    bus.event = Events::kNone;
    if (now + 1 < bus.idle) return want_bus(env, kind, bus.idle - 1);
    if (kind == DATA && page_moves_) return end_page(env, now);
    uint8_t short_choice = kNone8, page_choice = kNone8;
    bool any_short = false;
    Time later = kNever;
    const bool pages = kind == DATA || !env.parameters.sca;
    if (pages) no_room_ = false;
    free_pages(now);
    if (copy_waits_ && free_pages_) try_copy(env, now);  // it waits for longer
    const auto consider_short = [&](uint8_t die) {
        const Request& request = agents_[die].bus_request;
        if (moves_page(request.op)) return;
        const Time at = may_choose(die);
        if (at > now) later = std::min(later, at);
        if (request.at > now) return;
        const bool blocked = blocked_[die] > now;
        any_short |= !(selects(request.op) && blocked);
        if (!blocked && short_choice == kNone8) short_choice = die;
    };
    const auto consider_page = [&](uint8_t die) {
        const Request& request = agents_[die].bus_request;
        if (!moves_page(request.op)) return;
        const Time at = may_choose(die);
        if (at > now) {
            later = std::min(later, at);
        } else if (gives_page(request.op) && !fill_room(env.parameters)) {
            no_room_ = true;
            if (!freeing_.empty()) later = std::min(later, freeing_[0]);
        } else if (page_choice == kNone8) {
            page_choice = die;
        }
    };
    if (kind == COMMANDS) for_requests(short_last_, consider_short);
    if (pages) for_requests(page_last_, consider_page);
    const uint8_t choice = any_short ? short_choice : page_choice;
    if (choice == kNone8) {
        if (later != kNever) want_bus(env, kind, later);
        return;
    }
    (any_short ? short_last_ : page_last_) = choice;
    if (kind == DATA) return start_page(env, choice, now);
    start_operation(env, choice, now + kGrant);
}

// The request of `die`, which has been granted.
Request Channel::take_request(uint8_t die) {
    Request& request = agents_[die].bus_request;
    const Request taken = request;
    request.valid = false;
    requesting_ &= static_cast<uint16_t>(~(1u << die));
    return taken;
}

// The operation of `die` is granted at `now`; `done` is its last cycle.
void Channel::start_operation(Environment& env, uint8_t die, Time now) {
    const Parameters& p = env.parameters;
    Agent& agent = agents_[die];
    const Request request = take_request(die);
    const bool confirms = request.op == BusOp::CONFIRM_DATA;
    const Time packets = static_cast<Time>(confirms ? 1 : p.op_cycles[static_cast<int>(request.op)]);
    const Time cycles = packets * static_cast<Time>(p.twc);
    if (p.sca) now = std::max(now + kPins, packets_free_) - kPins;
    const Time pins = now + kPins;
    const bool renews = request.op == BusOp::SUSPENDED_READ_RENEW;  // an end, and a command of its own
    const Time of_end = renews ? static_cast<Time>(p.twc) : 0;
    const auto detail = static_cast<uint16_t>(request.op);
    if (renews) env.trace.add(pins, pins + of_end - 1, COMMAND, number, die, detail);
    if (cycles) env.trace.add(pins + of_end, pins + cycles - 1, COMMAND, number, die, detail);
    counts[BUS_COMMAND] += cycles;
    Time done = now + cycles;
    Time idle = done + 1;
    uint8_t status_byte = 0;
    switch (request.op) {
        case BusOp::STATUS: {
            const Time header = p.sca ? static_cast<Time>(p.twc) / 3 : 0;  // of the packet that asks for it
            const Time sampled = pins + cycles + p.twhr + header - 1;
            env.trace.add(sampled, sampled, STATUS, number, die, 0);
            done = now + cycles + p.twhr + p.status_byte + p.status_answer;
            idle = done + 2;
            status_byte = status(env, die, sampled);
            break;
        }
        case BusOp::DATA_OUT: {
            env.trace.add(pins + 1, pins + p.bus_beats, DATA_OUT, number, die, request.plane);
            counts[BUS_DATA_OUT] += p.bus_beats;
            done = now + p.bus_beats + p.data_out_start;
            idle = done + 2;
            --free_pages_;
            fill_free_ = pins + static_cast<Time>(p.bus_beats + p.next_fill);
            page_filled(env, request.token, agent.updating == Updating::IDLE, pins + p.bus_beats);
            break;
        }
        case BusOp::PROGRAM_MORE:
        case BusOp::PROGRAM_LAST:
        case BusOp::LOAD_GRADIENT:
        case BusOp::LOAD_CONSTANTS: {
            const bool of_program = request.op == BusOp::PROGRAM_MORE || request.op == BusOp::PROGRAM_LAST;
            const Time beats = static_cast<Time>(of_program ? p.bus_beats : p.loaded_beats);
            const Time wait = of_program ? p.data_in_start : std::max<Time>(p.tadl - 1, p.data_in_start);
            env.trace.add(pins + cycles + wait, pins + cycles + wait + beats - 1, DATA_IN, number, die, request.plane);
            counts[BUS_DATA_IN] += beats;
            counts[BUS_COMMAND] += p.twc;
            const Time third = pins + cycles + wait + beats;
            env.trace.add(third, third + static_cast<Time>(p.twc) - 1, COMMAND, number, die, detail);
            done = now + cycles + wait + beats + static_cast<Time>(p.twc);
            idle = done + 1;
            break;
        }
        default:
            break;
    }
    if (idle == done + 2 && !p.sca) {  // data out: the turnaround begins with `done`
        for (uint8_t other = 0; other < agents_.size(); ++other) {
            const Time turnaround = static_cast<Time>(other == die ? p.trhw : p.tchz);
            blocked_[other] = done + 1 + (turnaround > kOverlap ? turnaround - kOverlap : 0);
        }
    }
    buses_[COMMANDS].idle = idle;
    const uint32_t answer = uint32_t{status_byte} << 8 | uint32_t{request.of_poller} << 16;
    if (p.sca) {
        const bool of_status = request.op == BusOp::STATUS;
        const Time last = pins + cycles + static_cast<Time>(p.twhr);
        packets_ = {die, of_status, pins, packets, last, of_status ? last + p.status_byte : pins + cycles, done};
        env.events.schedule({done + 1, Wake::OPERATION_DONE, die, number, answer});
    } else if (known_ahead(agent, status_byte)) {
        operation_done(env, die, answer, done + 1);
    } else {
        env.events.schedule({done + 1, Wake::OPERATION_DONE, die, number, answer});
    }
    want_next(env);
}

// Wake for the requests that wait.
void Channel::want_next(Environment& env) {
    Time next[] = {kNever, kNever};
    for_requests(0, [&](uint8_t waiting) {
        Time& first = next[bus_of(env.parameters, agents_[waiting].bus_request.op)];
        first = std::min(first, may_choose(waiting));
    });
    for (const BusKind kind : {COMMANDS, DATA}) {
        if (next[kind] != kNever) want_bus(env, kind, next[kind]);
    }
}

}  // namespace flashtrain
