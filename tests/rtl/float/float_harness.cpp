// Runs vectors through the units of float_units.py.

#include <cstdint>

#include "Vfloat_units.h"
#include "verilated.h"

extern "C" void run(uint32_t unit, uint32_t option, uint32_t latency, uint32_t interval, uint32_t count,
                    const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* result, uint8_t* flags) {
    VerilatedContext context;
    Vfloat_units top{&context};
    const auto clock = [&top] {
        top.clk = 0;
        top.eval();
        top.clk = 1;
        top.eval();
    };
    top.unit = unit;
    top.option = option;
    top.enable = 1;
    top.start = 0;
    top.rst = 1;
    clock();
    top.rst = 0;
    uint64_t next_out = latency;
    uint32_t in = 0, out = 0;
    for (uint64_t now = 0; out < count; ++now) {
        if (now == next_out) {
            result[out] = top.result;
            flags[out++] = top.flags;
            next_out += interval;
        }
        top.start = now % interval == 0 && in < count;
        if (top.start) {
            top.a = a[in];
            top.b = b[in];
            top.c = c[in++];
        } else if (interval > 1) {
            top.a = top.b = top.c = 0x5A5A5A5A;  // operands count in the clock of `start` only
        }
        clock();
    }
    top.final();
}
