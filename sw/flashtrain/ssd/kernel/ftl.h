// A page-mapped flash translation layer: the mapping table, and greedy garbage collection's choice.
//
// A superblock is one block on every plane of every die. Its pages are filled in the order of the physical
// page number: | superblock | page | die | plane | channel |.
#pragma once
#include <cstdlib>
#include <deque>
#include <memory>
#include <new>
#include <vector>

#include "parameters.h"

enum class Writer : uint8_t { HOST, COLLECTOR };
enum class Condition : uint8_t { FREE, OPEN, CLOSED };

struct Release {
    void operator()(uint32_t *table) const { std::free(table); }
};

// Zeros, which take memory only where they are written.
inline std::unique_ptr<uint32_t[], Release> zeros(int64_t count) {
    auto table = static_cast<uint32_t *>(std::calloc(count, sizeof(uint32_t)));
    if (!table) throw std::bad_alloc();
    return std::unique_ptr<uint32_t[], Release>(table);
}

class Ftl {
public:
    explicit Ftl(const Parameters &p)
        : p(p), superblock(p.superblock()), physical(zeros(p.user_pages)), logical(zeros(p.all_pages())), valid(p.blocks, 0),
          condition(p.blocks, Condition::FREE), writer(p.blocks, Writer::HOST) {
        for (int64_t block = 0; block < p.blocks; block++) free_blocks.push_back(block);
    }

    // The physical page of a logical one, or -1.
    int64_t find(int64_t page) const { return int64_t(physical[page]) - 1; }
    // The logical page whose content a physical one holds, or -1.
    int64_t owner(int64_t page) const { return int64_t(logical[page]) - 1; }
    int64_t free_count() const { return free_blocks.size(); }

    // The host leaves the last free superblock to the collector.
    bool can_place(Writer by) const {
        const Open &open = opened(by);
        return open.next < open.end || free_count() > (by == Writer::HOST ? 1 : 0);
    }

    // Map a logical page to the next physical page of `by`.
    int64_t place(int64_t page, Writer by) {
        Open &open = opened(by);
        if (open.next == open.end) begin(open, by);
        int64_t at = open.next++;
        unmap(page);
        physical[page] = at + 1;
        logical[at] = page + 1;
        valid[open.block]++;
        if (open.next == open.end) condition[open.block] = Condition::CLOSED;
        return at;
    }

    void unmap(int64_t page) {
        int64_t at = find(page);
        if (at < 0) return;
        physical[page] = 0;
        logical[at] = 0;
        valid[uint32_t(at) / superblock]--;
    }

    // The closed superblock with the fewest valid pages of those that `usable`, or -1 if none has an invalid one.
    template <typename Usable> int64_t victim(Usable usable) const {
        int64_t best = -1, fewest = p.superblock();
        for (int64_t block = 0; block < p.blocks; block++)
            if (condition[block] == Condition::CLOSED && valid[block] < fewest && usable(block))
                best = block, fewest = valid[block];
        return best;
    }

    int64_t next_page(Writer by) const { return opened(by).next; }

    void erase(int64_t block) {
        condition[block] = Condition::FREE;
        free_blocks.push_back(block);
    }

    const Parameters p;
    const uint32_t superblock; // pages
    std::unique_ptr<uint32_t[], Release> physical, logical; // number + 1; 0: none
    std::vector<uint32_t> valid;                            // pages, by superblock
    std::vector<Condition> condition;
    std::vector<Writer> writer;

private:
    struct Open {
        int64_t next = 0, end = 0, block = 0;
    };
    Open &opened(Writer by) { return by == Writer::HOST ? host : collector; }
    const Open &opened(Writer by) const { return by == Writer::HOST ? host : collector; }

    void begin(Open &open, Writer by) {
        int64_t block = free_blocks.front();
        free_blocks.pop_front();
        condition[block] = Condition::OPEN;
        writer[block] = by;
        open.block = block;
        open.next = block * p.superblock();
        open.end = open.next + p.superblock();
    }

    std::deque<int64_t> free_blocks; // erased first, written first
    Open host, collector;
};
