// The functions that Python calls (`flashtrain.ssd.kernel`).
#include "simulation.h"

namespace {
#define NAME(name) #name " "
constexpr const char *NAMES = SSD_PARAMETERS(NAME);
#undef NAME
} // namespace

extern "C" {

const char *flashtrain_ssd_parameters() { return NAMES; }

void *flashtrain_ssd_create(const int64_t *values) {
    return new Simulation(*reinterpret_cast<const Parameters *>(values));
}

void flashtrain_ssd_destroy(void *simulation) { delete static_cast<Simulation *>(simulation); }

int64_t flashtrain_ssd_run(void *simulation, Command *commands, int64_t count, int64_t depth) {
    return static_cast<Simulation *>(simulation)->run(commands, count, depth);
}

// Commands from the host one by one: see `Simulation::open`.
void flashtrain_ssd_open(void *simulation, Command *slots, int64_t count) {
    static_cast<Simulation *>(simulation)->open(slots, count);
}

void flashtrain_ssd_begin(void *simulation, int64_t slot) { static_cast<Simulation *>(simulation)->begin(slot); }

int64_t flashtrain_ssd_advance(void *simulation, int64_t until) {
    return static_cast<Simulation *>(simulation)->advance(until);
}

// `Count`s so far.
void flashtrain_ssd_counts(void *simulation, int64_t *counts) {
    for (int number = 0; number < COUNTS; number++)
        counts[number] = static_cast<Simulation *>(simulation)->counts[number];
}

// Write logical pages of one drive in their order, in no time.
void flashtrain_ssd_fill(void *simulation, int64_t drive, int64_t first, int64_t count, int64_t *counted) {
    Simulation &s = *static_cast<Simulation *>(simulation);
    Counted sum;
    for (int64_t page = first; page < first + count; page++) write_now(s.drives[drive].ftl, page, sum);
    s.drives[drive].settled = false;
    counted[0] = sum.written, counted[1] = sum.moved, counted[2] = sum.erased;
}

// Overwrite `count` logical pages of one drive, chosen at random, in no time.
void flashtrain_ssd_overwrite(void *simulation, int64_t drive, int64_t count, uint64_t seed, int64_t *counted) {
    Simulation &s = *static_cast<Simulation *>(simulation);
    Random random(seed);
    Counted sum;
    for (int64_t number = 0; number < count; number++)
        write_now(s.drives[drive].ftl, random.below(s.p.user_pages), sum);
    s.drives[drive].settled = false;
    counted[0] = sum.written, counted[1] = sum.moved, counted[2] = sum.erased;
}

// Superblocks that are free, and that are closed; valid pages of the latter.
void flashtrain_ssd_blocks(void *simulation, int64_t drive, int64_t *free, int64_t *closed, int64_t *valid) {
    const Ftl &ftl = static_cast<Simulation *>(simulation)->drives[drive].ftl;
    *free = ftl.free_count();
    *closed = *valid = 0;
    for (int64_t block = 0; block < ftl.p.blocks; block++)
        if (ftl.condition[block] == Condition::CLOSED) *closed += 1, *valid += ftl.valid[block];
}
}
