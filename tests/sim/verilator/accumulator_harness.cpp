// Harness of the accumulator in test_verilated.py.

#include <cstdint>

#include "Vtop.h"
#include "verilated.h"

extern "C" uint64_t accumulate(const uint32_t* terms, uint32_t count) {
    VerilatedContext context;
    Vtop top{&context};
    const auto clock = [&top] {
        top.clk = 0;
        top.eval();
        top.clk = 1;
        top.eval();
    };
    top.rst = 1;
    top.term = 0;
    clock();
    top.rst = 0;
    for (uint32_t i = 0; i < count; ++i) {
        top.term = terms[i];
        clock();
    }
    const uint64_t total = top.total;
    top.final();
    return total;
}
