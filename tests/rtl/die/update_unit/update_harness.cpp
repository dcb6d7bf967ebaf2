// Runs parameters through an update unit, with stalls and gaps, and watches when results come.

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "Vupdate_unit.h"
#include "verilated.h"

namespace {

struct Bench {
    VerilatedContext context;
    Vupdate_unit top{&context};
    std::mt19937 random;

    void clock() {
        top.clk = 0;
        top.eval();
        top.clk = 1;
        top.eval();
    }
};

}  // namespace

// One sequence. The order of these is that of the structure in update_model.py.
struct Sequence {
    uint32_t code, gradient_format, copy_format, clear, restart;
    uint32_t constants[8];
    uint32_t stall_percent, gap_percent;
    uint32_t count, leave_after;  // leave: go away with parameters on their way; 0: do not
    const uint32_t *w, *m, *v, *gradient;
    uint32_t *new_w, *new_m, *new_v, *copy;
    uint32_t shortest, longest;  // latencies seen, in enabled cycles
    uint32_t cycles;             // enabled ones, from the first operands to the last results
    uint32_t spurious;           // results that nobody asked for
    uint32_t nans, infinities, largest;
    uint32_t squares[8];
};

extern "C" Bench* create(uint32_t seed) {
    auto* bench = new Bench;
    bench->random.seed(seed);
    bench->top.rst = 1;
    bench->top.enable = 1;
    bench->clock();
    bench->top.rst = 0;
    return bench;
}

extern "C" void destroy(Bench* bench) {
    bench->top.final();
    delete bench;
}

extern "C" void run(Bench* bench, Sequence* s) {
    auto& top = bench->top;
    auto& random = bench->random;
    const auto chance = [&random](uint32_t percent) { return random() % 100 < percent; };
    for (int i = 0; i < 8; ++i) top.constants[i] = s->constants[i];
    top.code = s->code;
    top.gradient_format = s->gradient_format;
    top.copy_format = s->copy_format;
    top.valid = 0;
    if (s->clear) {
        top.enable = chance(50);
        top.clear = 1;
        bench->clock();
        top.clear = 0;
    }
    if (s->restart) {
        top.enable = chance(50);
        top.restart = 1;
        bench->clock();
        top.restart = 0;
    }
    std::vector<uint64_t> entered;
    uint32_t in = 0, out = 0;
    uint64_t now = 0;
    bool offered = false;
    s->shortest = ~0u;
    s->longest = s->spurious = 0;
    for (uint64_t idle = 0; idle < 300;) {
        top.enable = !chance(s->stall_percent);
        if (!offered) offered = in < s->count && !chance(s->gap_percent);
        top.valid = offered;
        top.w = offered ? s->w[in] : random();
        top.m = offered ? s->m[in] : random();
        top.v = offered ? s->v[in] : random();
        top.gradient = offered ? s->gradient[in] : random();
        top.eval();
        if (top.enable && top.done) {
            if (out == entered.size()) {
                ++s->spurious;
            } else {
                s->new_w[out] = top.new_w;
                s->new_m[out] = top.new_m;
                s->new_v[out] = top.new_v;
                s->copy[out] = top.copy;
                const uint32_t latency = now - entered[out++];
                if (latency < s->shortest) s->shortest = latency;
                if (latency > s->longest) s->longest = latency;
                s->cycles = now - entered[0];
            }
        }
        if (top.enable && top.ready && offered) {
            entered.push_back(now);
            ++in;
            offered = false;
        }
        if (s->leave_after && in == s->leave_after) break;
        idle = in == s->count && out == in && !top.busy ? idle + 1 : 0;
        now += top.enable;
        if (now > 200ull * (s->count + 100)) break;  // results are missing
        bench->clock();
    }
    top.valid = 0;
    s->nans = top.nans;
    s->infinities = top.infinities;
    s->largest = top.largest;
    for (int i = 0; i < 8; ++i) {
        top.index = i;
        top.eval();
        s->squares[i] = top.square;
    }
    s->count = out;
}
