#include "event_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace offload {

// The sizes of the records in event_model.py.
static_assert(sizeof(Settings) == 56 && sizeof(Tensor) == 56 && sizeof(Result) == 24 && sizeof(Span) == 16);

constexpr double NEVER = std::numeric_limits<double>::infinity();

Simulation::Simulation(const Settings &settings, const double *seconds, const Tensor *tensors,
                       const double *write_loads, const double *read_loads)
    : settings_(settings),
      seconds_(seconds),
      tensors_(tensors),
      write_loads_(write_loads),
      read_loads_(read_loads),
      made_by_(settings.operations),
      first_used_by_(settings.operations),
      last_used_by_(settings.operations),
      released_by_(settings.operations),
      prefetched_by_(settings.operations),
      place_(settings.tensors, Place::NOWHERE),
      stays_(settings.tensors),
      stored_(settings.tensors),
      credit_(settings.buffer_seconds) {
  for (int32_t t = 0; t < settings.tensors; t++) {
    made_by_[tensors[t].made].push_back(t);
    last_used_by_[tensors[t].last_use].push_back(t);
    stays_[t] = tensors[t].write_order == NONE;
    if (stays_[t]) continue;
    first_used_by_[tensors[t].first_use].push_back(t);
    released_by_[tensors[t].released].push_back(t);
    prefetched_by_[tensors[t].prefetch_before].push_back(t);
  }
}

Result Simulation::run(Span *operations, Span *writes, Span *reads) {
  operations_ = operations, writes_ = writes, reads_ = reads;
  while (true) {
    while (arrive() || begin_operation() || start_write() || start_read()) {
    }
    set_slowdown();
    double next = next_event();
    if (next == NEVER) break;
    now_ = next;
    take_events();
  }
  return {now_, peak_, operation_ < settings_.operations ? operation_ : NONE};
}

// The operation is the next one and passes the barrier: the reads that belong to its begin are issued.
bool Simulation::arrive() {
  if (arrived_ || operation_ == settings_.operations) return false;
  if (settings_.barrier && operation_ == settings_.forward && to_end_) return false;
  arrived_ = true;
  for (int32_t t : prefetched_by_[operation_]) {
    if (place_[t] == Place::WRITTEN) {
      to_read_.insert({tensors_[t].first_use, tensors_[t].write_order, t});
    } else {
      stays_[t] = true;
      if (to_write_.erase({tensors_[t].write_order, t})) to_end_--;
    }
  }
  return true;
}

bool Simulation::begin_operation() {
  if (computing_ || !arrived_) return false;
  for (int32_t t : first_used_by_[operation_])
    if (place_[t] != Place::MEMORY) return false;
  int64_t needed = 0;
  for (int32_t t : made_by_[operation_]) needed += tensors_[t].bytes;
  if (used_ + needed > settings_.memory) return false;
  take(needed);
  for (int32_t t : made_by_[operation_]) place_[t] = Place::MEMORY;
  computing_ = true;
  operation_end_ = now_ + seconds_[operation_];
  operations_[operation_] = {now_, operation_end_};
  return true;
}

void Simulation::end_operation() {
  computing_ = arrived_ = false;
  for (int32_t t : made_by_[operation_]) {
    if (stays_[t]) continue;
    to_write_.insert({tensors_[t].write_order, t});
    to_end_++;
  }
  operation_++;
  for (int32_t t : last_used_by_[operation_ - 1])
    if (!is_written(t)) leave(t);
  for (int32_t t : released_by_[operation_ - 1]) release_if_done(t);
}

bool Simulation::is_written(int32_t t) const { return !std::isnan(writes_[t].begin) && !stored_[t]; }

void Simulation::leave(int32_t t) {
  place_[t] = Place::NOWHERE;
  used_ -= tensors_[t].bytes;
}

void Simulation::take(int64_t bytes) {
  used_ += bytes;
  peak_ = std::max(peak_, used_);
}

// A tensor leaves memory when it is written and the forward pass does not need it.
void Simulation::release_if_done(int32_t t) {
  if (stays_[t] || !stored_[t] || place_[t] != Place::MEMORY || operation_ <= tensors_[t].released) return;
  place_[t] = Place::WRITTEN;
  used_ -= tensors_[t].bytes;
}

void Simulation::end_write(int32_t t) {
  stored_[t] = true;
  to_end_--;
  writes_[t].end = now_;
  if (operation_ > tensors_[t].last_use)
    leave(t);
  else
    release_if_done(t);
}

