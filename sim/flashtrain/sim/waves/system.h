// The simulated hardware as one model, in which every register sees every edge. It has the interface of the system in
// parts, whose device is compiled with it.

#pragma once

#include <cstdint>
#include <vector>

#include "Vwhole.h"
#include "Vwhole__Dpi.h"
#include "components.h"
#include "recording.h"
#include "verilated.h"

namespace flashtrain {

class System {
  public:
    System() { the_only = this; }
    ~System() {
        waves.close();
        model_.final();
        the_only = nullptr;
    }

    FrontEnd& front_end() { return front_end_; }

    void cut_power(uint64_t) {}
    void reset(bool on) {
        model_.rst = on;
        model_.eval();
    }
    void settle_front_end() {
        model_.clk = 0;
        model_.eval();
    }
    void settle(uint64_t clock) {
        model_.cycle = clock;
        settle_front_end();
        waves.sample(clock, false);
    }
    void edge(uint64_t clock) {
        model_.clk = 1;
        model_.eval();
        waves.sample(clock, true);
    }
    template <typename Action>
    void for_each_pin(Action action) const {
        pins_of_front_end(front_end_, action);
        pins_of_channels(model_, action);
    }
    // The blocks of one model have no seams that could be observed.
    void collect_seams(std::vector<Seam>&) const {}

    void open_waves(const char* path, uint64_t begin, uint64_t end, uint64_t mhz) {
        waves.open(context_, model_, path, begin, end, mhz);
    }

    Waves waves;
    static inline System* the_only = nullptr;  // of the library

  private:
    // Verilator wants to know of waves before the first evaluation.
    struct Context : VerilatedContext {
        Context() { traceEverOn(true); }
    };
    Context context_;
    Vwhole model_{&context_};
    FrontEnd front_end_{model_};
};

}  // namespace flashtrain
