// The event model of an iteration with offloading; its rules are those of event_model.py.
#pragma once

#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

namespace offload {

constexpr int32_t NONE = -1;

// Of a tensor; the order of the fields is that of TENSOR in event_model.py.
struct Tensor {
  int64_t bytes;
  int32_t made, released, first_use, last_use;
  int32_t write_order;  // NONE: stays in memory
  int32_t prefetch_before;
  double write_seconds, read_seconds;  // of the data, alone
  double write_port_seconds;           // of the data through the port
};

struct Settings {
  int64_t memory;  // without what is always resident
  double write_latency, read_latency;
  double buffer_seconds;  // in which the full write buffer drains
  int32_t operations, forward, tensors, parts, barrier;
};

// Times of an event; NaN: it did not happen.
struct Span {
  double begin, end;
};

struct Result {
  double seconds;
  int64_t peak;   // most bytes in memory
  int32_t stuck;  // the operation that nothing lets begin, or NONE
};

// A direction of transfers, with one transfer of data at a time. It works at 1 / slowdown of its own rate.
struct Channel {
  int32_t tensor = NONE;
  double remaining = 0, since = 0, end = 0;

  void start(int32_t which, double seconds, double now, double slowdown) {
    tensor = which, remaining = seconds, since = now, end = now + seconds * slowdown;
  }
  void change(double now, double before, double after) {
    remaining -= (now - since) / before, since = now, end = now + remaining * after;
  }
};

class Simulation {
 public:
  Simulation(const Settings &settings, const double *seconds, const Tensor *tensors, const double *write_loads,
             const double *read_loads);

  Result run(Span *operations, Span *writes, Span *reads);

 private:
  enum class Place : uint8_t { NOWHERE, MEMORY, WRITTEN, INCOMING };

  bool arrive();
  bool begin_operation();
  void end_operation();
  void take(int64_t bytes);
  bool is_written(int32_t tensor) const;
  void leave(int32_t tensor);
  void release_if_done(int32_t tensor);
  void end_write(int32_t tensor);
  bool start_write();
  bool start_read();
  void set_slowdown();
  double slowdown_now() const;
  double next_event() const;
  void take_events();

  const Settings &settings_;
  const double *seconds_;
  const Tensor *tensors_;
  const double *write_loads_, *read_loads_;  // [part][tensor]
  std::vector<std::vector<int32_t>> made_by_, first_used_by_, last_used_by_, released_by_, prefetched_by_;
  std::vector<Place> place_;
  std::vector<bool> stays_;  // from now on, whatever becomes of its write
  std::vector<bool> stored_;
  std::set<std::tuple<int32_t, int32_t>> to_write_;           // write order, tensor
  std::set<std::tuple<int32_t, int32_t, int32_t>> to_read_;  // first use, write order, tensor
  std::set<std::tuple<double, int32_t>> writes_ending_, reads_ending_;  // data are over, the latency is not
  Channel writer_, reader_;
  double credit_ = 0, credit_since_ = 0;  // of the write buffer; while no data are written, it grows
  double now_ = 0, slowdown_ = 1, operation_end_ = 0;
  int64_t used_ = 0, peak_ = 0;
  int32_t operation_ = 0;
  int32_t to_end_ = 0;  // writes that the barrier waits for
  bool arrived_ = false, computing_ = false;
  Span *operations_ = nullptr, *writes_ = nullptr, *reads_ = nullptr;
};

}  // namespace offload
