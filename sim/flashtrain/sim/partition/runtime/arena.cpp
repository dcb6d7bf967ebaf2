// Memory for the models' state: one model behind the other, in huge pages.
//
// Each clock goes through the state of most models. In pages of 4 KiB that is more than a processor's table of pages
// holds. Verilator aligns states to cache lines, and nothing else in here is aligned; so these operators get the states
// and only them.

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <vector>

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kChunk = 16 * kHugePage;

struct Chunk {
    void* start;
    std::size_t bytes;
};

std::vector<Chunk> chunks;
std::size_t next = 0, end = 0;  // what is free in the last chunk
std::size_t in_use = 0;  // allocations; when there are none, all chunks are given back

std::size_t rounded_up(std::size_t value, std::size_t step) { return (value + step - 1) / step * step; }

void add_chunk(std::size_t least) {
    const std::size_t bytes = rounded_up(least + kHugePage, kChunk);
    void* const start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) throw std::bad_alloc{};
    madvise(start, bytes, MADV_HUGEPAGE);  // a wish: without it the pages are small
    chunks.push_back({start, bytes});
    next = rounded_up(reinterpret_cast<std::size_t>(start), kHugePage);
    end = reinterpret_cast<std::size_t>(start) + bytes;
}

void release() {
    if (--in_use != 0) return;
    for (const Chunk& chunk : chunks) munmap(chunk.start, chunk.bytes);
    chunks.clear();
    next = end = 0;
}

}  // namespace

void* operator new(std::size_t bytes, std::align_val_t alignment) {
    const auto align = static_cast<std::size_t>(alignment);
    if (rounded_up(next, align) + bytes > end) add_chunk(bytes + align);
    const std::size_t start = rounded_up(next, align);
    next = start + bytes;
    ++in_use;
    return reinterpret_cast<void*>(start);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    if (memory) release();
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    if (memory) release();
}
