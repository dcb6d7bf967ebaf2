// The bus of a channel and the arrays of its dies.
#include <algorithm>

#include "simulation.h"

// Begin the next use of a bus that is idle, if there is one.
void Simulation::kick(uint32_t number) {
    Channel &channel = channels[number];
    if (channel.use != Use::NONE) return;
    int die = 0;
    int64_t later = INT64_MAX;
    Use use = choose(number, die, later);
    if (use != Use::NONE) {
        int64_t cycles = begin_use(number, use, die);
        counts[BUS_BUSY] += cycles;
        push(now + cycles, Kind::BUS, number);
    } else if (later != INT64_MAX && (channel.wake <= now || later < channel.wake)) {
        channel.wake = later;
        push(later, Kind::WAKE, number);
    }
}

// Commands go first, for they are short. Data out and data in take turns, and so do the dies.
Use Simulation::choose(uint32_t number, int &chosen, int64_t &later) {
    const Channel &channel = channels[number];
    int output = -1, load = -1;
    for (int turn = 1; turn <= p.dies; turn++) {
        int index = (channel.last + turn) & (p.dies - 1);
        Die &die = dies[number * p.dies + index];
        chosen = index;
        if (can_sense(die, later)) return Use::SENSE;
        if (can_erase(die)) return Use::ERASE;
        if (output < 0 && die.held && die.groups[0].sensed) output = index;
        if (load < 0 && can_load(die, later)) load = index;
    }
    if (output >= 0 && (load < 0 || !channel.last_was_output)) return chosen = output, Use::OUTPUT;
    if (load >= 0) return chosen = load, Use::LOAD;
    return Use::NONE;
}

// Reads of the host suspend a program or erase. An idle array alternates between reads and the rest.
bool Simulation::can_sense(Die &die, int64_t &later) {
    bool any = !die.reads.empty() || !die.moves.empty();
    if (!any || die.commanded || die.sensing || die.held >= (die.writing() ? 1 : 2)) return false;
    if (die.array == Array::IDLE) return die.last != Array::SENSE || !(die.loaded || !die.erases.empty());
    if (!p.suspend || die.reads.empty()) return false;
    if (now < die.resumed + p.tadv) {
        later = std::min(later, die.resumed + p.tadv);
        return false;
    }
    return true;
}

// The output of a read on an idle array uses the cache registers.
bool Simulation::can_load(const Die &die, int64_t &later) const {
    if (die.loaded || die.sets.empty()) return false;
    if (die.held && die.array != Array::PROGRAM && die.array != Array::ERASE && !die.loading) return false;
    if (now < die.load_ready) {
        later = std::min(later, die.load_ready);
        return false;
    }
    return true;
}

bool Simulation::can_erase(const Die &die) const {
    return !die.erases.empty() && die.array == Array::IDLE && !die.commanded && !die.sensing && !die.held &&
           !(die.loaded && die.last != Array::PROGRAM);
}

// Cycles of a use of the bus. The wait for a change of plane (tCCS), or for data in (tADL), is hidden behind a
// use by another die, if it could begin then.
int64_t Simulation::begin_use(uint32_t number, Use use, int index) {
    Channel &channel = channels[number];
    Die &die = dies[number * p.dies + index];
    bool other = index != channel.last;
    int64_t cycles = 0;
    if (channel.last_was_output) cycles += other ? p.tchz : p.trhw;
    switch (use) {
    case Use::SENSE:
        cycles += take_group(die) * p.sense_command;
        die.commanded = true;
        break;
    case Use::ERASE:
        cycles += p.planes * p.erase_command;
        die.commanded = true;
        break;
    case Use::OUTPUT: {
        const Group &group = die.groups[0];
        bool hidden = other && group.ready <= channel.last_begin;
        cycles += (group.sent ? 0 : p.status) + p.select + (hidden ? 0 : p.tccs) + p.data;
        break;
    }
    case Use::LOAD: {
        bool hidden = other && die.load_ready <= channel.last_begin;
        cycles += p.address + (hidden ? 0 : p.tadl) + p.data + p.confirm;
        if (die.plane + 1 == p.planes) cycles += p.status;
        die.loading = true;
        break;
    }
    case Use::NONE: break;
    }
    channel.use = use;
    channel.die = index;
    channel.last_begin = now;
    return cycles;
}

