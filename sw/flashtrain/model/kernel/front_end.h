// The front end: host interface, zone manager and the command pipelines.
//
// Its units are those of `flashtrain.rtl.front_end`. A unit wakes where it decides; the cycles in between are stages
// that were measured (stages.toml).

#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "channel.h"
#include "command.h"
#include "decoder_lanes.h"
#include "encoder.h"
#include "ring.h"
#include "standing.h"

namespace flashtrain {

constexpr int kPorts = 2;
constexpr Time kDecide = 4;  // `ZoneManager`: lookup and check of a zone

struct Completed {
    uint64_t time;
    uint32_t id;
    uint16_t port, sq_head;
};

enum FrontEndCount { COMMANDS, PAGES_APPENDED, PAGES_READ, WRITE_BUSY, WRITE_STALL_BUFFER, WRITE_STALL_MEMORY, READ_BUSY,
                     READ_STALL_CHANNEL, APPENDS, APPEND_LATENCY, READS, READ_LATENCY, ZONE_ERASES, ZONE_WAITS,
                     kFrontEndCounts };

class FrontEnd {
  public:
    FrontEnd(Environment& env, std::vector<Channel>& channels);

    uint64_t counts[kFrontEndCounts] = {};
    std::vector<Completed> completed;  // since the host took them

    // From the host, at `now`.
    void enable(bool erased, bool recovers, Time now);
    void set_queue_size(int port, uint32_t entries) { ports_[port].cq_size = entries; }
    // `pages`: of the coded commands, one command's after the other's.
    void submit(int port, const Command* commands, size_t count, const CodedPage* pages, Time now);
    void consume(int port, uint64_t completions, Time now);
    bool idle() const { return commands_in_flight_ == 0 && entries_ == 0 && !erasing_ && dirty_ == 0; }
    Time ready_at() const { return ready_at_; }
    std::vector<Standing> standings() const;

    // From the channels.
    void page_placed(uint16_t channel, Time at);
    void flush_done(uint16_t channel, Time at);
    void erased(uint16_t channel, Time at);
    void lookup_ready(uint16_t channel, Time at);
    void page_complete(uint16_t channel, Time at);
    void track(uint16_t tag, Time at);
    bool writes_idle() const { return !writing_ && write_jobs_.empty() && !flushing_ && !flush_waits_; }

    void wake(const Event& event);

  private:
    struct Port {
        Ring<Command> submitted{64};
        uint64_t reserved = 0, consumed = 0, unanswered = 0, arrived = 0;
        uint32_t cq_size = 2;
    };
    struct Entry {
        Command command;
        Time at;
    };
    struct Tracked {
        uint32_t id, left;
        Job job;
        uint8_t port, stream, source, flags;
        uint32_t pages;
        Time opened, last;
    };
    struct LogicalZone {
        bool mapped = false, stale = false;
        uint32_t physical = 0;
        uint64_t job = 0;
    };
    enum class PhysicalState : uint8_t { ERASED, DIRTY, ERASING, USED };
    struct PhysicalZone {
        PhysicalState state;
        uint32_t wear;
    };
    struct WriteJob {
        Command command;
        uint32_t physical;
        uint16_t tag;
        Time at;
    };
    struct ReadJob {
        WriteJob job;
        uint64_t after;
        uint32_t page;  // the next one, among those of the job
    };

