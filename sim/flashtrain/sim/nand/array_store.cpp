// What the arrays of all dies hold: pages, made when they are programmed and freed when their block is erased; and what
// goes wrong with them.
//
// One system per process or loaded library: the functions that array.sv calls have no other context.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "array_cut.h"
#include "array_errors.h"
#include "array_store.h"

extern "C" void flashtrain_violation(const char* message);

namespace {

using flashtrain_errors::Cut;
using flashtrain_errors::Model;
using flashtrain_errors::Place;
using namespace flashtrain_store;

std::map<std::pair<int, int>, Store> stores;

struct Fault {
    int channel, die, plane, block;
};

std::vector<Fault> faults;
std::set<std::pair<int, int>> hanging;  // dies, by the host's wish or the model's

// A bit that a sense got wrong.
struct Flip {
    uint16_t channel, die, plane, block;
    uint32_t page, sense, bit;
};

// Blocks that their maker has marked as bad: channel, die, plane, block.
std::set<std::array<int, 4>> marked;

// An operation that was cut short, on one plane.
struct CutShort {
    uint32_t erase, channel, die, plane, block;
    uint32_t page;  // of an erase: how many the block had
    uint32_t left;  // zeros that a program has not made, or an erase has left
};

std::vector<CutShort> cuts;
std::optional<Model> model;
double now = 0;  // seconds of which the simulation knows nothing
bool keep_flips = false;
std::vector<Flip> flips;

constexpr int kWordsAhead = 8;

// Of ArrayOp; the fourth is a suspended read.
constexpr int kSense = 0, kProgram = 1, kErase = 2;

// The store of a die, also of one that no array has opened yet.
Store& store_at(int channel, int die) {
    Store& store = stores[{channel, die}];
    store.channel = channel;
    store.die = die;
    if (image) store.page_bytes = image->format.page_bytes;
    return store;
}

// What stays of a block's or a die's condition, in the image.
void set_flag(Store& store, int plane, int block, uint64_t flag, bool on) {
    if (!image) return;
    Block& flagged = store.block(plane, block);
    flagged.flags = static_cast<uint32_t>(on ? flagged.flags | flag : flagged.flags & ~flag);
    store.save(plane, block);
}

void hang(int channel, int die) {
    if (!hanging.insert({channel, die}).second || !image) return;
    image->put_die_flags(channel, die, static_cast<uint32_t>(image->format.hung));
}

// The simulation ends at a failure of the image: the host reads the reason.
void check_image() {
    if (image && !image->error.empty()) flashtrain_violation(image->error.c_str());
}

Store& of(void* store) { return *static_cast<Store*>(store); }

// What a sense finds in a page, or in one that holds nothing but FFh.
void sense_with_errors(Store& store, int plane, int block, int page, const Block& in, const Page& cells,
                       int level) {
    constexpr double kSecondsPerDay = 86400;
    OpenPage& open = store.open[plane];
    const Place at = store.place(plane, block, page);
    const double days = cells.bytes ? (now - cells.programmed) / kSecondsPerDay : 0;
    const double rate = model->bit_error_rate(in.erases, days, in.reads, store.level + level);
    const std::vector<uint32_t> wrong =
        model->wrong_bits(at, static_cast<uint32_t>(8 * store.page_bytes), cells.senses, rate);
    if (wrong.empty()) return;
    open.sensed.resize(store.page_bytes);
    if (open.bytes) {
        std::memcpy(open.sensed.data(), open.bytes, store.page_bytes);
    } else {
        std::memset(open.sensed.data(), 0xFF, store.page_bytes);
    }
    for (const uint32_t bit : wrong) {
        open.sensed[bit / 8] ^= 1 << bit % 8;
        if (keep_flips) {
            flips.push_back({static_cast<uint16_t>(store.channel), static_cast<uint16_t>(store.die),
                             static_cast<uint16_t>(plane), static_cast<uint16_t>(block), static_cast<uint32_t>(page),
                             cells.senses, bit});
        }
    }
    store.flipped += wrong.size();
    open.bytes = open.sensed.data();
}

// What a page holds, and how many bytes; null if it was not programmed since its block was erased.
std::pair<uint8_t*, size_t> cells_of(int channel, int die, int plane, int block, int page) {
    if (image) {
        Store& store = store_at(channel, die);
        return {store.cells(plane, block, page), store.page_bytes};
    }
    const auto store = stores.find({channel, die});
    if (store == stores.end()) return {};
    const auto found = store->second.blocks.find(Store::key(plane, block));
    if (found == store->second.blocks.end()) return {};
    const std::vector<Page>& pages = found->second.pages;
    if (static_cast<size_t>(page) >= pages.size()) return {};
    return {pages[page].bytes.get(), store->second.page_bytes};
}

// Whether the model lets an operation hang. A sense has opened its page, a suspended read has not.
bool model_hangs(Store& store, int op, int plane, int block, int page) {
    using namespace flashtrain_errors;
    if (op == kProgram) return model->hangs(PROGRAM_HANG, store.place(plane, block, page));
    if (op == kErase) return model->hangs(ERASE_HANG, store.place(plane, block, 0));
    const uint32_t senses = store.block(plane, block).page(page).senses;
    return model->hangs(SENSE_HANG, store.place(plane, block, page), op == kSense ? senses - 1 : senses);
}

}  // namespace