// The first reads of a queue that lie in one page set; returns their number.
int64_t Simulation::take_group(Die &die) {
    auto &queue = die.reads.empty() ? die.moves : die.reads;
    Group &group = die.groups[die.held++];
    group.count = group.sent = 0;
    group.sensed = false;
    int64_t set = set_of(queue.front().page);
    uint64_t planes = 0;
    while (!queue.empty() && set_of(queue.front().page) == set) {
        uint64_t plane = 1ULL << plane_of(queue.front().page);
        if (planes & plane) break;
        planes |= plane;
        group.pages[group.count++] = queue.front();
        queue.pop_front();
    }
    counts[SENSES]++;
    counts[PAGES_SENSED] += group.count;
    return group.count;
}

void Simulation::end_use(uint32_t number) {
    Channel &channel = channels[number];
    uint32_t index = number * p.dies + channel.die;
    Die &die = dies[index];
    Use use = channel.use;
    channel.use = Use::NONE;
    channel.last = channel.die;
    channel.last_was_output = use == Use::OUTPUT;
    if (use == Use::SENSE) {
        die.commanded = false;
        die.sensing = true;
        int64_t end = now + p.twb + p.tr + p.trr;
        if (die.array == Array::IDLE) {
            die.array = Array::SENSE;
        } else {
            end += p.tsusp;
            die.array_end += p.tsusp + p.tr + p.tres;
            die.resumed = end + p.tres;
        }
        push(end, Kind::SENSED, index);
    } else if (use == Use::ERASE) {
        die.commanded = false;
        die.array = Array::ERASE;
        die.resumed = now;
        die.array_end = now + p.twb + p.tbers;
        push(die.array_end, Kind::ARRAY, index);
    } else if (use == Use::LOAD) {
        die.load_ready = now + p.tdbsy;
        if (++die.plane == p.planes) {
            die.plane = 0;
            die.loading = false;
            die.loaded = true;
            begin_array(index);
        }
    } else if (use == Use::OUTPUT) {
        Group &group = die.groups[0];
        PageRead read = group.pages[group.sent++];
        if (group.sent == group.count) {
            if (--die.held) std::swap(die.groups[0], die.groups[1]);
            begin_array(index);
        }
        uint32_t drive = drive_of(index);
        if (read.by == Reader::HOST) {
            send_page(drive, read.command);
        } else if (read.by == Reader::COLLECTOR) {
            drives[drive].moved.push_back(read.page);
            pump(drive);
        } else if (!--left[read.command]) {
            begin_write(read.command);
        }
    }
    kick(number);
}

// Program the loaded page set, if the array may: reads and erases that wait have had their turn.
void Simulation::begin_array(uint32_t index) {
    Die &die = dies[index];
    if (!die.loaded || die.array != Array::IDLE || die.commanded || die.held) return;
    bool others = !die.erases.empty() || !die.reads.empty() || !die.moves.empty();
    if (die.last == Array::PROGRAM && others) return;
    die.running_set = die.sets.front();
    die.sets.pop_front();
    die.loaded = false;
    die.array = Array::PROGRAM;
    die.resumed = now;
    die.array_end = now + p.tprog;
    die.load_ready = std::max(die.load_ready, now + p.tcbsy);
    push(die.array_end, Kind::ARRAY, index);
}

// A program or an erase ends, unless it was suspended since the event was made.
void Simulation::array_event(uint32_t index) {
    Die &die = dies[index];
    if (now < die.array_end || die.sensing) {
        push(std::max(now + 1, die.array_end), Kind::ARRAY, index);
        return;
    }
    die.last = die.array;
    die.array = Array::IDLE;
    if (die.last == Array::PROGRAM)
        programmed(index);
    else
        erased(index);
    begin_array(index);
    kick(channel_of(index));
}

void Simulation::sensed(uint32_t index) {
    Die &die = dies[index];
    die.sensing = false;
    Group &group = die.groups[die.held - 1];
    group.sensed = true;
    group.ready = now;
    if (die.array == Array::SENSE) {
        die.array = Array::IDLE;
        die.last = Array::SENSE;
    }
    kick(channel_of(index));
}
