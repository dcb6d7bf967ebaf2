// What one die's array holds, and what is known of it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "array_errors.h"

namespace flashtrain_store {

struct Page {
    std::unique_ptr<uint8_t[]> bytes;  // null: not programmed since the block was erased
    double programmed = 0;  // when, in seconds of `now`
    uint32_t senses = 0;  // since the block was erased
};

struct Block {
    std::vector<Page> pages;
    uint32_t erases = 0;  // also those that were interrupted
    uint32_t reads = 0;  // since the last of them
    bool stuck = false;  // it failed

    Page& page(int number) {
        if (pages.size() <= static_cast<size_t>(number)) pages.resize(number + 1);
        return pages[number];
    }
};

// A page on its way from or to a plane's data register.
struct OpenPage {
    uint8_t* bytes = nullptr;  // null: nothing but FFh
    std::optional<uint64_t> torn;  // its program fails: the key of what stays erased
    std::vector<uint8_t> sensed;  // its bytes with the wrong bits
};

// One die's array.
struct Store {
    int channel = 0, die = 0;
    size_t word_bytes = 0;
    size_t page_bytes = 0;
    std::unordered_map<uint64_t, Block> blocks;
    std::vector<OpenPage> open;  // a page of each plane
    int level = 0;  // steps by which the read level is lower
    uint64_t flipped = 0;  // bits that senses got wrong

    static uint64_t key(int plane, int block) { return static_cast<uint64_t>(plane) << 32 | static_cast<uint32_t>(block); }

    Block& block(int plane, int number) { return blocks[key(plane, number)]; }

    flashtrain_errors::Place place(int plane, int number, int page) {
        return {static_cast<uint64_t>(channel), static_cast<uint64_t>(die),  static_cast<uint64_t>(plane),
                static_cast<uint64_t>(number),  static_cast<uint64_t>(page), block(plane, number).erases};
    }
};

}  // namespace flashtrain_store
