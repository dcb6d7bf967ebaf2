// For a model without waves: what `waves.h` has.

#pragma once

#include <cstdint>

#include "verilated.h"

namespace flashtrain {

class Waves {
  public:
    uint64_t cycles() const { return 0; }
    template <typename Model>
    void open(VerilatedContext&, Model&, const char*, uint64_t, uint64_t, uint64_t) {}
    void sample(uint64_t, bool) {}
    void close() {}
};

}  // namespace flashtrain
