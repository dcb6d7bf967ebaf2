// Commands: their parts on the drives, and their ends.
#include <algorithm>

#include "simulation.h"

Simulation::Simulation(const Parameters &p)
    : p(p), channel_bits(bits(p.channels)), die_bits(bits(p.dies)), plane_bits(bits(p.planes)),
      superblock(p.superblock()), channels(p.drives * p.channels), dies(p.drives * p.channels * p.dies) {
    drives.reserve(p.drives);
    for (int64_t drive = 0; drive < p.drives; drive++) drives.emplace_back(p);
}

// Play commands: each at its time, or as soon as fewer than `depth` are in flight. Returns how many never end.
int64_t Simulation::run(Command *list, int64_t count, int64_t depth) {
    for (Drive &drive : drives) settle(drive);
    commands = list;
    command_count = count;
    closed_loop = depth > 0;
    left.assign(count, 0);
    next_command = closed_loop ? std::min(depth, count) : std::min<int64_t>(1, count);
    start = now;
    for (int64_t index = 0; index < next_command; index++)
        push(closed_loop ? start : start + list[index].time, Kind::ARRIVE, index);
    while (!events.empty()) {
        Event event = events.top();
        events.pop();
        handle(event);
    }
    return count - next_command + std::count_if(left.begin(), left.end(), [](int32_t parts) { return parts != 0; });
}

// Take commands from the host one by one: `begin` submits one of these, whose memory is the host's.
void Simulation::open(Command *slots, int64_t count) {
    for (Drive &drive : drives) settle(drive);
    commands = slots;
    command_count = 0;
    closed_loop = true;
    left.assign(count, 0);
}

// Go on until a command is done, or to the cycle `until`; returns the present cycle.
int64_t Simulation::advance(int64_t until) {
    any_done = false;
    while (!any_done && !events.empty() && events.top().time <= until) {
        Event event = events.top();
        events.pop();
        handle(event);
    }
    if (!any_done && until != INT64_MAX) now = std::max(now, until);
    return now;
}

void Simulation::handle(const Event &event) {
    now = event.time;
    switch (event.kind()) {
    case Kind::ARRIVE:
        if (!closed_loop && next_command < command_count) {
            push(start + commands[next_command].time, Kind::ARRIVE, next_command);
            next_command++;
        }
        submit(event.where);
        break;
    case Kind::ISSUE: issue(event.where); break;
    case Kind::FIRMWARE: firmware_done(event.where, event.page, event.command); break;
    case Kind::BUS: end_use(event.where); break;
    case Kind::SENSED: sensed(event.where); break;
    case Kind::ARRAY: array_event(event.where); break;
    case Kind::WAKE: kick(event.where); break;
    case Kind::SENT: host_page_done(event.where, event.command); break;
    }
}

// Call `take(drive, first page there, pages)` for each part of a command. The pages of a command that lie on
// one drive are consecutive there.
template <typename Take> void Simulation::split(uint32_t index, Take take) {
    int64_t page = commands[index].first, end = page + commands[index].count;
    int64_t first[64], counts_of[64] = {};
    while (page < end) {
        int64_t stripe = page / p.stripe, offset = page % p.stripe;
        int64_t drive = stripe % p.drives, run = std::min(p.stripe - offset, end - page);
        if (!counts_of[drive]) first[drive] = stripe / p.drives * p.stripe + offset;
        counts_of[drive] += run;
        page += run;
    }
    for (int64_t drive = 0; drive < p.drives; drive++)
        if (counts_of[drive]) take(drive, first[drive], counts_of[drive]);
}

void Simulation::submit(uint32_t index) {
    Command &command = commands[index];
    command.begun = now;
    left[index] = command.count;
    switch (Operation(command.op)) {
    case Operation::READ: begin_read(index); break;
    case Operation::WRITE: merge_or_write(index); break;
    case Operation::TRIM: trim(index); break;
    case Operation::FLUSH: left[index] = 1, finish_part(index); break;
    }
}

void Simulation::begin_read(uint32_t index) {
    split(index, [&](uint32_t number, int64_t first, int64_t count) {
        Drive &drive = drives[number];
        drive.host_pages += count;
        drive.reads.push_back({index, first, count});
        drive.read_free = std::max(now, drive.read_free) + p.read_time;
        push(drive.read_free, Kind::ISSUE, number);
    });
}

// A page that is written in part is read first, if it was written before.
void Simulation::merge_or_write(uint32_t index) {
    const Command &command = commands[index];
    int merges = 0;
    for (int end = 0; end < 2; end++) {
        int64_t page = end ? command.first + command.count - 1 : command.first;
        if (!(command.partial >> end & 1) || (end && command.partial & 1 && command.count == 1)) continue;
        int64_t stripe = page / p.stripe, number = stripe % p.drives;
        int64_t at = drives[number].ftl.find(stripe / p.drives * p.stripe + page % p.stripe);
        if (at >= 0 && read_page(number, at, index, Reader::MERGE)) merges++;
    }
    kick_readers();
    left[index] = merges ? merges : int32_t(command.count);
    if (!merges) begin_write(index);
}

void Simulation::begin_write(uint32_t index) {
    left[index] = commands[index].count;
    split(index, [&](uint32_t number, int64_t first, int64_t count) {
        drives[number].host_pages += count;
        drives[number].writes.push_back({index, first, count});
        pump(number);
    });
}

void Simulation::trim(uint32_t index) {
    split(index, [&](uint32_t number, int64_t first, int64_t count) {
        for (int64_t page = first; page < first + count; page++) drives[number].ftl.unmap(page);
    });
    left[index] = 1;
    finish_part(index);
}

// The controller has taken the oldest read command of a drive.
void Simulation::issue(uint32_t number) {
    Drive &drive = drives[number];
    Part part = drive.reads.front();
    drive.reads.pop_front();
    for (int64_t page = part.next; page < part.next + part.left; page++) {
        int64_t at = drive.ftl.find(page);
        if (at < 0 || !read_page(number, at, part.command, Reader::HOST)) send_page(number, part.command);
    }
    kick_readers();
}

// Queue a read at its die; false if the page is in SRAM.
bool Simulation::read_page(uint32_t number, int64_t at, uint32_t command, Reader by) {
    if (drives[number].filled[set_of(at)] != PROGRAMMED) {
        counts[BUFFER_HITS]++;
        return false;
    }
    uint32_t die = die_of(number, at);
    auto &queue = by == Reader::COLLECTOR ? dies[die].moves : dies[die].reads;
    queue.push_back({uint32_t(at), command, by});
    readers.push_back(channel_of(die));
    return true;
}

// Start the reads that were queued together, so that the pages of a page set are sensed together.
void Simulation::kick_readers() {
    for (uint32_t channel : readers) kick(channel);
    readers.clear();
}

// A page that was read goes to the host.
void Simulation::send_page(uint32_t number, uint32_t command) {
    if (!p.link) return host_page_done(number, command);
    Drive &drive = drives[number];
    drive.out_free = std::max(now, drive.out_free) + p.link;
    push(drive.out_free, Kind::SENT, number, 0, command);
}

void Simulation::host_page_done(uint32_t number, uint32_t command) {
    note_host_end();
    drives[number].host_pages--;
    finish_part(command);
    collect(number);
}

void Simulation::finish_part(uint32_t index) {
    if (--left[index]) return;
    commands[index].done = now;
    any_done = true;
    if (closed_loop && next_command < command_count) push(now, Kind::ARRIVE, next_command++);
}
