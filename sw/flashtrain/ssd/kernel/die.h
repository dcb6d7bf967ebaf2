// The state of a die: its array, its registers, and the operations that wait for it.
#pragma once
#include <deque>

#include "parameters.h"

enum class Reader : uint8_t { HOST, COLLECTOR, MERGE }; // MERGE: the rest of a page that is written in part
enum class Array : uint8_t { IDLE, SENSE, PROGRAM, ERASE };

constexpr int MOST_PLANES = 16;

struct PageRead {
    uint32_t page; // physical
    uint32_t command;
    Reader by;
};

// Pages of one page set, sensed together.
struct Group {
    PageRead pages[MOST_PLANES];
    int count = 0, sent = 0;
    bool sensed = false;
    int64_t ready = 0;
};

struct Die {
    Array array = Array::IDLE, last = Array::IDLE;
    int64_t array_end = 0;
    int64_t resumed = 0;      // since when the program or erase advances
    bool commanded = false;   // a command for the array is on the bus
    bool sensing = false;     // the array senses, alone or within a suspended program or erase
    int64_t running_set = -1; // page set that is programmed

    std::deque<int64_t> sets; // page sets to be programmed
    bool loading = false;     // the first of `sets` is on its way into the cache registers,
    bool loaded = false;      // or is there, and waits for the array
    int plane = 0;            // next to be loaded
    int64_t load_ready = 0;   // when it may be

    std::deque<PageRead> reads, moves; // of host and collector
    Group groups[2];                   // sensed or being sensed; the first is output first
    int held = 0;
    std::deque<int64_t> erases; // superblocks

    bool writing() const { return loading || loaded || array == Array::PROGRAM || array == Array::ERASE; }
};
