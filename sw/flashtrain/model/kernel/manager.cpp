// The zone manager: from commands to jobs, one at a time.

#include <algorithm>

#include "front_end.h"

namespace flashtrain {

namespace {

constexpr Time kDecideUpdate = kDecide + 1;  // the source is looked up before it
// A lookup that no command has asked for; the last one of a loop.
constexpr Time kVisit = 5;

}  // namespace

void FrontEnd::want_manager(Time at) {
    at = std::max(at, manager_free_);
    if (at >= manager_wakes_) return;
    manager_wakes_ = at;
    env_.events.schedule({at, Wake::MANAGER, 0, 0, 0});
}

// `CommandsInFlight`: the command depends on others.
bool FrontEnd::waits(const Command& command) const {
    const auto some = [&](Job job) { return of_job_[static_cast<int>(job)] != 0; };
    switch (command.job) {
        case Job::RESET_STREAM:
        case Job::RESET_ZONE:
        case Job::GENERATION:
            return of_stream_[command.stream] != 0;
        case Job::COMMIT:
            return of_stream_[command.stream] != 0 || of_stream_[command.source] != 0;
        case Job::CONSTANTS:
            return some(Job::UPDATE) || some(Job::STATISTICS);
        case Job::STATISTICS:
            return some(Job::UPDATE) || some(Job::CONSTANTS);
        case Job::UPDATE:
            return some(Job::STATISTICS);
        case Job::APPEND:
            // `Settlement`: the unsettled appends of a stream are of one zone.
            return encodes(command) && unsettled_[command.stream] && coded_zone_[command.stream] != command.zone;
        default:
            return false;
    }
}

// A read that finds the manager idle at `at` is executed then: no other command comes before it.
bool FrontEnd::executes_ahead(const Command& command, Time at) const {
    return command.job == Job::READ && decoded_.empty() && !reclaim_left_ && !free_tags_.empty() && manager_free_ <= at;
}

void FrontEnd::manage(Time now) {
    if (now != manager_wakes_) return;
    manager_wakes_ = kNever;
    if (now < manager_free_) return want_manager(manager_free_);
    const bool here = !decoded_.empty() && decoded_[0].at <= now;
    const bool startable = here && !waits(decoded_[0].command) && !(waits_for_tag_ && free_tags_.empty());
    if (!startable) {
        if (reclaim_left_) return reclaim(now);
        if (!decoded_.empty() && decoded_[0].at > now) want_manager(decoded_[0].at);
        return;
    }
    const Command command = decoded_[0].command;
    const Time decide = now + (command.job == Job::UPDATE ? kDecideUpdate : kDecide);
    if (!execute(command, now, decide)) return;
    decoded_.pop();
    if (reclaim_left_) reclaim_next(decide + 1);  // in the cycles in which it is sent
    if (entry_waits_) {
        entry_waits_ = false;
        env_.events.schedule({std::max(decide + 2, entry_free_), Wake::FETCH, 0, 0, 0});
    }
    if (reclaim_left_) {
        want_manager(manager_free_);
    } else if (!decoded_.empty()) {
        want_manager(decoded_[0].at);
    }
}

// False: the command stays at the head.
bool FrontEnd::execute(const Command& command, Time now, Time decide) {
    const bool writes = command.job == Job::APPEND || command.job == Job::UPDATE;
    LogicalZone* zone = command.by_physical || command.zone >= logical_.size() ? nullptr : &logical_[command.zone];
    if (writes && (!zone->mapped || zone->stale) && !next_valid_) {
        if (!waits_for_zone_) zone_waits_since_ = decide;
        waits_for_zone_ = true;
        manager_free_ = decide + 1;
        if (reclaim_left_) want_manager(manager_free_);  // else the allocator wakes it
        return false;
    }
    if (waits_for_zone_) counts[ZONE_WAITS] += decide - zone_waits_since_;
    waits_for_zone_ = false;
    switch (command.job) {
        case Job::RESET_STREAM:
            drop_zones(command.first, command.zones);
            break;
        case Job::RESET_ZONE:
            if (zone->mapped) release(zone->physical, decide + 1);
            *zone = {};
            break;
        case Job::MAP_ZONE:
            *zone = {true, false, command.count, 0};
            mark(command.count, PhysicalState::USED);
            break;
        case Job::RELEASE_ZONE:
            release(command.count, decide + 1);
            break;
        case Job::END_RECOVERY:
            recovering_ = false;
            scan_zones(decide + 2);
            break;
        case Job::LOOP:
            decide += static_cast<Time>(command.count) + kVisit;
            break;
        case Job::COMMIT:
            decide += 2 * static_cast<Time>(command.count) + kVisit;
            if (command.flags & DROPS_SOURCE) drop_zones(command.first, command.zones);
            break;
        case Job::REPORT:
            decide += static_cast<Time>(p_.memory_latency) + static_cast<Time>(p_.report) * (command.count + 1);
            break;
        case Job::ANSWER:
        case Job::GENERATION:
            break;
        default: {
            if (free_tags_.empty()) {
                waits_for_tag_ = true;  // it stays in OPEN
                return false;
            }
            const Time open = waits_for_tag_ ? now : decide + 1;
            waits_for_tag_ = false;
            const uint16_t tag = free_tags_.back();
            free_tags_.pop_back();
            uint32_t physical = command.zone;
            if (zone) change_zones(command, *zone, physical);
            if (encodes(command)) {
                ++unsettled_[command.stream];
                coded_zone_[command.stream] = command.zone;
            }
            const uint32_t events =
                command.job == Job::FLUSH ? 1
                : encodes(command) ? 1 + (command.flags & NON_VOLATILE ? command.count : 0)
                : command.job == Job::UPDATE
                    ? command.blocks + command.blocks / (command.last_page + 1) * (1 + command.copies)
                : command.job == Job::CONSTANTS || (command.job == Job::APPEND && command.flags & NON_VOLATILE)
                    ? 2 * command.blocks
                    : command.blocks;
            tracked_[tag] = {command.id, events, command.job, command.port, command.stream, command.source,
                             command.flags, command.pages, open + 1, 0};
            ++commands_in_flight_;
            ++of_stream_[command.stream];
            if (command.job == Job::UPDATE) ++of_stream_[command.source];
            ++of_job_[static_cast<int>(command.job)];
            const WriteJob job{command, physical, tag, open + 2};
            if (command.job == Job::READ || command.job == Job::STATISTICS) {
                if (command.job == Job::READ && reads_in_flight_++ == 0) {
                    reading_since_ = open;
                    read_busy_before_ = counts[READ_BUSY];
                }
                read_jobs_.push({job, zone ? zone->job : issued_, 0});
                split_read(open + 2, open + 2 + static_cast<Time>(p_.read_issue));
            } else {
                ++jobs_sent_;
                write_jobs_.push(job);
                split_write(open + 2);
            }
            manager_free_ = open + 2;
            return true;
        }
    }
    answer(command.id, command.port, decide + 1);
    manager_free_ = decide + 2;
    return true;
}

// `Settlement`: the end of a coded append takes the bound that it did not need off the zone's pointer.
void FrontEnd::settle_zone(uint8_t stream, Time at) {
    manager_free_ = std::max(at, manager_free_) + kVisit;
    --unsettled_[stream];
    if (!decoded_.empty() || reclaim_left_) want_manager(manager_free_);
}

// An append or update opens its zone; a read finds it.
void FrontEnd::change_zones(const Command& command, LogicalZone& zone, uint32_t& physical) {
    if (command.job != Job::APPEND && command.job != Job::UPDATE) {
        physical = zone.physical;
        return;
    }
    if (zone.stale && zone.mapped) release(zone.physical, env_.events.now() + 1);
    if (!zone.mapped || zone.stale) {
        zone = {true, false, next_zone_, 0};
        next_valid_ = false;
        scan_zones(env_.events.now() + 2);
    }
    zone.job = jobs_sent_ + 1;
    physical = zone.physical;
}

// `Reclaim`: a scan over the zones follows the reset of a stream.
void FrontEnd::drop_zones(uint32_t first, uint32_t zones) {
    for (uint32_t zone = first; zone < first + zones; ++zone) logical_[zone].stale |= logical_[zone].mapped;
    reclaim_zone_ = 0;
    reclaim_left_ = static_cast<uint32_t>(logical_.size());
}

// A step without a command. A command does not wait for its end.
void FrontEnd::reclaim(Time now) {
    if (now >= reclaim_free_) reclaim_next(now);
    if (reclaim_left_) want_manager(reclaim_free_);
    if (!decoded_.empty() && decoded_[0].at > now) want_manager(decoded_[0].at);
}

void FrontEnd::reclaim_next(Time now) {
    LogicalZone& zone = logical_[reclaim_zone_++];
    --reclaim_left_;
    reclaim_free_ = now + kVisit;
    if (zone.mapped && zone.stale) release(zone.physical, reclaim_free_);
    if (zone.stale) zone = {};
}

}  // namespace flashtrain
