// A channel: write buffer, read buffer, bus, and per die the agent of the controller and the die itself.
//
// The state machines are those of `flashtrain.rtl.channel`, and the names are theirs. A machine wakes where it decides;
// the cycles in between are added up.

#pragma once

#include <cstdint>
#include <vector>

#include "events.h"
#include "nand.h"
#include "parameters.h"
#include "ring.h"
#include "trace.h"

namespace flashtrain {

class FrontEnd;

constexpr uint8_t kNone8 = 0xFF;

struct Environment {
    Parameters parameters{};
    Events events;
    Trace trace;
    FrontEnd* front_end = nullptr;
};

enum class PageKind : uint8_t { DATA, GRADIENTS, CONSTANTS };

// A page on its way to a channel's write buffer.
struct WritePage {
    uint32_t zone;  // of the flash
    uint32_t page;
    uint16_t tag;
    uint8_t die, plane, stream, copies;
    PageKind kind;
    bool notify, close;
    uint32_t compute;  // cycles of the update unit for the tile
};

// A page that is read.
struct ReadPage {
    uint32_t zone;
    uint32_t page;
    uint32_t token;  // of its command: see `CompletePage`
    uint8_t die, plane;
    bool statistics;
    Time at;  // when it is at the output of its die's queue
};

enum class SetState : uint8_t { FREE, OPEN, CLOSED, HANDED_OUT };

// A page set of the write buffer.
struct PageSet {
    SetState state = SetState::FREE;
    PageKind kind = PageKind::DATA;
    uint8_t die = 0, first = 0, last = 0, filled = 0, stream = 0, copies = 0;
    bool flushed_for = false;  // a flush waits for it
    uint32_t zone = 0, page = 0, compute = 0;
    uint32_t notify = 0;  // a bit per plane
    uint16_t tags[32] = {};
};

// A bus operation that is requested.
struct Request {
    bool valid = false;
    bool of_poller = false;
    BusOp op = BusOp::STATUS;
    uint8_t plane = 0;
    Time at = 0;
    uint32_t token = 0;  // of a page that comes from the die
};

// The units of an agent, in the order of rotation.
enum Unit : uint8_t { RESET, PROGRAMMER, READER, ERASER, UPDATER, kUnits };

enum class Work : uint8_t { NONE, PROGRAM, LAST_PROGRAM, ERASE, FIRST_UPDATE, UPDATE, END_UPDATE };

enum class Programming : uint8_t { IDLE, PAGE_ADDRESS, LOAD, WAIT_READY, ARRAY_BUSY, WAIT_LAST };
enum class Erasing : uint8_t { IDLE, BLOCK_ADDRESS, ARRAY_BUSY };
enum class Reading : uint8_t { IDLE, PAGE_ADDRESS, NEXT_PAGE, WAIT, LOOK_AHEAD, SELECT, DATA_OUT, END };
enum class Updating : uint8_t {
    IDLE, LOAD, SOURCE_ADDRESS, TARGET_ADDRESS, COMPUTE, SELECT, OUTPUT, LOOK_AHEAD, END, END_WAIT, ARRAY_BUSY, LAST_PROGRAM,
};

// The die: its array, and what a status would say.
struct Die {
    Time array_free = 0, ready = 0;
    Time sensed = 0;    // end of a suspended read's sense
    Time advanced = 0;  // the array may be suspended from now on
    Time released = 0;  // the data registers
    bool holds = false;
    // A cache program that waits for the array or for the data registers.
    bool waits = false;
    Time waits_since = 0;
    uint32_t waits_planes = 0;
    bool holds_tile = false;
    Time update_sense_end = 0;
    uint32_t update_compute = 0;
    ArrayRecord active{};
};

// The next set of reads, and those before it.
struct ReadSets {
    Ring<ReadPage> pages{1};  // removed .. written
    uint32_t marked = 0, sensed = 0;  // positions from the oldest
    bool waiting = false, several = false, next_page = false;
    uint32_t zone = 0, page = 0, planes = 0, planes_before = 0;
    uint8_t plane = 0;
    bool statistics = false;
    Time accepted = 0;  // the newest
    Time may_accept = 0;
    Time room_from = 0;  // the page that is output is in `pages` no more, and takes its place until then
};

struct Agent {
    Die die;

