// What one die's array holds, and what is known of it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "array_errors.h"
#include "array_image.h"

namespace flashtrain_store {

// The file that keeps all arrays, if there is one.
inline std::optional<flashtrain_image::Image> image;

struct Page {
    std::unique_ptr<uint8_t[]> bytes;  // null: not programmed since the block was erased, or `stored`
    std::optional<flashtrain_image::PageRecord> stored;  // its cells are in the image, and were not needed yet
    double programmed = 0;  // when, in seconds of `now`
    uint32_t senses = 0;  // since the block was erased
};

struct Block {
    std::vector<Page> pages;
    uint32_t erases = 0;  // also those that were interrupted
    uint32_t reads = 0;  // since the last of them
    bool stuck = false;  // it failed
    uint32_t flags = 0;  // in the image
    int stored = 0;  // pages that the image had programmed, holes included

    Page& page(int number) {
        if (pages.size() <= static_cast<size_t>(number)) pages.resize(number + 1);
        return pages[number];
    }
};

// A page on its way from or to a plane's data register.
struct OpenPage {
    uint8_t* bytes = nullptr;  // null: nothing but FFh
    int block = 0, page = 0;  // of a program
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

    Block& block(int plane, int number) {
        const auto [found, untouched] = blocks.try_emplace(key(plane, number));
        if (untouched && image) load(found->second, plane, number);
        return found->second;
    }

    // The cells of a page; null if it was not programmed since its block was erased.
    uint8_t* cells(int plane, int number, int at) {
        Page& page = block(plane, number).page(at);
        if (page.stored) {
            page.bytes.reset(new uint8_t[page_bytes]);
            image->read_cells(number_of(plane, number), at, *page.stored, page.bytes.get());
            page.stored.reset();
        }
        return page.bytes.get();
    }

    uint64_t number_of(int plane, int number) const { return image->number(channel, die, plane, number); }

    // Writes the record of a block, as it is now.
    void save(int plane, int number) {
        if (!image) return;
        const Block& saved = block(plane, number);
        image->put_block(number_of(plane, number), saved.erases, saved.reads, saved.flags);
    }

    // Writes a page that was programmed at `time`.
    void save_page(int plane, int number, int at, bool torn) {
        if (!image) return;
        Block& in = block(plane, number);
        const Page& page = in.page(at);
        image->program(number_of(plane, number), at, in.erases, torn, page.programmed, page.bytes.get());
    }

    void load(Block& to, int plane, int number) {
        const uint64_t which = number_of(plane, number);
        const flashtrain_image::BlockRecord record = image->block(which);
        to.erases = record.erases;
        to.reads = record.reads;
        to.flags = record.flags;
        to.stuck = record.flags & image->format.stuck;
        const std::vector<flashtrain_image::PageRecord> pages = image->pages(which, record.erases);
        for (size_t i = 0; i < pages.size(); ++i) {
            if (!pages[i].state) continue;
            Page& page = to.page(static_cast<int>(i));
            page.stored = pages[i];
            page.programmed = pages[i].time;
            to.stored = static_cast<int>(i) + 1;
        }
        if (record.flags & image->format.cut) to.stored = static_cast<int>(pages.size());
    }

    flashtrain_errors::Place place(int plane, int number, int page) {
        return {static_cast<uint64_t>(channel), static_cast<uint64_t>(die),  static_cast<uint64_t>(plane),
                static_cast<uint64_t>(number),  static_cast<uint64_t>(page), block(plane, number).erases};
    }
};

}  // namespace flashtrain_store
