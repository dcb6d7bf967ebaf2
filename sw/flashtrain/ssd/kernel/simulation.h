// Drives in RAID 0, in time: events of commands, firmware, buses and dies.
#pragma once
#include <queue>
#include <vector>

#include "die.h"
#include "ftl.h"
#include "untimed.h"

enum class Operation : uint8_t { READ, WRITE, TRIM, FLUSH };

struct Command {
    int64_t time, first, count; // pages
    int64_t op, partial;        // partial: 1 its first page, 2 its last one
    int64_t begun, done;        // results
};

enum class Kind : uint8_t { ARRIVE, ISSUE, FIRMWARE, BUS, SENSED, ARRAY, WAKE, SENT };

struct Event {
    int64_t time;
    uint64_t order; // among those of one time; the kind in its lowest bits
    uint32_t where, page, command;
    Kind kind() const { return Kind(order & 7); }
    bool operator>(const Event &other) const {
        return time != other.time ? time > other.time : order > other.order;
    }
};

enum class Use : uint8_t { NONE, SENSE, ERASE, OUTPUT, LOAD };

struct Channel {
    Use use = Use::NONE;
    int die = 0;             // that uses the bus
    int last = 0;            // that used it last
    int64_t last_begin = -1; // of that use
    bool last_was_output = false;
    int64_t wake = -1;
};

struct Part { // of a command, on one drive
    uint32_t command;
    int64_t next, left;
};

struct Drive {
    explicit Drive(const Parameters &p)
        : ftl(p), filled(p.sets_of_superblock() * p.blocks), programmed(p.blocks, 0), cores(p.cores) {}
    Ftl ftl;
    std::vector<uint8_t> filled;     // pages of each page set; PROGRAMMED
    std::vector<int64_t> programmed; // page sets of each superblock
    bool settled = true;             // since writes in no time
    int64_t cores;                   // idle
    int64_t read_free = 0;           // when the controller takes the next read command
    int64_t in_free = 0, out_free = 0; // when the host link takes the next page, each way
    int64_t host_pages = 0;          // of the host's commands, not done
    int64_t buffered = 0, moving = 0; // pages in SRAM of host and collector
    std::deque<Part> reads, writes;
    std::deque<int64_t> moved; // physical pages of the victim that are read, and not yet placed
    int64_t victim = -1, cursor = 0, outstanding = 0, erasing = 0;
};

constexpr uint8_t PROGRAMMED = 255;

enum Count {
    WRITTEN, MOVED, ERASED, SENSES, PAGES_SENSED, BUFFER_HITS, PROGRAMS, FIRMWARE_BUSY, BUS_BUSY, HOST_END, MOVED_BY_HOST_END, COUNTS
};

class __attribute__((visibility("hidden"))) Simulation {
public:
    explicit Simulation(const Parameters &p);
    int64_t run(Command *commands, int64_t count, int64_t depth);
    void open(Command *slots, int64_t count);
    void begin(uint32_t slot) { push(now, Kind::ARRIVE, slot); }
    int64_t advance(int64_t until);

    const Parameters p;
    std::vector<Drive> drives;
    int64_t counts[COUNTS] = {};

private:
    // commands.cpp
    void handle(const Event &event);
    void submit(uint32_t index);
    void begin_read(uint32_t index);
    void begin_write(uint32_t index);
    void merge_or_write(uint32_t index);
    void trim(uint32_t index);
    template <typename Take> void split(uint32_t index, Take take);
    void issue(uint32_t drive);
    bool read_page(uint32_t drive, int64_t at, uint32_t command, Reader by);
    void kick_readers();
    void send_page(uint32_t drive, uint32_t command);
    void host_page_done(uint32_t drive, uint32_t command);
    void finish_part(uint32_t command);
    void note_host_end() { counts[HOST_END] = now, counts[MOVED_BY_HOST_END] = counts[MOVED]; }
    // drive.cpp
    void settle(Drive &drive);
    void pump(uint32_t drive);
    bool start_host_page(uint32_t drive);
    bool start_moved_page(uint32_t drive);
    void firmware_done(uint32_t drive, int64_t at, uint32_t command);
    void collect(uint32_t drive);
    bool may_collect(uint32_t drive) const;
    bool collect_page(uint32_t drive);
    void end_of_victim(uint32_t drive);
    void programmed(uint32_t die);
    void erased(uint32_t die);
    // bus.cpp
    void kick(uint32_t channel);
    Use choose(uint32_t channel, int &die, int64_t &later);
    bool can_sense(Die &die, int64_t &later);
    bool can_load(const Die &die, int64_t &later) const;
    bool can_erase(const Die &die) const;
    int64_t begin_use(uint32_t channel, Use use, int die);
    int64_t take_group(Die &die);
    void end_use(uint32_t channel);
    void begin_array(uint32_t die);
    void array_event(uint32_t die);
    void sensed(uint32_t die);

    void push(int64_t time, Kind kind, uint32_t where, uint32_t page = 0, uint32_t command = 0) {
        events.push({time, order++ << 3 | uint64_t(kind), where, page, command});
    }
    // Counts of channels, dies and planes are powers of two.
    static int bits(int64_t count) { return __builtin_ctzll(count); }
    int64_t superblock_of(int64_t page) const { return uint32_t(page) / superblock; }
    // The page set of a page, within its drive: | superblock | page | die | channel |.
    int64_t set_of(int64_t page) const {
        return page >> (channel_bits + plane_bits) << channel_bits | (page & (p.channels - 1));
    }
    int plane_of(int64_t page) const { return page >> channel_bits & (p.planes - 1); }
    // Global numbers of a page's and a page set's die: | drive | channel | die |.
    uint32_t die_of(uint32_t drive, int64_t page) const { return die_of_set(drive, set_of(page)); }
    uint32_t die_of_set(uint32_t drive, int64_t set) const {
        uint32_t channel = drive << channel_bits | (set & (p.channels - 1));
        return channel << die_bits | (set >> channel_bits & (p.dies - 1));
    }
    uint32_t channel_of(uint32_t die) const { return die >> die_bits; }
    uint32_t drive_of(uint32_t die) const { return die >> (channel_bits + die_bits); }

    const int channel_bits, die_bits, plane_bits;
    const uint32_t superblock; // pages

    std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events;
    uint64_t order = 0;
    int64_t now = 0;
    std::vector<Channel> channels;
    std::vector<Die> dies;
    std::vector<uint32_t> readers; // channels of reads that are queued, and not yet kicked
    Command *commands = nullptr;
    std::vector<int32_t> left; // pages of each command that are not done
    int64_t next_command = 0, command_count = 0;
    int64_t start = 0; // of the commands that are played
    bool closed_loop = false;
    bool any_done = false; // a command, since the host looked
};