    Time wakes_last = kNever;  // the newest wake-up of all units

    // Scheduler.
    Unit owner = RESET;
    uint8_t begun = 0;
    Time owned_since = 0;

    // Request mux.
    Request unit_request, reader_request, bus_request;
    bool operating = false, of_reader = false;
    bool programmer_lock = false, reader_lock = false, urgent = false;
    Time mux_idle = 0, source_may_change = 0;
    Time mux_wakes = kNever;

    // Ready poller.
    Work work = Work::NONE;
    bool polling = false, poll_started = false, late = false, deferred = false;
    bool poll_waits = false, program_delayed = false;
    Time array_predicted = 0;  // the array is idle, by prediction
    Time poll_idle = 0, short_until = 0;
    Time poller_wakes = kNever;
    uint8_t last_page = 0;

    // Programmer.
    Programming programming = Programming::IDLE;
    uint8_t offered = kNone8;  // slot of the set that is offered
    Time offered_at = 0;
    uint8_t plane = 0;
    uint8_t programmed_slot = kNone8;  // in the array
    Time programmer_from = 0;

    // Eraser.
    Erasing erasing = Erasing::IDLE;
    bool erase_requested = false;
    Time erase_from = 0;
    uint8_t erase_plane = 0;

    // Reader.
    Reading reading = Reading::IDLE;
    ReadSets sets;
    Ring<ReadPage> queue{1};
    bool cached = false, suspended = false, renew = false, registers_held = false;
    int pages_read = 0;  // by suspended reads, since a page set was taken
    Time reader_timer = 0, reader_from = 0;

    // Updater.
    Updating updating = Updating::IDLE;
    uint8_t update_slot = kNone8, update_copies = 0, update_plane = 0;
    bool computing = false, loaded = false, constants = false;
    uint16_t tile_computed = 0, tile_programming = 0, tile_judged = 0;
    bool computed_valid = false, programming_valid = false, judged_valid = false;
    Time updater_from = 0;
};

// `token`: the number of the page among those of its command, and the command's tag in the low half.
struct CompletePage {
    uint32_t token;
    bool from_array;
};

enum ChannelCount { BUS_COMMAND, BUS_DATA_IN, BUS_DATA_OUT, PROGRAMS, PAGES_PROGRAMMED, SENSES, PAGES_SENSED, BUFFER_HITS,
                    ERASES, kChannelCounts };

class Channel {
  public:
    Channel(const Parameters& parameters, uint16_t number);

    uint16_t number;
    uint64_t counts[kChannelCounts] = {};

    // From the front end.
    void offer_page(Environment& env, const WritePage& page, Time now);  // answered by `FrontEnd::page_placed`
    void page_arrived(Environment& env, Time now);
    void flush(Environment& env, uint8_t stream, Time now);
    void erase(Environment& env, uint32_t zone, Time now);
    Time lookup_idle_from() const { return looking_up_ ? kNever : lookup_free_; }
    void look_up(Environment& env, const ReadPage& page, Time now);
    bool offers_page() const { return !complete_.empty(); }
    CompletePage take_page() { return complete_.pop(); }
    void page_sent(Environment& env, Time at);

    void wake(Environment& env, const Event& event);
    bool idle() const;
    void finish_records(Environment& env);

  private:
    // Write buffer (write_buffer.cpp).
    void want_scan(Environment& env, Time at);
    void scan(Environment& env, Time now);
    void place(Environment& env, Time now);
    void accept_page(Environment& env, uint8_t slot, Time at);
    void make_youngest(uint8_t slot);
    void close_set(uint8_t slot, Time now);
    void offer_sets(Environment& env, Time now);
    void set_taken(Environment& env, uint8_t die, Time now);
    void report_set(Environment& env, uint8_t slot, Time now);
    void free_set(Environment& env, uint8_t slot, Time now);
    void close_stream(Environment& env, Time now);
    void check_flush(Environment& env, Time now);
    void discard(Environment& env, Time now);
    bool find_page(const ReadPage& page, uint8_t& slot) const;
    bool sets_settled() const;

