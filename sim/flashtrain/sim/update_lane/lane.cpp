// An update lane, and the tensor buffer's side of its streams.

#include <cstdint>
#include <random>

#include "Vupdate_lane.h"
#include "verilated.h"

// A member of a stream: Verilator writes the second of two underscores as 05F.
#define STREAM(name, member) top.name##___05F##member

namespace {

struct Lane {
    VerilatedContext context;
    Vupdate_lane top{&context};
    std::mt19937 random;

    void clock() {
        top.clk = 0;
        top.eval();
        top.clk = 1;
        top.eval();
    }
};

}  // namespace

extern "C" Lane* flashtrain_lane_create(uint32_t seed) {
    auto* lane = new Lane;
    lane->random.seed(seed);
    lane->top.rst = 1;
    lane->clock();
    lane->top.rst = 0;
    return lane;
}

extern "C" void flashtrain_lane_destroy(Lane* lane) {
    lane->top.final();
    delete lane;
}

// Does an order: gives its words and takes the answer, each but in `busy_percent` of the cycles. Returns the
// cycles until the lane is ready for the next order; 0 if it is not within `limit`, or moves other words.
extern "C" uint64_t flashtrain_lane_do(Lane* lane, uint64_t order, const uint64_t* in, uint64_t in_count,
                                       uint64_t* out, uint64_t out_count, uint32_t busy_percent,
                                       uint64_t limit) {
    auto& top = lane->top;
    const auto free = [&] { return lane->random() % 100 >= busy_percent; };
    uint64_t given = 0, taken = 0;
    bool offered = false;
    STREAM(order, payload) = order;
    for (uint64_t cycles = 0; cycles < limit; ++cycles) {
        offered = given < in_count && (offered || free());
        STREAM(order, valid) = cycles == 0;
        STREAM(words_in, valid) = offered;
        STREAM(words_in, payload) = offered ? in[given] : ~0ull;
        STREAM(words_out, ready) = free();
        top.eval();
        if (cycles > 0 && STREAM(order, ready)) return given == in_count && taken == out_count ? cycles : 0;
        if (STREAM(words_out, valid) && STREAM(words_out, ready)) {
            if (taken == out_count) return 0;
            out[taken++] = STREAM(words_out, payload);
        }
        if (offered && STREAM(words_in, ready)) {
            ++given;
            offered = false;
        }
        lane->clock();
    }
    return 0;
}
