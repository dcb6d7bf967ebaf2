// Writes that take no time: to fill a drive, and to find its write amplification.
#pragma once
#include "ftl.h"

struct Counted {
    int64_t written = 0, moved = 0, erased = 0; // pages, pages, superblocks
};

// Collect until a superblock is free for the host, at the same threshold as a saturated drive in time.
inline void make_room(Ftl &ftl, Counted &counted) {
    while (ftl.free_count() <= ftl.p.gc_critical) {
        int64_t block = ftl.victim([](int64_t) { return true; });
        if (block < 0) return;
        int64_t first = block * ftl.p.superblock();
        for (int64_t at = first; ftl.valid[block]; at++) {
            int64_t page = ftl.owner(at);
            if (page < 0) continue;
            ftl.place(page, Writer::COLLECTOR);
            counted.moved++;
        }
        ftl.erase(block);
        counted.erased++;
    }
}

inline void write_now(Ftl &ftl, int64_t page, Counted &counted) {
    if (ftl.free_count() <= ftl.p.gc_critical) make_room(ftl, counted);
    ftl.place(page, Writer::HOST);
    counted.written++;
}

// xorshift64* (Vigna 2016): numbers for choices, not for secrets.
struct Random {
    uint64_t state;
    explicit Random(uint64_t seed) : state(seed * 2 + 1) {}
    uint64_t below(uint64_t bound) {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        return uint64_t((unsigned __int128)(state * 0x2545F4914F6CDD1DULL) * bound >> 64);
    }
};
