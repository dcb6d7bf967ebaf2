// Clocks a model with these terms, with a reset now and then; notes what it puts out.

#include <cstddef>
#include <cstdint>

#include "Vmixture.h"
#include "verilated.h"

extern "C" void run(const uint32_t* terms, uint64_t* totals, size_t count) {
    VerilatedContext context;
    Vmixture top{&context};
    for (size_t i = 0; i < count; ++i) {
        top.clk = 0;
        top.rst = i % 97 < 2;
        top.term = terms[i];
        top.eval();
        top.clk = 1;
        top.eval();
        totals[i] = top.total;
    }
    top.final();
}
