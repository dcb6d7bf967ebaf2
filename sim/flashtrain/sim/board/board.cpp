// A simulated board, whose serial line is a file descriptor.
//
// The board runs while the host speaks, and for some time after. Then it waits for the next byte.

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>

#include "Vboard.h"

namespace flashtrain {
namespace {

constexpr int kBits = 10;                   // of a byte on the line
constexpr uint64_t kCyclesAlone = 1'000;  // after the last bit on the line: an access is over long before
constexpr uint64_t kCyclesBetweenLooks = 64;
constexpr int kMillisecondsToWait = 20;
constexpr int kCyclesOff = 20;
constexpr int kCyclesToReset = 100;  // those that a board takes for its reset, at least

std::string first_violation;

// The host's side of the line: bytes of a descriptor, and the levels of their bits.
class Line {
 public:
  Line(int descriptor, uint32_t divisor) : descriptor_(descriptor), divisor_(divisor) {}

  // The level that the board sees in this cycle.
  bool level() {
    if (left_ == 0) {
      if (bits_ == 0 && begun_ < ended_) {
        shifted_ = 1U << (kBits - 1) | static_cast<uint32_t>(buffer_[begun_++]) << 1;
        bits_ = kBits;
      } else if (bits_ != 0) {
        shifted_ = shifted_ >> 1 | 1U << (kBits - 1);
        --bits_;
        if (bits_ == 0 && begun_ < ended_) return level();
      }
      left_ = divisor_;
    }
    --left_;
    return bits_ == 0 || (shifted_ & 1U);
  }

  // The level of the board in this cycle.
  void hear(bool level) {
    if (heard_bits_ == 0) {
      if (!level) {
        heard_bits_ = kBits;
        heard_left_ = divisor_ / 2;
      }
      return;
    }
    if (heard_left_-- != 0) return;
    heard_left_ = divisor_ - 1;
    heard_ = heard_ >> 1 | static_cast<uint32_t>(level) << (kBits - 1);
    if (--heard_bits_ == 0) {
      const auto byte = static_cast<uint8_t>(heard_ >> 1);
      // A host that has gone away hears nothing.
      while (write(descriptor_, &byte, 1) < 0 && errno == EINTR) {
      }
    }
  }

  // Whether a byte of the board is under way.
  bool heard() const { return heard_bits_ != 0; }

  // Takes what the host has sent: 1 if there is something, 0 if not, -1 at the end of the line.
  int take(int milliseconds) {
    if (begun_ < ended_ || bits_ != 0) return 1;
    pollfd one{descriptor_, POLLIN, 0};
    if (poll(&one, 1, milliseconds) <= 0) return 0;
    const ssize_t got = read(descriptor_, buffer_, sizeof buffer_);
    if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
    begun_ = 0;
    ended_ = static_cast<size_t>(got);
    return 1;
  }

 private:
  int descriptor_;
  uint32_t divisor_, left_ = 0, shifted_ = 0, heard_ = 0, heard_left_ = 0;
  int bits_ = 0, heard_bits_ = 0;
  uint8_t buffer_[4096];
  size_t begun_ = 0, ended_ = 0;
};

class Board {
 public:
  Board(uint32_t divisor, uint64_t picoseconds)
      : divisor_(divisor), half_(picoseconds / 2), context_(new VerilatedContext), top_(new Vboard(context_.get())) {
    reset();
  }

  ~Board() { top_->final(); }

  // A loss of power, after which the board begins anew.
  void reset() {
    top_->line_in = 1;
    top_->power = 0;
    top_->rst = 1;
    for (int cycle = 0; cycle < kCyclesOff; ++cycle) clock();
    top_->power = 1;
    for (int cycle = 0; cycle < kCyclesOff; ++cycle) clock();
    top_->rst = 0;
    // A byte that came before would be lost.
    for (int cycle = 0; cycle < kCyclesToReset; ++cycle) clock();
  }

  // The power fails `cycles` from now; with `busy` those count alone in which a chip is busy. 0: never.
  void cut(uint64_t cycles, bool busy) {
    cut_when_busy_ = busy;
    cut_in_ = cycles;
  }

  // The next operation of a chip fails when it ends, if it is a program (bit 0) or an erase (bit 1).
  void fail(uint32_t what) { fail_ = what; }

  // Runs until the line ends, `stop` is set, or the power fails: then it returns true.
  bool serve(int descriptor, const volatile int32_t* stop) {
    Line line(descriptor, divisor_);
    uint64_t alone = 0;
    bool was_busy = top_->busy;
    while (!*stop) {
      const int taken = line.take(alone < kCyclesAlone ? 0 : kMillisecondsToWait);
      if (taken < 0) return false;
      alone = taken > 0 || line.heard() ? 0 : alone + kCyclesBetweenLooks;
      for (uint64_t cycle = 0; cycle < kCyclesBetweenLooks; ++cycle) {
        if (cut_in_ != 0 && (top_->busy || !cut_when_busy_) && --cut_in_ == 0) {
          top_->power = 0;
          clock();
          return true;
        }
        top_->line_in = line.level();
        top_->fail = fail_;
        clock();
        if (was_busy && !top_->busy) fail_ = 0;
        was_busy = top_->busy;
        line.hear(top_->line_out);
      }
    }
    return false;
  }

  uint64_t cycles() const { return cycles_; }
  uint32_t violations() const { return top_->violations; }

 private:
  void clock() {
    ++cycles_;
    for (const int level : {1, 0}) {
      top_->clk = level;
      top_->eval();
      const uint64_t end = context_->time() + half_;
      // What chips with delays do until then.
      while (top_->eventsPending() && top_->nextTimeSlot() <= end) {
        context_->time(top_->nextTimeSlot());
        top_->eval();
      }
      context_->time(end);
    }
  }

  uint32_t divisor_;
  uint64_t half_, cycles_ = 0;
  std::atomic<uint64_t> cut_in_{0};
  std::atomic<bool> cut_when_busy_{false};
  std::atomic<uint32_t> fail_{0};
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Vboard> top_;
};

std::unique_ptr<Board> board;

}  // namespace
}  // namespace flashtrain

extern "C" {

void flashtrain_violation(const char* message) {
  if (flashtrain::first_violation.empty()) flashtrain::first_violation = message;
}

void flashtrain_trace(int /*kind*/, int /*channel*/, int /*die*/, long long /*start*/, long long /*stop*/,
                      int /*detail*/) {}

void flashtrain_board_open(uint32_t divisor, uint64_t picoseconds) {
  flashtrain::board = std::make_unique<flashtrain::Board>(divisor, picoseconds);
}

void flashtrain_board_reset() { flashtrain::board->reset(); }

int32_t flashtrain_board_serve(int descriptor, const volatile int32_t* stop) {
  return flashtrain::board->serve(descriptor, stop);
}

void flashtrain_board_cut(uint64_t cycles, int32_t busy) { flashtrain::board->cut(cycles, busy); }

void flashtrain_board_fail(uint32_t what) { flashtrain::board->fail(what); }

uint64_t flashtrain_board_cycles() { return flashtrain::board->cycles(); }

uint32_t flashtrain_board_violations() { return flashtrain::board->violations(); }

const char* flashtrain_board_first_violation() { return flashtrain::first_violation.c_str(); }

void flashtrain_board_close() { flashtrain::board.reset(); }
}