    // Host interface (host_interface.cpp).
    void fetch(Time now);
    void arrive(Time now);
    void answer(uint32_t id, int port, Time at);
    void retire(uint16_t tag, Time now);
    Standing standing_of(uint16_t tag) const;
    void event_entered(uint16_t tag, Time at);
    // Pages of coded commands.
    uint32_t keep_pages(const CodedPage* pages, uint32_t count);
    // Zone manager (manager.cpp).
    void want_manager(Time at);
    void manage(Time now);
    bool waits(const Command& command) const;
    bool executes_ahead(const Command& command, Time at) const;
    bool execute(const Command& command, Time now, Time decide);
    void change_zones(const Command& command, LogicalZone& zone, uint32_t& physical);
    void drop_zones(uint32_t first, uint32_t zones);
    void reclaim(Time now);
    void reclaim_next(Time now);
    void release(uint32_t physical, Time now);
    void mark(uint32_t physical, PhysicalState state);
    void settle_zone(uint8_t stream, Time at);
    // Physical zones (allocator.cpp).
    void scan_zones(Time now);
    void choose_zones(Time now);
    // Write path (write_path.cpp).
    void split_write(Time now);
    void offer_page(Time now);
    void page_arrived(uint16_t channel, uint16_t tag, Time now);
    void next_page(Command& command) const;
    void flush_channels(Time now);
    // Coded appends (coded_write.cpp).
    void begin_encoding(Time now);
    void encode();
    void encoded_placed(uint16_t channel, Time at);
    // Read path (read_path.cpp).
    void split_read(Time now, Time known = 0);
    void return_pages(Time now);
    Time decode_page(uint32_t token, Time offered);
    uint16_t next_offering() const;

    Environment& env_;
    const Parameters& p_;
    std::vector<Channel>& channels_;
    Time ready_at_ = 0;

    Port ports_[kPorts];
    int last_port_ = 0;
    Ring<Entry> fetching_{16}, decoded_{8};
    Time burst_free_ = 0, entry_free_ = 0;
    bool entry_waits_ = false;
    uint64_t entries_ = 0;  // submitted and not answered
    std::deque<std::vector<CodedPage>> kept_pages_;  // the encoder refers to one of them
    std::vector<uint32_t> free_kept_;
    Ring<Time> answers_{32};
    Time answer_free_ = 0;

    Time manager_free_ = 0, manager_wakes_ = kNever, reclaim_free_ = 0;
    bool waits_for_zone_ = false, waits_for_tag_ = false;
    Time zone_waits_since_ = 0;
    uint32_t reclaim_zone_ = 0, reclaim_left_ = 0;
    uint32_t of_stream_[256] = {}, of_job_[16] = {};
    uint32_t unsettled_[256] = {}, coded_zone_[256] = {};  // coded appends of a stream, and the zone of the last one
    std::vector<LogicalZone> logical_;
    std::vector<Tracked> tracked_;
    std::vector<uint16_t> free_tags_;
    uint32_t commands_in_flight_ = 0;
    Time tracker_free_ = 0;
    uint64_t jobs_sent_ = 0, issued_ = 0;

    std::vector<PhysicalZone> physical_;
    uint32_t erased_zones_ = 0, dirty_ = 0;
    bool recovering_ = false, scanning_ = false, next_valid_ = false, erasing_ = false;
    uint32_t next_zone_ = 0, erasing_zone_ = 0, erases_left_ = 0;

    Ring<WriteJob> write_jobs_{64};
    bool writing_ = false, page_waits_ = false;
    WriteJob write_job_{};
    uint32_t pages_fetched_ = 0;
    Time page_valid_ = 0, write_free_ = 0, data_free_ = 0;
    bool flushing_ = false, flush_waits_ = false, flush_is_command_ = false;
    uint16_t flush_tag_ = 0;
    uint32_t flushes_left_ = 0;
    Time write_wakes_ = kNever;
    Encoder encoder_;
    Ring<Time> encoded_{4};  // pages that are not accepted: when they are whole
    uint32_t encoded_left_ = 0;
    Time encoded_free_ = 0;  // the last encoded page has moved

    Ring<ReadJob> read_jobs_{64};
    bool reading_ = false;
    ReadJob read_job_{};
    Time read_free_ = 0, read_wakes_ = kNever;
    uint16_t return_last_ = 0;
    DecoderLanes decoder_lanes_;
    Time check_free_ = 0;  // a coded page has left the check
    Time port_free_ = 0;   // the port that decoder lanes and read return write to
    std::vector<uint64_t> offering_;    // a bit per channel with complete pages
    uint32_t pages_waiting_ = 0;
    Ring<Time> heads_{8}, returns_{8};  // ends of those that are chosen
    Time return_free_ = 0, return_wakes_ = kNever;
    uint32_t reads_in_flight_ = 0;
    Time reading_since_ = 0;
    uint64_t read_busy_before_ = 0;
};

}  // namespace flashtrain
