// Clocks a component in parts and as one model, many instances of each; notes what both put out.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "Vwhole.h"
#include "cut.h"
#include "verilated.h"

constexpr int kInstances = 3;

struct Inputs {
    uint8_t term, go, open, take;
};
struct Outputs {
    uint8_t passed, total, kept, rung;
};

// For each clock what goes to all instances, and what comes from them.
extern "C" void run(const Inputs* inputs, Outputs* in_parts, Outputs* whole, size_t cycles) {
    VerilatedContext context;
    Parts parts{context, kInstances};
    std::array<std::unique_ptr<Vwhole>, kInstances> models;
    for (auto& model : models) model = std::make_unique<Vwhole>(&context);
    for (size_t clock = 0; clock < cycles; ++clock) {
        if (clock % 2000 < 2) {
            parts.for_each_model([clock](auto& model) {
                model.rst = clock % 2000 == 0;
                if (clock == 0) model.eval();
            });
        }
        for (int i = 0; i < kInstances; ++i) {
            const Inputs& now = inputs[clock * kInstances + i];
            parts.term(now.term, i);
            parts.go(now.go, i);
            parts.open(now.open, i);
            parts.take(now.take, i);
            parts.cycle(static_cast<uint32_t>(clock), i);
            if (clock >= parts.wake(i)) parts.apply_silent_inputs(i);
            Vwhole& model = *models[i];
            model.rst = clock % 2000 == 0;
            model.term = now.term;
            model.go = now.go;
            model.open = now.open;
            model.take = now.take;
            model.cycle = static_cast<uint32_t>(clock);
            model.clk = 0;
            model.eval();
        }
        parts.settle();
        for (int i = 0; i < kInstances; ++i) {
            in_parts[clock * kInstances + i] = {parts.passed(i), parts.total(i), parts.kept(i), parts.rung(i)};
            const Vwhole& model = *models[i];
            whole[clock * kInstances + i] = {model.passed, model.total, model.kept, model.rung};
            models[i]->clk = 1;
            models[i]->eval();
        }
        parts.edge(clock);
    }
    parts.for_each_model([](auto& model) { model.final(); });
    for (auto& model : models) model->final();
}
