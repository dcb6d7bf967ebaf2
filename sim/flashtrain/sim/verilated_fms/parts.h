// A component that is simulated in parts.
//
// The parts of a component are models of their own, with wires between them (generated, `parts_cpp.py`). A part whose
// inputs change is *dirty* until it has followed them; then it is *awake*, and sees every edge until its state and its
// inputs have come to rest (`sleep.h`). So an edge costs what happens at it. Wires are carried until nothing changes
// any more, which is soon: there are no combinational loops. A part with a gated clock sees that clock as an input.

#pragma once

#include <cstdint>
#include <type_traits>

#include "carry.h"
#include "sleep.h"
#include "verilated.h"

namespace flashtrain {

template <typename Model>
class Part {
  public:
    explicit Part(VerilatedContext& context) : model{&context} {}

    void wake() { stillness_.wake(); }
    bool still(uint64_t clock) { return stillness_.still(*model.rootp, clock); }

    Model model;

  private:
    Stillness<std::remove_pointer_t<decltype(Model::rootp)>> stillness_;
};

}  // namespace flashtrain
