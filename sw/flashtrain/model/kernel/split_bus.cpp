// With SCA: pages on the data bus, and their packets on the bus of commands.
//
// The packet DATA_BEGIN selects a die for its page, and DATA_END ends with its last beat. Both go before the packets of
// commands, of which none begins shortly before DATA_END while another page waits (`DataPart`, `PacketSender`).

#include <algorithm>

#include "channel.h"

namespace flashtrain {

namespace {

constexpr uint16_t kPageIn = 11, kPageOut = 12;  // kinds of records

// From a choice of the arbiter to DATA_BEGIN on the pins.
constexpr Time kBegin = 5;
// The first beat to a die comes so much later than one from a die would.
constexpr Time kBeatsOfBuffer = 4;

}  // namespace

// Beats of a page that pass beside DATA_END.
Time Channel::end_beats(const Parameters& p) {
    return std::min<Time>(static_cast<Time>(p.twc), static_cast<Time>(std::min(p.bus_beats, p.loaded_beats)) / 4);
}

// A packet of the data part begins at `at`, or behind the packet that passes then; returns when. No other packet begins
// from `held` on, and no status from `held_status` on.
Time Channel::send_packet(const Parameters& p, Time at, Time held, Time held_status) {
    const auto packet = static_cast<Time>(p.twc);
    Packets& op = packets_;
    Time begin = std::max(at, packets_free_);
    if (op.die != kNone8 && op.end > std::min(held, held_status)) {
        const Time of_commands = op.begin + op.count * packet;  // they end, and the status follows later
        const Time sent = held <= op.begin ? 0 : std::min(op.count, (held - op.begin + packet - 1) / packet);
        Time late = 0;
        if (sent < op.count) {
            const Time next = op.begin + sent * packet;
            if (sent) begin = std::max(begin, next);
            late = begin + packet > next ? begin + packet - next : 0;
            op.begin += late;
        } else if (op.of_status && held_status <= op.status) {
            begin = std::max(begin, of_commands);
            late = begin + packet > op.status ? begin + packet - op.status : 0;
        } else {
            begin = std::max(begin, op.end);
        }
        op.status += late;
        op.end += late;
        op.done += late;
        buses_[COMMANDS].idle += late;
    }
    packets_free_ = begin + packet;
    return begin;
}

// The packets of the operation that should have ended at `event` have been delayed.
bool Channel::is_delayed(Environment& env, const Event& event) {
    if (packets_.die != event.die) return false;
    if (packets_.done >= event.time) {
        env.events.schedule({packets_.done + 1, Wake::OPERATION_DONE, event.die, number, event.argument});
        return true;
    }
    packets_.die = kNone8;
    return false;
}

// The page of `die` is chosen at `now`.
void Channel::start_page(Environment& env, uint8_t die, Time now) {
    const Parameters& p = env.parameters;
    Agent& agent = agents_[die];
    const Request request = take_request(die);
    const bool out = gives_page(request.op);
    const bool of_program = request.op == BusOp::PROGRAM_MORE || request.op == BusOp::PROGRAM_LAST;
    const Time cycles = static_cast<Time>(p.op_cycles[static_cast<int>(request.op)]) * static_cast<Time>(p.twc);
    const auto beats = static_cast<Time>(out || of_program ? p.bus_beats : p.loaded_beats);
    Time begin = now + kBegin;
    if (cycles) {  // gradients and constants: the address goes to the die first
        begin = std::max(begin, buses_[COMMANDS].idle) + cycles;
        buses_[COMMANDS].idle = begin;
        counts[BUS_COMMAND] += cycles;
    }
    begin = send_packet(p, begin, begin, begin);
    const auto gap = static_cast<Time>(cycles ? std::max(p.burst_gap, p.tadl) : p.burst_gap);
    const Time first = begin + gap + (out ? 0 : kBeatsOfBuffer);
    const Time end = first + beats;  // the cycle behind the last beat
    env.trace.add(first, end - 1, out ? kPageOut : kPageIn, number, die, request.plane);
    counts[out ? BUS_DATA_OUT : BUS_DATA_IN] += beats;
    page_moves_ = true;
    buses_[DATA].idle = end - end_beats(p) + 1;
    want_bus(env, DATA, 0);  // for DATA_END
    if (!out) {
        agent.bus_request = {true, request.of_poller, BusOp::CONFIRM_DATA, request.plane, end + 1, request.token};
        requesting_ |= static_cast<uint16_t>(1u << die);
        return want_next(env);
    }
    --free_pages_;
    page_filled(env, request.token, agent.updating == Updating::IDLE, end - 1);
    const Time done = end - 3 + static_cast<Time>(p.data_out_start);
    const uint32_t answer = uint32_t{request.of_poller} << 16;
    if (known_ahead(agent, 0)) {
        operation_done(env, die, answer, done + 1);
    } else {
        env.events.schedule({done + 1, Wake::OPERATION_DONE, die, number, answer});
    }
    want_next(env);
}

// DATA_END begins at `now`, and the next page may be chosen.
void Channel::end_page(Environment& env, Time now) {
    const Parameters& p = env.parameters;
    const Time held = end_beats(p);
    const Time held_status = static_cast<Time>(std::max(p.status_byte + 4 - p.twc, 1));
    Time waits = now;  // since when the next page does
    for (const Agent& agent : agents_) {
        const Request& request = agent.bus_request;
        if (request.valid && moves_page(request.op)) waits = std::min(waits, request.at);
    }
    const Time from = std::max(waits, now - held);
    const Time begin = send_packet(p, now, from, std::max(waits, now - held - held_status));
    page_moves_ = false;
    buses_[DATA].idle = begin + 2;
    want_next(env);
}

}  // namespace flashtrain
