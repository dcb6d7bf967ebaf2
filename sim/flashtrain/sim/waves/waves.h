// Waves of a model in a window of cycles. With WAVES_FST they are an FST file, else VCD.

#pragma once

#include <cstdint>
#include <memory>

#include "verilated.h"
#ifdef WAVES_FST
#include "verilated_fst_c.h"
#else
#include "verilated_vcd_c.h"
#endif

namespace flashtrain {

class Waves {
  public:
    static constexpr uint64_t kNever = ~uint64_t{0};

    uint64_t cycles() const { return cycles_; }

    // From cycle `begin` to before cycle `end`; times in ps, of cycles at so many MHz.
    template <typename Model>
    void open(VerilatedContext& context, Model& model, const char* path, uint64_t begin, uint64_t end, uint64_t mhz) {
        begin_ = begin;
        end_ = end;
        mhz_ = mhz;
        file_ = std::make_unique<File>();
        context.timeunit(-12);
        context.timeprecision(-12);
        model.trace(file_.get(), kLevels);
        file_->open(path);
    }

    // The values of a cycle with the clock low, and behind its edge, half a cycle later.
    void sample(uint64_t cycle, bool risen) {
        if (!file_ || cycle < begin_) return;
        if (cycle >= end_) {
            close();
            return;
        }
        file_->dump((2 * cycle + risen) * 500'000 / mhz_);
        cycles_ += risen;
    }

    void close() {
        if (file_) file_->close();
        file_.reset();
    }

  private:
#ifdef WAVES_FST
    using File = VerilatedFstC;
#else
    using File = VerilatedVcdC;
#endif
    static constexpr int kLevels = 99;  // of the hierarchy: all

    std::unique_ptr<File> file_;
    uint64_t begin_ = kNever, end_ = kNever, mhz_ = 1, cycles_ = 0;
};

}  // namespace flashtrain
