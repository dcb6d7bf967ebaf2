// What arrays have done, page by page, while somebody asks for it (DPI functions of array.sv).

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

struct Done {
    uint64_t start, end;
    uint16_t kind, channel, die, plane;
    uint32_t block, page;
};

bool logging = false;
std::vector<Done> done;

}  // namespace

extern "C" {

// A plane's part of an operation that has ended.
void flashtrain_array_done(int kind, int channel, int die, int plane, int block, int page, long long start,
                           long long stop) {
    if (!logging) return;
    done.push_back({static_cast<uint64_t>(start), static_cast<uint64_t>(stop), static_cast<uint16_t>(kind),
                    static_cast<uint16_t>(channel), static_cast<uint16_t>(die), static_cast<uint16_t>(plane),
                    static_cast<uint32_t>(block), static_cast<uint32_t>(page)});
}

void flashtrain_array_log(int32_t on) { logging = on; }

uint64_t flashtrain_array_logged() { return done.size(); }

void flashtrain_array_take_log(Done* taken) {
    std::copy(done.begin(), done.end(), taken);
    done.clear();
}
}