    // Read buffer (read_buffer.cpp).
    void answer_lookup(Environment& env, Time now);
    void queue_page(Environment& env, Time at);
    void lookup_done(Environment& env, Time now);
    void resume_lookup(Environment& env, Time now);
    void try_copy(Environment& env, Time now);
    void page_filled(Environment& env, uint32_t token, bool from_array, Time at);
    void page_completed(Environment& env, uint8_t kind, uint32_t token, Time now);
    void free_pages(Time now);
    bool fill_room(const Parameters& parameters) const;

    // Bus (bus.cpp).
    enum BusKind : uint8_t { COMMANDS, DATA };  // without SCA one of both, COMMANDS
    static BusKind bus_of(const Parameters& parameters, BusOp op);
    void choose(Environment& env, BusKind kind, Time now);
    void want_bus(Environment& env, BusKind kind, Time at);
    void want_next(Environment& env);
    void room_found(Environment& env, Time at);
    Time may_choose(uint8_t die) const;
    template <typename Visit>
    void for_requests(uint8_t last, const Visit& visit) const;
    Request take_request(uint8_t die);
    void start_operation(Environment& env, uint8_t die, Time now);

    // The same with SCA (split_bus.cpp).
    static Time end_beats(const Parameters& parameters);
    Time send_packet(const Parameters& parameters, Time at, Time held, Time held_status);
    bool is_delayed(Environment& env, const Event& event);
    void start_page(Environment& env, uint8_t die, Time now);
    void end_page(Environment& env, Time now);

    // Agent (agent.cpp).
    void kick(Environment& env, uint8_t die, Time now);
    bool requests(const Agent& agent, Unit unit, Time now) const;
    bool busy(const Agent& agent, Unit unit) const;
    bool may_begin(const Environment& env, const Agent& agent, Unit unit, Time now) const;
    void rotate(Environment& env, uint8_t die, Time now);
    void want_die(Environment& env, uint8_t die, Time at);
    void mux(Environment& env, uint8_t die, Time now);
    void accept_request(Environment& env, uint8_t die, bool reader, Time at);
    bool reader_alone(const Agent& agent) const;
    // A unit other than the reader wants the die.
    static bool wanted(const Agent& agent) { return agent.offered != kNone8 || agent.erase_requested; }
    bool known_ahead(const Agent& agent, uint8_t bits) const;
    void request(Environment& env, uint8_t die, bool reader, BusOp op, uint8_t plane, Time at, bool of_poller = false,
                 uint32_t token = 0);
    void operation_done(Environment& env, uint8_t die, uint32_t argument, Time now);

    // Ready poller (poller.cpp).
    void start_poller(Environment& env, uint8_t die, Work work, Time now);
    void poll(Environment& env, uint8_t die, Time now);
    void request_poll(Environment& env, uint8_t die, Time at);
    Time line_allows(const Environment& env, uint8_t number, Time at) const;
    void polled(Environment& env, uint8_t die, uint8_t bits, Time now);
    void prolong(Environment& env, uint8_t die, Time now);
    void resume_poll(Environment& env, uint8_t die, Time now);
    void wake_poller(Environment& env, uint8_t die, Time at);

    // Programmer (programmer.cpp).
    void program(Environment& env, uint8_t die, Time now);
    void programmer_done(Environment& env, uint8_t die, Time now);
    void programmer_ready(Environment& env, uint8_t die, Time now);

    // Eraser (eraser.cpp).
    void start_erase(Environment& env, uint8_t die, Time now);
    void eraser_done(Environment& env, uint8_t die, Time now);
    void erased(Environment& env, uint8_t die, Time now);

