// The file that keeps what the arrays hold (docs/image.md): records and cells, as flashtrain.spec.image lays them out.
//
// Each change is one write to the page cache of the operating system, so an end of the process loses none. A page counts
// as programmed from the write of its record on, which follows that of its cells.

#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace flashtrain_image {

// Filled in by the host: the order of its members is part of the interface.
struct Format {
    int64_t descriptor;
    uint64_t dies_at, blocks_at, pages_at, cells_at, cells_of_block;
    uint64_t channels, dies, planes, blocks, pages, page_bytes;  // spare bytes included
    uint64_t identity_at, identity_bytes;
    uint64_t coded;  // the pages have a code, which finds wrong bits
    uint64_t whole, torn;  // PageState
    uint64_t broken, marked, stuck, cut;  // BlockFlag
    uint64_t hung;  // DieFlag
    double clock;
};

struct DieRecord {
    uint32_t flags, crc;
};

struct BlockRecord {
    uint32_t erases, reads, flags, crc;
};

struct PageRecord {
    uint32_t erases, state;
    double time;
    uint32_t cells_crc, unused[2], crc;
};

static_assert(sizeof(DieRecord) == 8 && sizeof(BlockRecord) == 16 && sizeof(PageRecord) == 32);

// CRC-32 as zlib has it, eight bytes at a time.
inline uint32_t crc32(const void* data, std::size_t count, uint32_t crc = 0) {
    static const auto tables = [] {
        std::array<std::array<uint32_t, 256>, 8> made{};
        for (uint32_t i = 0; i < 256; ++i) {
            uint32_t value = i;
            for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0xEDB88320 : 0);
            made[0][i] = value;
        }
        for (int table = 1; table < 8; ++table) {
            for (uint32_t i = 0; i < 256; ++i) {
                made[table][i] = made[table - 1][i] >> 8 ^ made[0][made[table - 1][i] & 0xFF];
            }
        }
        return made;
    }();
    const auto* bytes = static_cast<const uint8_t*>(data);
    crc = ~crc;
    for (; count >= 8; count -= 8, bytes += 8) {
        uint64_t eight;
        std::memcpy(&eight, bytes, 8);
        eight ^= crc;
        crc = 0;
        for (int i = 0; i < 8; ++i) crc ^= tables[7 - i][eight >> 8 * i & 0xFF];
    }
    for (; count; --count, ++bytes) crc = crc >> 8 ^ tables[0][(crc ^ *bytes) & 0xFF];
    return ~crc;
}

// The CRC of a record, its last word, covers its place in the file.
template <typename Record>
uint32_t seal_of(const Record& record, uint64_t at) {
    return crc32(&record, sizeof(Record) - sizeof(uint32_t), crc32(&at, sizeof at));
}

class Image {
  public:
    explicit Image(const Format& format) : format{format} {}

    const Format format;
    std::string error;  // the first failure

    uint64_t number(int channel, int die, int plane, int block) const {
        return ((channel * format.dies + die) * format.planes + plane) * format.blocks + block;
    }

    uint32_t die_flags(int channel, int die) { return read_record<DieRecord>(die_at(channel, die)).flags; }
    void put_die_flags(int channel, int die, uint32_t flags) {
        write_record(die_at(channel, die), DieRecord{flags, 0});
    }

    std::vector<BlockRecord> blocks(uint64_t first, uint64_t count) {
        std::vector<BlockRecord> records(count);
        read(records.data(), count * sizeof(BlockRecord), format.blocks_at + first * sizeof(BlockRecord));
        return records;
    }
    BlockRecord block(uint64_t number) { return read_record<BlockRecord>(block_at(number)); }
    void put_block(uint64_t number, uint32_t erases, uint32_t reads, uint32_t flags) {
        write_record(block_at(number), BlockRecord{erases, reads, flags, 0});
    }

    // The cells of a block are erased, so their part of the file is free.
    void free_cells(uint64_t number) {
#ifdef FALLOC_FL_PUNCH_HOLE
        fallocate(fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(cells(number, 0)),
                  static_cast<off_t>(format.cells_of_block));
#endif
    }

    // The records of a block's pages. One that is not of this number of erases, or whose page was not programmed, has the
    // state 0; one with a wrong CRC is torn, and no cells have its CRC.
    std::vector<PageRecord> pages(uint64_t number, uint32_t erases) {
        std::vector<PageRecord> records(format.pages);
        read(records.data(), records.size() * sizeof(PageRecord), page_at(number, 0));
        for (uint64_t page = 0; page < records.size(); ++page) {
            PageRecord& record = records[page];
            PageRecord ours = record;
            ours.erases = erases;
            if (record.crc == seal_of(ours, page_at(number, page))) {
                record.erases = erases;
            } else if (record.erases == erases && record.state) {
                record.state = kDamaged;
            } else {
                record.state = 0;
            }
        }
        return records;
    }

    // The cells of a page. Without a code those with a wrong CRC lose their identity: they read as a torn page.
    void read_cells(uint64_t number, uint64_t page, const PageRecord& record, uint8_t* to) {
        read(to, format.page_bytes, cells(number, page));
        const bool wrong = record.state == kDamaged || crc32(to, format.page_bytes) != record.cells_crc;
        if (wrong && !format.coded) std::memset(to + format.identity_at, 0, format.identity_bytes);
    }

    void program(uint64_t number, uint64_t page, uint32_t erases, bool torn, double time, const uint8_t* from) {
        if (!write(from, format.page_bytes, cells(number, page))) return;
        const auto state = static_cast<uint32_t>(torn ? format.torn : format.whole);
        write_record(page_at(number, page),
                     PageRecord{erases, state, time, crc32(from, format.page_bytes), {0, 0}, 0});
    }

  private:
    static constexpr uint32_t kDamaged = ~0u;

    int fd() const { return static_cast<int>(format.descriptor); }
    uint64_t die_at(int channel, int die) const {
        return format.dies_at + (channel * format.dies + die) * sizeof(DieRecord);
    }
    uint64_t block_at(uint64_t number) const { return format.blocks_at + number * sizeof(BlockRecord); }
    uint64_t page_at(uint64_t number, uint64_t page) const {
        return format.pages_at + (number * format.pages + page) * sizeof(PageRecord);
    }
    uint64_t cells(uint64_t number, uint64_t page) const {
        return format.cells_at + number * format.cells_of_block + page * format.page_bytes;
    }

    template <typename Record>
    Record read_record(uint64_t at) {
        Record record{};
        read(&record, sizeof record, at);
        return record;
    }

    template <typename Record>
    void write_record(uint64_t at, Record record) {
        record.crc = seal_of(record, at);
        write(&record, sizeof record, at);
    }

    void read(void* to, uint64_t count, uint64_t at) {
        auto* next = static_cast<uint8_t*>(to);
        while (count) {
            const ssize_t got = pread(fd(), next, count, static_cast<off_t>(at));
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) {
                std::memset(next, 0, count);
                return fail(got < 0 ? std::strerror(errno) : "a part of it is missing");
            }
            next += got, at += got, count -= got;
        }
    }

    bool write(const void* from, uint64_t count, uint64_t at) {
        const auto* next = static_cast<const uint8_t*>(from);
        while (count) {
            const ssize_t put = pwrite(fd(), next, count, static_cast<off_t>(at));
            if (put < 0 && errno == EINTR) continue;
            if (put < 0) {
                fail(std::strerror(errno));
                return false;
            }
            next += put, at += put, count -= put;
        }
        return true;
    }

    void fail(const char* why) {
        if (error.empty()) error = why;
    }
};

}  // namespace flashtrain_image