extern "C" {

// For array.sv, through DPI.

void* flashtrain_array_open(int channel, int die, int planes, int page_words, int word_bytes) {
    Store& store = store_at(channel, die);
    store.word_bytes = word_bytes;
    store.page_bytes = static_cast<size_t>(page_words) * word_bytes;
    store.open.resize(planes);
    return &store;
}

// Opens a page of FFh for writing.
void flashtrain_array_new_page(void* store, int plane, int block, int page) {
    Page& cells = of(store).block(plane, block).page(page);
    if (!cells.bytes) cells.bytes.reset(new uint8_t[of(store).page_bytes]);
    std::memset(cells.bytes.get(), 0xFF, of(store).page_bytes);
    cells.programmed = now;
    cells.stored.reset();
    OpenPage& open = of(store).open[plane];
    open.bytes = cells.bytes.get();
    open.block = block;
    open.page = page;
    open.torn.reset();
}

// Opens a page for reading: senses it, at a level so many steps lower. A page that was never written reads as FFh, but
// for errors.
void flashtrain_array_open_page(void* store, int plane, int block, int page, int level) {
    Block& in = of(store).block(plane, block);
    Page& cells = in.page(page);
    of(store).open[plane].bytes = of(store).cells(plane, block, page);
    check_image();
    if (model) sense_with_errors(of(store), plane, block, page, in, cells, level);
    ++cells.senses;
    ++in.reads;
}

void flashtrain_array_erase(void* store, int plane, int block) {
    Block& erased = of(store).block(plane, block);
    erased.pages.clear();
    erased.pages.shrink_to_fit();
    erased.reads = 0;
    ++erased.erases;
    if (!image) return;
    erased.flags &= ~image->format.cut;
    of(store).save(plane, block);
    image->free_cells(of(store).number_of(plane, block));
    check_image();
}

// How many pages of a block were programmed before the simulation began; all if it needs an erase.
int flashtrain_array_programmed(void* store, int plane, int block) { return of(store).block(plane, block).stored; }

// A program, or an erase, ends when it has had `passed` cycles of the `takes` that it needs. What it was to write is in
// its page as far as it was taken.
void flashtrain_array_cut(void* opened, int erase, int plane, int block, int page, int passed, int takes) {
    Store& store = of(opened);
    Block& in = store.block(plane, block);
    const Cut cut{model ? model->seed : 0, static_cast<double>(passed) / takes};
    const auto bytes = static_cast<uint32_t>(store.page_bytes);
    uint32_t left = 0;
    if (erase) {
        page = static_cast<int>(in.pages.size());
        for (int i = 0; i < page; ++i) {
            if (uint8_t* const cells = store.cells(plane, block, i)) {
                left += cut.erase(store.place(plane, block, i), cells, bytes);
            }
        }
        in.reads = 0;
        ++in.erases;
        if (image) {
            in.flags |= image->format.cut;
            store.save(plane, block);
            for (int i = 0; i < page; ++i) {
                if (in.pages[i].bytes) store.save_page(plane, block, i, true);
            }
        }
    } else {
        left = cut.program(store.place(plane, block, page), in.page(page).bytes.get(), bytes);
        store.save_page(plane, block, page, true);
    }
    check_image();
    cuts.push_back({static_cast<uint32_t>(erase), static_cast<uint32_t>(store.channel), static_cast<uint32_t>(store.die),
                    static_cast<uint32_t>(plane), static_cast<uint32_t>(block), static_cast<uint32_t>(page), left});
}

void flashtrain_array_write(void* store, int plane, int word, const uint32_t* data) {
    const size_t bytes = of(store).word_bytes;
    OpenPage& open = of(store).open[plane];
    if (!open.bytes) return;
    uint8_t* const to = open.bytes + word * bytes;
    std::memcpy(to, data, bytes);
    __builtin_prefetch(to + kWordsAhead * bytes, 1);
    if (open.torn) {
        for (size_t i = 0; i < bytes; ++i) {
            const size_t at = word * bytes + i;
            to[i] |= static_cast<uint8_t>(flashtrain_errors::draw(*open.torn, at / 8) >> 8 * (at % 8));
        }
    }
    if (image && (word + 1) * bytes == of(store).page_bytes) {
        of(store).save_page(plane, open.block, open.page, open.torn.has_value());
        check_image();
    }
}

void flashtrain_array_read(void* store, int plane, int word, uint32_t* data) {
    const size_t bytes = of(store).word_bytes;
    if (const uint8_t* const from = of(store).open[plane].bytes) {
        std::memcpy(data, from + word * bytes, bytes);
        // Words of many dies come by turns: no cache guesses which is next.
        __builtin_prefetch(from + (word + kWordsAhead) * bytes);
    } else {
        std::memset(data, 0xFF, bytes);
    }
}

// Whether an operation fails on a plane (1), or never ends (2), or must not be done at all (3), since it is a program or
// an erase of a block that its maker has marked as bad. Operations are ArrayOp's; a program or sense has opened its page.
int flashtrain_array_fails(int channel, int die, int op, int plane, int block, int page) {
    if (model && model_hangs(store_at(channel, die), op, plane, block, page)) hang(channel, die);
    if (hanging.count({channel, die})) return 2;
    if (op != kProgram && op != kErase) return 0;
    if (marked.count({channel, die, plane, block})) return 3;
    for (const Fault& fault : faults) {
        if (fault.channel == channel && fault.die == die && fault.plane == plane && fault.block == block) return 1;
    }
    if (!model) return 0;
    Store& store = store_at(channel, die);
    Block& in = store.block(plane, block);
    if (op == kErase) {
        in.stuck = model->erase_fails(store.place(plane, block, 0));
        if (image && in.stuck != ((in.flags & image->format.stuck) != 0)) {
            set_flag(store, plane, block, image->format.stuck, in.stuck);
        }
        return in.stuck;
    }
    const Place at = store.place(plane, block, page);
    if (!in.stuck && !model->program_fails(at)) return 0;
    store.open[plane].torn = model->key(flashtrain_errors::TORN, at);
    return 1;
}

// For the host.

// From now on programs and erases of this block fail.
void flashtrain_array_add_fault(int channel, int die, int plane, int block) {
    faults.push_back({channel, die, plane, block});
    if (image) set_flag(store_at(channel, die), plane, block, image->format.broken, true);
    check_image();
}

// The maker has marked this block as bad, in a page that holds these bytes. It works as others do, which nobody must try.
void flashtrain_array_mark(int channel, int die, int plane, int block, int page, const uint8_t* bytes, uint32_t count) {
    Store& store = store_at(channel, die);
    Page& cells = store.block(plane, block).page(page);
    cells.bytes.reset(new uint8_t[count]);
    std::memcpy(cells.bytes.get(), bytes, count);
    store.save_page(plane, block, page, false);
    if (image) set_flag(store, plane, block, image->format.marked, true);
    check_image();
    marked.insert({channel, die, plane, block});
}

// From now on no operation of this die's array ends, except by a reset or a loss of power.
void flashtrain_array_hang(int channel, int die) {
    hang(channel, die);
    check_image();
}

void flashtrain_array_clear_faults() {
    if (image) {
        for (const Fault& fault : faults) {
            set_flag(store_at(fault.channel, fault.die), fault.plane, fault.block, image->format.broken, false);
        }
        for (const auto& [channel, die] : hanging) image->put_die_flags(channel, die, 0);
    }
    faults.clear();
    hanging.clear();
    check_image();
}

// Copies what a page holds to `bytes`; 0 if it was not programmed since its block was erased.
int flashtrain_array_page(int channel, int die, int plane, int block, int page, uint8_t* bytes) {
    const auto [cells, size] = cells_of(channel, die, plane, block, page);
    if (cells) std::memcpy(bytes, cells, size);
    return cells != nullptr;
}

// The reverse.
int flashtrain_array_put_page(int channel, int die, int plane, int block, int page, const uint8_t* bytes) {
    const auto [cells, size] = cells_of(channel, die, plane, block, page);
    if (cells) {
        std::memcpy(cells, bytes, size);
        store_at(channel, die).save_page(plane, block, page, true);
        check_image();
    }
    return cells != nullptr;
}

// How often each block of a die was erased: `counts` has `blocks` for each plane.
void flashtrain_array_erases(int channel, int die, int blocks, uint32_t* counts) {
    if (image) {
        const uint64_t count = image->format.planes * blocks;
        for (const auto& record : image->blocks(image->number(channel, die, 0, 0), count)) *counts++ = record.erases;
        return;
    }
    const auto store = stores.find({channel, die});
    if (store == stores.end()) return;
    for (const auto& [key, block] : store->second.blocks) {
        counts[(key >> 32) * blocks + (key & 0xFFFFFFFF)] = block.erases;
    }
}

// From now on cells and operations fail as the model says, or without one not at all; with `keep` all wrong bits are
// kept for the host.
void flashtrain_array_set_errors(const Model* errors, int keep) {
    if (errors) {
        model = *errors;
    } else {
        model.reset();
    }
    keep_flips = keep;
}

// What is programmed gets older.
void flashtrain_array_pass_time(double seconds) { now += seconds; }

// From now on this die's senses are at a level so many steps lower, besides those that it is told by its pins.
void flashtrain_array_set_level(int channel, int die, int level) { store_at(channel, die).level = level; }

// From now on the arrays are those of an image; only before any was used. Time continues from its clock.
void flashtrain_array_use_image(const flashtrain_image::Format* format) {
    image.emplace(*format);
    now = format->clock;
    const uint64_t count = format->channels * format->dies * format->planes * format->blocks;
    const std::vector<flashtrain_image::BlockRecord> records = image->blocks(0, count);
    for (uint64_t number = 0; number < count; ++number) {
        const uint32_t flags = records[number].flags;
        if (!(flags & (format->broken | format->marked))) continue;
        const int block = static_cast<int>(number % format->blocks);
        const int plane = static_cast<int>(number / format->blocks % format->planes);
        const int die = static_cast<int>(number / format->blocks / format->planes % format->dies);
        const int channel = static_cast<int>(number / format->blocks / format->planes / format->dies);
        if (flags & format->broken) faults.push_back({channel, die, plane, block});
        if (flags & format->marked) marked.insert({channel, die, plane, block});
    }
    for (int channel = 0; channel < static_cast<int>(format->channels); ++channel) {
        for (int die = 0; die < static_cast<int>(format->dies); ++die) {
            if (image->die_flags(channel, die) & format->hung) hanging.insert({channel, die});
        }
    }
    check_image();
}

// Writes what is not in the image with the last program or erase of a block: its reads. Ends the use of the image.
void flashtrain_array_end_image() {
    if (!image) return;
    for (auto& [place, store] : stores) {
        for (const auto& [key, block] : store.blocks) {
            const int plane = static_cast<int>(key >> 32), number = static_cast<int>(key & 0xFFFFFFFF);
            if (image->block(store.number_of(plane, number)).reads != block.reads) store.save(plane, number);
        }
    }
    image.reset();
}

// Why the image cannot be used any more, or null.
const char* flashtrain_array_image_error() {
    return image && !image->error.empty() ? image->error.c_str() : nullptr;
}

// Bits that a die's senses got wrong.
uint64_t flashtrain_array_flipped(int channel, int die) {
    const auto store = stores.find({channel, die});
    return store == stores.end() ? 0 : store->second.flipped;
}

uint64_t flashtrain_array_flips() { return flips.size(); }

void flashtrain_array_take_flips(Flip* taken) {
    std::copy(flips.begin(), flips.end(), taken);
    flips.clear();
}

// Operations that were cut short.
uint64_t flashtrain_array_cuts() { return cuts.size(); }

void flashtrain_array_take_cuts(CutShort* taken) {
    std::copy(cuts.begin(), cuts.end(), taken);
    cuts.clear();
}

// Bytes of all pages that are kept.
uint64_t flashtrain_array_bytes() {
    uint64_t bytes = 0;
    for (const auto& [place, store] : stores) {
        for (const auto& [key, block] : store.blocks) {
            for (const Page& page : block.pages) bytes += page.bytes ? store.page_bytes : 0;
        }
    }
    return bytes;
}

// All arrays are as from the factory; only while no simulation uses them.
void flashtrain_array_forget() {
    stores.clear();
    marked.clear();
    image.reset();
    now = 0;
}
}
