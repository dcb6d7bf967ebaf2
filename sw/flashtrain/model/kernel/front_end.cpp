// The front end's state after a reset, and what wakes its units.

#include "front_end.h"

namespace flashtrain {

FrontEnd::FrontEnd(Environment& env, std::vector<Channel>& channels)
    : env_(env), p_(env.parameters), channels_(channels), tracked_(static_cast<size_t>(env.parameters.commands)),
      encoder_(env.parameters), decoder_lanes_(env.parameters), offering_(channels.size() / 64 + 1) {
    for (int tag = p_.commands; tag--;) free_tags_.push_back(static_cast<uint16_t>(tag));
}

void FrontEnd::wake(const Event& event) {
    const Time now = event.time;
    const auto argument = static_cast<uint16_t>(event.argument);
    switch (event.wake) {
        case Wake::FETCH:
            return arrive(now);
        case Wake::MANAGER:
            return manage(now);
        case Wake::WRITE_SPLITTER:
            if (now == write_wakes_) write_wakes_ = kNever;
            return split_write(now);
        case Wake::PAGE_ARRIVED:
            return page_arrived(event.channel, argument, now);
        case Wake::PAGE_ENCODED:
            return offer_page(now);
        case Wake::ENCODED_ARRIVED:
            return channels_[event.channel].page_arrived(env_, now + 1);
        case Wake::SETTLED:
            return settle_zone(static_cast<uint8_t>(argument), now);
        case Wake::READ_SPLITTER:
            if (now != read_wakes_) return;
            read_wakes_ = kNever;
            return split_read(now);
        case Wake::READ_RETURN:
            if (now != return_wakes_) return;
            return_wakes_ = kNever;
            return return_pages(now);
        case Wake::TRACK:
            return retire(argument, now);
        case Wake::ANSWERED: {
            Port& port = ports_[event.die];
            --port.unanswered;
            --entries_;
            completed.push_back({now, event.argument, event.die, static_cast<uint16_t>(port.arrived)});
            return fetch(now + 1);
        }
        case Wake::ALLOCATOR:
            return choose_zones(now);
        default:
            return;
    }
}

}  // namespace flashtrain