    // Reader (reader.cpp, read_sets.cpp).
    void await_set(Environment& env, uint8_t die, Time now);
    void gather(Environment& env, uint8_t die, Time now);
    bool extends(const Agent& agent, const ReadPage& page) const;
    bool complete(const Environment& env, const Agent& agent, Time now) const;
    bool sequential(const Agent& agent) const;
    void take_set(Agent& agent);
    void sense_set(Agent& agent);
    bool suspendable(const Agent& agent) const;
    bool defer_sets(const Environment& env, const Agent& agent) const;
    void read(Environment& env, uint8_t die, Time now);
    void address_page(Environment& env, uint8_t die, Time at);
    void start_sense(Environment& env, uint8_t die, Time now);
    void request_status(Environment& env, uint8_t die);
    void reader_done(Environment& env, uint8_t die, uint8_t bits, Time now);
    void look_ahead(Environment& env, uint8_t die, Time now);
    void select_page(Environment& env, uint8_t die, Time at);

    // Updater (updater.cpp).
    void update(Environment& env, uint8_t die, Time now);
    void updater_done(Environment& env, uint8_t die, Time now);
    void updater_ready(Environment& env, uint8_t die, Time now);
    void load_gradients(Environment& env, uint8_t die, Time at);
    void report_tile(Environment& env, uint8_t die, Time now);
    void free_slot(Environment& env, uint8_t die, Time now);

    // The die (die.cpp).
    void settle(Environment& env, uint8_t die, Time now);
    void start_array(Environment& env, uint8_t die, ArrayOp op, Time at, Time cycles, uint32_t planes);
    void command(Environment& env, uint8_t die, BusOp op, uint32_t planes, Time now);
    Time suspend(Environment& env, uint8_t die, uint32_t planes, Time now);
    uint8_t status(Environment& env, uint8_t die, Time now);

    std::vector<Agent> agents_;
    uint32_t set_planes_[16] = {};  // planes of the operation that a die was given addresses of

    // Bus.
    struct Bus {
        Time idle = 0, wakes = kNever;
        uint32_t event = Events::kNone;
    } buses_[2];
    // The packets of the operation of commands that is under way, and that of its status.
    struct Packets {
        uint8_t die = kNone8;
        bool of_status = false;
        Time begin = 0, count = 0, status = 0, end = 0, done = 0;
    } packets_;
    Time packets_free_ = 0;  // the newest packet of the data part ends
    bool page_moves_ = false;  // and DATA_END is still to come
    uint16_t requesting_ = 0;  // a bit per die
    Time fill_free_ = 0;  // the read buffer takes another page
    uint8_t short_last_ = 0, page_last_ = 0;
    Time blocked_[16] = {};
    bool no_room_ = false;

    // Write buffer.
    enum Scan : uint8_t { PLACE_PAGE, LOOK_UP, FLUSH, DISCARD, kScans };
    std::vector<PageSet> sets_;
    std::vector<uint8_t> ages_;  // slots, the oldest first
    Time requested_[kScans] = {kNever, kNever, kNever, kNever};
    Time offer_at_ = kNever, scan_free_ = 0, scan_wakes_ = kNever;
    uint8_t scan_last_ = kScans - 1;
    uint8_t closed_ = 0;  // sets that are closed or handed out
    bool page_room_ = true, evicted_ = false;
    WritePage page_{};
    Ring<uint16_t> arriving_;  // slot << 8 | plane, in the order of allocation
    bool flushing_ = false;
    uint8_t flush_stream_ = 0;
    Time reports_free_ = 0;
    uint32_t erase_zone_ = 0;
    uint8_t erases_left_ = 0;
    uint8_t pinned_ = kNone8;

    // Read buffer.
    bool looking_up_ = false, lookup_waits_ = false, copy_waits_ = false;
    Time lookup_free_ = 0, lookup_known_ = 0, copying_until_ = 0;
    ReadPage lookup_{};
    uint8_t free_pages_ = 0, correcting_ = 0;
    Ring<CompletePage> complete_;
    Ring<Time> freeing_;  // when the pages that are being sent leave their buffers
};

}  // namespace flashtrain
