// A drive: firmware, write buffer and garbage collection.
#include <algorithm>

#include "simulation.h"

// Give work to idle cores. The host goes first, unless free superblocks are critical.
void Simulation::pump(uint32_t number) {
    Drive &drive = drives[number];
    while (drive.cores) {
        bool critical = drive.ftl.free_count() <= p.gc_critical;
        if (critical ? start_moved_page(number) || start_host_page(number)
                     : start_host_page(number) || start_moved_page(number))
            continue;
        break;
    }
}

bool Simulation::start_host_page(uint32_t number) {
    Drive &drive = drives[number];
    if (drive.writes.empty() || drive.buffered == p.buffer || !drive.ftl.can_place(Writer::HOST)) return false;
    Part &part = drive.writes.front();
    int64_t at = drive.ftl.place(part.next++, Writer::HOST);
    drive.buffered++;
    drive.cores--;
    counts[WRITTEN]++;
    counts[FIRMWARE_BUSY] += p.write_time;
    if (p.link) drive.in_free = std::max(now, drive.in_free) + p.link;
    push(std::max(now, drive.in_free) + p.write_time, Kind::FIRMWARE, number, at, part.command);
    if (!--part.left) drive.writes.pop_front();
    return true;
}

bool Simulation::start_moved_page(uint32_t number) {
    Drive &drive = drives[number];
    while (!drive.moved.empty()) {
        int64_t page = drive.ftl.owner(drive.moved.front());
        drive.moved.pop_front();
        drive.outstanding--;
        if (page < 0) { // written anew meanwhile
            drive.moving--;
            end_of_victim(number);
            continue;
        }
        int64_t at = drive.ftl.place(page, Writer::COLLECTOR);
        drive.cores--;
        counts[FIRMWARE_BUSY] += p.move_time;
        push(now + p.move_time, Kind::FIRMWARE, number, at);
        end_of_victim(number);
        return true;
    }
    return false;
}

// A page is in its page set; a complete set goes to its die.
void Simulation::firmware_done(uint32_t number, int64_t at, uint32_t command) {
    Drive &drive = drives[number];
    drive.cores++;
    int64_t set = set_of(at);
    if (++drive.filled[set] == p.planes) {
        uint32_t die = die_of_set(number, set);
        dies[die].sets.push_back(set);
        kick(channel_of(die));
    }
    if (drive.ftl.writer[superblock_of(at)] == Writer::HOST)
        host_page_done(number, command);
    else
        counts[MOVED]++;
    collect(number);
    pump(number);
}

// Read on from the victim, as far as its share of SRAM has room.
void Simulation::collect(uint32_t number) {
    while (may_collect(number) && collect_page(number)) {
    }
    kick_readers();
}

// The collector yields to the host until free superblocks are critical.
bool Simulation::may_collect(uint32_t number) const {
    const Drive &drive = drives[number];
    int64_t free = drive.ftl.free_count();
    if (free > p.gc_critical && (drive.host_pages || free > p.gc_start)) return false;
    return !drive.erasing && drive.moving < p.gc_buffer;
}

// Read the next valid page of the victim; false if there is none.
bool Simulation::collect_page(uint32_t number) {
    Drive &drive = drives[number];
    if (drive.victim < 0) {
        auto settled = [&](int64_t block) { return drive.programmed[block] == p.sets_of_superblock(); };
        drive.victim = drive.ftl.victim(settled);
        if (drive.victim < 0) return false;
        drive.cursor = drive.victim * p.superblock();
    }
    int64_t end = (drive.victim + 1) * p.superblock();
    while (drive.cursor < end && drive.ftl.owner(drive.cursor) < 0) drive.cursor++;
    if (drive.cursor == end) {
        end_of_victim(number);
        return false;
    }
    drive.moving++;
    drive.outstanding++;
    read_page(number, drive.cursor++, 0, Reader::COLLECTOR);
    return true;
}

// Erase the victim when nothing of it is left.
void Simulation::end_of_victim(uint32_t number) {
    Drive &drive = drives[number];
    int64_t block = drive.victim;
    if (block < 0 || drive.erasing || drive.outstanding || drive.cursor < (block + 1) * p.superblock()) return;
    drive.erasing = p.channels * p.dies;
    for (uint32_t die = number * drive.erasing; die < (number + 1) * drive.erasing; die++)
        dies[die].erases.push_back(block);
    for (int64_t channel = 0; channel < p.channels; channel++) kick(number * p.channels + channel);
}

void Simulation::programmed(uint32_t number) {
    Drive &drive = drives[drive_of(number)];
    int64_t set = dies[number].running_set, block = set / p.sets_of_superblock();
    drive.filled[set] = PROGRAMMED;
    drive.programmed[block]++;
    counts[PROGRAMS]++;
    if (drive.ftl.writer[block] == Writer::HOST) {
        drive.buffered -= p.planes;
        note_host_end();
    } else {
        drive.moving -= p.planes;
    }
    collect(drive_of(number));
    pump(drive_of(number));
}

void Simulation::erased(uint32_t number) {
    Drive &drive = drives[drive_of(number)];
    int64_t block = dies[number].erases.front();
    dies[number].erases.pop_front();
    counts[ERASED] += p.planes;
    if (--drive.erasing) return;
    std::fill_n(drive.filled.begin() + block * p.sets_of_superblock(), p.sets_of_superblock(), 0);
    drive.programmed[block] = 0;
    drive.victim = -1;
    drive.ftl.erase(block);
    collect(drive_of(number));
    pump(drive_of(number));
}

// After writes in no time: all complete page sets are programmed, and the others are in SRAM.
void Simulation::settle(Drive &drive) {
    if (drive.settled) return;
    drive.settled = true;
    drive.buffered = drive.moving = 0;
    for (int64_t block = 0; block < p.blocks; block++) {
        Condition condition = drive.ftl.condition[block];
        int64_t first = block * p.sets_of_superblock(), written = 0;
        if (condition == Condition::CLOSED) written = p.superblock();
        if (condition == Condition::OPEN)
            written = drive.ftl.next_page(drive.ftl.writer[block]) - block * p.superblock();
        int64_t row = p.channels * p.planes, sets = written / row * p.channels, left = written % row;
        std::fill_n(drive.filled.begin() + first, sets, PROGRAMMED);
        std::fill_n(drive.filled.begin() + first + sets, p.sets_of_superblock() - sets, 0);
        drive.programmed[block] = sets;
        for (int64_t channel = 0; channel < p.channels && left; channel++) {
            int64_t pages = left / p.channels + (channel < left % p.channels);
            bool complete = pages == p.planes;
            drive.filled[first + sets + channel] = complete ? PROGRAMMED : pages;
            drive.programmed[block] += complete;
            if (!complete) (drive.ftl.writer[block] == Writer::HOST ? drive.buffered : drive.moving) += pages;
        }
    }
}