bool Simulation::start_write() {
  if (writer_.tensor != NONE || to_write_.empty()) return false;
  int32_t t = std::get<1>(*to_write_.begin());
  to_write_.erase(to_write_.begin());
  credit_ = std::min(settings_.buffer_seconds, credit_ + now_ - credit_since_);
  const double seconds = std::max(tensors_[t].write_port_seconds, tensors_[t].write_seconds - credit_);
  credit_ = std::min(settings_.buffer_seconds, credit_ + seconds - tensors_[t].write_seconds);
  writer_.start(t, seconds, now_, slowdown_);
  writes_[t].begin = now_;
  return true;
}

bool Simulation::start_read() {
  if (reader_.tensor != NONE || to_read_.empty()) return false;
  int32_t t = std::get<2>(*to_read_.begin());
  if (used_ + tensors_[t].bytes > settings_.memory) return false;
  to_read_.erase(to_read_.begin());
  take(tensors_[t].bytes);
  place_[t] = Place::INCOMING;
  reader_.start(t, tensors_[t].read_seconds, now_, slowdown_);
  reads_[t].begin = now_;
  return true;
}

double Simulation::slowdown_now() const {
  double most = 1;
  if (writer_.tensor == NONE || reader_.tensor == NONE) return most;
  for (int32_t part = 0; part < settings_.parts; part++) {
    const int64_t row = int64_t(part) * settings_.tensors;
    most = std::max(most, write_loads_[row + writer_.tensor] + read_loads_[row + reader_.tensor]);
  }
  return most;
}

void Simulation::set_slowdown() {
  const double after = slowdown_now();
  if (after == slowdown_) return;
  if (writer_.tensor != NONE) writer_.change(now_, slowdown_, after);
  if (reader_.tensor != NONE) reader_.change(now_, slowdown_, after);
  slowdown_ = after;
}

double Simulation::next_event() const {
  double next = NEVER;
  if (computing_) next = std::min(next, operation_end_);
  if (writer_.tensor != NONE) next = std::min(next, writer_.end);
  if (reader_.tensor != NONE) next = std::min(next, reader_.end);
  if (!writes_ending_.empty()) next = std::min(next, std::get<0>(*writes_ending_.begin()));
  if (!reads_ending_.empty()) next = std::min(next, std::get<0>(*reads_ending_.begin()));
  return next;
}

// All that ends now: data of transfers, transfers, and the operation, in this order.
void Simulation::take_events() {
  if (writer_.tensor != NONE && writer_.end <= now_) {
    writes_ending_.insert({now_ + settings_.write_latency, writer_.tensor});
    writer_.tensor = NONE;
    credit_since_ = now_;
  }
  if (reader_.tensor != NONE && reader_.end <= now_) {
    reads_ending_.insert({now_ + settings_.read_latency, reader_.tensor});
    reader_.tensor = NONE;
  }
  while (!writes_ending_.empty() && std::get<0>(*writes_ending_.begin()) <= now_) {
    end_write(std::get<1>(*writes_ending_.begin()));
    writes_ending_.erase(writes_ending_.begin());
  }
  while (!reads_ending_.empty() && std::get<0>(*reads_ending_.begin()) <= now_) {
    int32_t t = std::get<1>(*reads_ending_.begin());
    place_[t] = Place::MEMORY;
    stays_[t] = true;
    reads_[t].end = now_;
    reads_ending_.erase(reads_ending_.begin());
  }
  if (computing_ && operation_end_ <= now_) end_operation();
}

}  // namespace offload

extern "C" {

// seconds[operations], tensors[tensors], loads[parts][tensors]; results are written over the spans.
void flashtrain_offload_run(const offload::Settings *settings, const double *seconds,
                            const offload::Tensor *tensors, const double *write_loads,
                            const double *read_loads, offload::Result *result, offload::Span *operations,
                            offload::Span *writes, offload::Span *reads) {
  const double nan = std::nan("");
  std::fill_n(operations, settings->operations, offload::Span{nan, nan});
  std::fill_n(writes, settings->tensors, offload::Span{nan, nan});
  std::fill_n(reads, settings->tensors, offload::Span{nan, nan});
  offload::Simulation simulation(*settings, seconds, tensors, write_loads, read_loads);
  *result = simulation.run(operations, writes, reads);
}
}
