// Where the commands stand that are not answered.

#include "standing.h"

#include "front_end.h"

namespace flashtrain {

std::vector<Standing> FrontEnd::standings() const {
    std::vector<Standing> found;
    for (size_t tag = 0; tag < tracked_.size(); ++tag) {
        if (tracked_[tag].left) found.push_back(standing_of(static_cast<uint16_t>(tag)));
    }
    for (size_t i = 0; i < decoded_.size(); ++i) {
        const Command& command = decoded_[i].command;
        Awaited awaited = Awaited::FETCH;
        if (i == 0 && waits(command)) awaited = Awaited::OTHERS;
        if (i == 0 && waits_for_zone_) awaited = Awaited::ERASED_ZONE;
        if (i == 0 && waits_for_tag_) awaited = Awaited::TAG;
        found.push_back({command.id, awaited, 0});
    }
    for (size_t i = 0; i < fetching_.size(); ++i) found.push_back({fetching_[i].command.id, Awaited::FETCH, 0});
    for (const Port& port : ports_) {
        const bool full = port.reserved - port.consumed >= port.cq_size - 1;
        const Awaited awaited = full ? Awaited::COMPLETION_QUEUE : Awaited::FETCH;
        for (size_t i = 0; i < port.submitted.size(); ++i) found.push_back({port.submitted[i].id, awaited, 0});
    }
    return found;
}

// Of a command that has a tag, and events to come.
Standing FrontEnd::standing_of(uint16_t tag) const {
    const Tracked& command = tracked_[tag];
    const auto channel_of = [&](const WriteJob& job) {
        return job.command.offset % static_cast<uint32_t>(p_.channels);
    };
    if (writing_ && write_job_.tag == tag) return {command.id, Awaited::ROOM, channel_of(write_job_)};
    if (flush_waits_ && write_job_.tag == tag) return {command.id, Awaited::WRITES, 0};
    if (flushing_ && flush_tag_ == tag) return {command.id, Awaited::FLUSH, 0};
    for (size_t i = 0; i < write_jobs_.size(); ++i) {
        if (write_jobs_[i].tag == tag) return {command.id, Awaited::WRITES, 0};
    }
    if (reading_ && read_job_.job.tag == tag) {
        const bool follows = read_job_.after > issued_;
        return {command.id, follows ? Awaited::READS : Awaited::LOOKUP, follows ? 0 : channel_of(read_job_.job)};
    }
    for (size_t i = 0; i < read_jobs_.size(); ++i) {
        if (read_jobs_[i].job.tag == tag) return {command.id, Awaited::READS, 0};
    }
    return {command.id, Awaited::EVENTS, command.left};
}

}  // namespace flashtrain
