// What the arrays of all dies hold: pages, made when they are programmed and freed when their block is erased.
//
// One system per process or loaded library: the functions that array.sv calls have no other context.

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using Page = std::unique_ptr<uint8_t[]>;

// One die's array.
struct Store {
    size_t word_bytes;
    size_t page_bytes;
    std::unordered_map<uint64_t, std::vector<Page>> blocks;
    std::unordered_map<uint64_t, uint32_t> erases;  // of each block, also of those that were interrupted
    std::vector<uint8_t*> open;  // a page of each plane, or null for one that holds nothing

    static uint64_t key(int plane, int block) { return static_cast<uint64_t>(plane) << 32 | static_cast<uint32_t>(block); }
};

std::map<std::pair<int, int>, Store> stores;

struct Fault {
    int channel, die, plane, block;
};

std::vector<Fault> faults;
std::set<std::pair<int, int>> hanging;  // dies

Store& of(void* store) { return *static_cast<Store*>(store); }

}  // namespace

extern "C" {

// For array.sv, through DPI.

void* flashtrain_array_open(int channel, int die, int planes, int page_words, int word_bytes) {
    Store& store = stores[{channel, die}];
    store.word_bytes = word_bytes;
    store.page_bytes = static_cast<size_t>(page_words) * word_bytes;
    store.open.resize(planes);
    return &store;
}

// Opens a page of FFh for writing.
void flashtrain_array_new_page(void* store, int plane, int block, int page) {
    std::vector<Page>& pages = of(store).blocks[Store::key(plane, block)];
    if (pages.size() <= static_cast<size_t>(page)) pages.resize(page + 1);
    if (!pages[page]) pages[page].reset(new uint8_t[of(store).page_bytes]);
    std::memset(pages[page].get(), 0xFF, of(store).page_bytes);
    of(store).open[plane] = pages[page].get();
}

// Opens a page for reading. A page that was never written reads as FFh.
void flashtrain_array_open_page(void* store, int plane, int block, int page) {
    const auto found = of(store).blocks.find(Store::key(plane, block));
    const bool exists = found != of(store).blocks.end() && static_cast<size_t>(page) < found->second.size();
    of(store).open[plane] = exists ? found->second[page].get() : nullptr;
}

void flashtrain_array_erase(void* store, int plane, int block) {
    of(store).blocks.erase(Store::key(plane, block));
    ++of(store).erases[Store::key(plane, block)];
}

void flashtrain_array_write(void* store, int plane, int word, const uint32_t* data) {
    const size_t bytes = of(store).word_bytes;
    if (of(store).open[plane]) std::memcpy(of(store).open[plane] + word * bytes, data, bytes);
}

void flashtrain_array_read(void* store, int plane, int word, uint32_t* data) {
    const size_t bytes = of(store).word_bytes;
    if (of(store).open[plane]) {
        std::memcpy(data, of(store).open[plane] + word * bytes, bytes);
    } else {
        std::memset(data, 0xFF, bytes);
    }
}

// Whether an operation fails on a plane (1), or never ends (2); the place for a model of errors. Operations are
// ArrayOp's.
int flashtrain_array_fails(int channel, int die, int op, int plane, int block, int /*page*/) {
    constexpr int kSense = 0, kBeside = 3;
    if (hanging.count({channel, die})) return 2;
    if (op == kSense || op == kBeside) return 0;
    for (const Fault& fault : faults) {
        if (fault.channel == channel && fault.die == die && fault.plane == plane && fault.block == block) return 1;
    }
    return 0;
}

// For the host.

// From now on programs and erases of this block fail.
void flashtrain_array_add_fault(int channel, int die, int plane, int block) {
    faults.push_back({channel, die, plane, block});
}

// From now on no operation of this die's array ends, except by a reset.
void flashtrain_array_hang(int channel, int die) { hanging.insert({channel, die}); }

void flashtrain_array_clear_faults() {
    faults.clear();
    hanging.clear();
}

// Copies what a page holds to `bytes`; 0 if it was not programmed since its block was erased.
int flashtrain_array_page(int channel, int die, int plane, int block, int page, uint8_t* bytes) {
    const auto store = stores.find({channel, die});
    if (store == stores.end()) return 0;
    const auto found = store->second.blocks.find(Store::key(plane, block));
    if (found == store->second.blocks.end() || static_cast<size_t>(page) >= found->second.size()) return 0;
    if (!found->second[page]) return 0;
    std::memcpy(bytes, found->second[page].get(), store->second.page_bytes);
    return 1;
}

// How often each block of a die was erased: `counts` has `blocks` for each plane.
void flashtrain_array_erases(int channel, int die, int blocks, uint32_t* counts) {
    const auto store = stores.find({channel, die});
    if (store == stores.end()) return;
    for (const auto& [key, erases] : store->second.erases) counts[(key >> 32) * blocks + (key & 0xFFFFFFFF)] = erases;
}

// Bytes of all pages that are kept.
uint64_t flashtrain_array_bytes() {
    uint64_t bytes = 0;
    for (const auto& [place, store] : stores) {
        for (const auto& [key, pages] : store.blocks) {
            for (const Page& page : pages) bytes += page ? store.page_bytes : 0;
        }
    }
    return bytes;
}

// All arrays are as from the factory; only while no simulation uses them.
void flashtrain_array_forget() { stores.clear(); }
}
