// An accelerator for tests, as a backend of PyTorch in its key PrivateUse1.
//
// It is late on purpose. Each stream is a queue, whose entries are worked on when somebody waits for them. So a
// copy that nobody has waited for has not happened. Freed memory is overwritten when the streams that used it
// have come to its end. Addresses of the device are no addresses of the host: to dereference one ends the process.
// Operators without a kernel here run on the CPU, between copies.

#include <ATen/EmptyTensor.h>
#include <ATen/core/CachingHostAllocator.h>
#include <ATen/core/Tensor.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/set_cpu_dispatch.h>
#include <ATen/ops/view_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <atomic>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>

namespace {

constexpr uintptr_t kFar = uintptr_t(1) << 60;  // no address of a process has this bit
constexpr auto kType = c10::DeviceType::PrivateUse1;
constexpr int kPoison = 0xA5;

std::atomic<int64_t> asynchronous_copies{0};
std::atomic<int64_t> pinned_bytes{0};

class Queue {
 public:
  uint64_t submit(std::function<void()> entry) {
    std::lock_guard lock(mutex_);
    entries_.push_back(std::move(entry));
    return done_ + entries_.size();
  }
  uint64_t submitted() {
    std::lock_guard lock(mutex_);
    return done_ + entries_.size();
  }
  // Each question works on an entry, so that who asks again and again comes to an end.
  bool has_done(uint64_t count) {
    std::vector<std::function<void()>> ended;
    std::lock_guard lock(mutex_);
    if (done_ < count) work_until(done_ + 1);
    ended.swap(ended_);
    return done_ >= count;
  }
  void wait(uint64_t count) {
    std::vector<std::function<void()>> ended;  // freed without the lock: the end of a tensor may wait for Python's
    std::lock_guard lock(mutex_);
    work_until(count);
    ended.swap(ended_);
  }
  // For entries, which are worked on under the lock: they may wait for those of another queue.
  void work_until(uint64_t count) {
    while (done_ < count) {
      entries_.front()();
      ended_.push_back(std::move(entries_.front()));
      entries_.pop_front();
      ++done_;
    }
  }

 private:
  // Of all queues.
  static std::mutex& mutex_;
  static std::vector<std::function<void()>>& ended_;
  std::deque<std::function<void()>> entries_;
  uint64_t done_ = 0;
};
std::mutex& Queue::mutex_ = *new std::mutex;
std::vector<std::function<void()>>& Queue::ended_ = *new std::vector<std::function<void()>>;

// They live as long as the process: tensors are freed until its end.
auto& queues = *new std::vector<std::unique_ptr<Queue>>;
auto& queues_mutex = *new std::mutex;
thread_local c10::StreamId current_stream = 0;

Queue& queue_of(c10::StreamId id) {
  std::lock_guard lock(queues_mutex);
  while (queues.size() <= size_t(id)) queues.push_back(std::make_unique<Queue>());
  return *queues[id];
}
Queue& current_queue() { return queue_of(current_stream); }

void* near(const void* address) { return reinterpret_cast<void*>(uintptr_t(address) & ~kFar); }

// Memory of the device: freed behind all that the streams which used it have been given so far. Then it waits for
// a tensor of its size, so that a copy that comes too late for its tensor finds wrong numbers, and no other heap.
struct Block {
  void* memory;
  size_t bytes;
  std::set<c10::StreamId> streams;
};
auto& blocks_mutex = *new std::mutex;
auto& blocks = *new std::map<void*, Block>;
auto& free_memory = *new std::map<size_t, std::vector<void*>>;

void free_block(void* far) {
  Block block;
  {
    std::lock_guard lock(blocks_mutex);
    auto found = blocks.find(far);
    block = found->second;
    blocks.erase(found);
  }
  std::vector<std::pair<Queue*, uint64_t>> ends;
  for (auto id : block.streams) ends.emplace_back(&queue_of(id), queue_of(id).submitted());
  Queue* first = ends.front().first;
  first->submit([first, ends, block] {
    for (auto& [queue, count] : ends)
      if (queue != first) queue->work_until(count);
    std::memset(block.memory, kPoison, block.bytes);
    std::lock_guard lock(blocks_mutex);
    free_memory[block.bytes].push_back(block.memory);
  });
}

struct DeviceAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t bytes) override {
    c10::Device device(kType, 0);
    if (!bytes) return {nullptr, nullptr, &free_block, device};
    std::lock_guard lock(blocks_mutex);
    auto& free = free_memory[bytes];
    void* memory;
    if (free.empty()) {
      memory = std::malloc(bytes);
    } else {
      memory = free.back();
      free.pop_back();
    }
    void* far = reinterpret_cast<void*>(uintptr_t(memory) | kFar);
    blocks[far] = {memory, bytes, {current_stream}};
    return {far, far, &free_block, device};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_block; }
  void copy_data(void* to, const void* from, std::size_t count) const override {
    std::memcpy(near(to), near(from), count);
  }
};
DeviceAllocator device_allocator;
REGISTER_ALLOCATOR(kType, &device_allocator);

auto& pinned_mutex = *new std::mutex;
auto& pinned = *new std::map<uintptr_t, size_t>;

void free_pinned(void* memory) {
  std::lock_guard lock(pinned_mutex);
  auto found = pinned.find(uintptr_t(memory));
  pinned_bytes -= found->second;
  pinned.erase(found);
  std::free(memory);
}
bool is_pinned(const void* address) {
  std::lock_guard lock(pinned_mutex);
  auto next = pinned.upper_bound(uintptr_t(address));
  if (next == pinned.begin()) return false;
  --next;
  return uintptr_t(address) < next->first + next->second;
}

struct PinnedAllocator final : at::HostAllocator {
  c10::DataPtr allocate(size_t bytes) override {
    if (!bytes) return {nullptr, nullptr, &free_pinned, c10::Device(c10::kCPU)};
    void* memory = std::malloc(bytes);
    std::lock_guard lock(pinned_mutex);
    pinned[uintptr_t(memory)] = bytes;
    pinned_bytes += bytes;
    return {memory, memory, &free_pinned, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_pinned; }
  void copy_data(void* to, const void* from, std::size_t count) const override { std::memcpy(to, from, count); }
  bool record_event(void*, void*, c10::Stream) override { return true; }
  void empty_cache() override {}
  at::HostStats get_stats() override { return {}; }
  void reset_accumulated_stats() override {}
  void reset_peak_stats() override {}
};
PinnedAllocator pinned_allocator;
REGISTER_HOST_ALLOCATOR(kType, &pinned_allocator);

struct Event {
  c10::StreamId stream;
  uint64_t count;
};

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kType; }
  c10::Device exchangeDevice(c10::Device) const override { return getDevice(); }
  c10::Device getDevice() const override { return {kType, 0}; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  c10::Stream stream(c10::StreamId id) const { return c10::Stream(c10::Stream::UNSAFE, getDevice(), id); }
  c10::Stream getStream(c10::Device) const override { return stream(current_stream); }
  c10::Stream getDefaultStream(c10::Device) const override { return stream(0); }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override { return getNewStream(device); }
  c10::Stream getNewStream(c10::Device, int = 0) const override {
    queue_of(0);
    size_t id;
    {
      std::lock_guard lock(queues_mutex);
      id = queues.size();
    }
    queue_of(id);
    return stream(id);
  }
  c10::Stream exchangeStream(c10::Stream next) const override {
    auto before = current_stream;
    current_stream = next.id();
    return stream(before);
  }
  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override { delete static_cast<Event*>(event); }
  void record(void** event, const c10::Stream& of, const c10::DeviceIndex, const c10::EventFlag) const override {
    auto& queue = queue_of(of.id());
    if (!*event) *event = new Event;
    *static_cast<Event*>(*event) = {of.id(), queue.submitted()};
  }
  void block(void* event, const c10::Stream& of) const override {
    if (!event) return;
    auto [id, count] = *static_cast<Event*>(event);
    auto& earlier = queue_of(id);
    queue_of(of.id()).submit([&earlier, count = count] { earlier.work_until(count); });
  }
  bool queryEvent(void* event) const override {
    if (!event) return true;
    auto [id, count] = *static_cast<Event*>(event);
    return queue_of(id).has_done(count);
  }
  void synchronizeEvent(void* event) const override {
    if (!event) return;
    auto [id, count] = *static_cast<Event*>(event);
    queue_of(id).wait(count);
  }
  bool queryStream(const c10::Stream& of) const override {
    auto& queue = queue_of(of.id());
    return queue.has_done(queue.submitted());
  }
  void synchronizeStream(const c10::Stream& of) const override {
    auto& queue = queue_of(of.id());
    queue.wait(queue.submitted());
  }
  void synchronizeDevice(const c10::DeviceIndex) const override {
    queue_of(0);
    size_t count;
    {
      std::lock_guard lock(queues_mutex);
      count = queues.size();
    }
    for (size_t id = 0; id < count; ++id) synchronizeStream(stream(id));
  }
  void recordDataPtrOnStream(const c10::DataPtr& data, const c10::Stream& of) const override {
    std::lock_guard lock(blocks_mutex);
    auto found = blocks.find(data.get());
    if (found != blocks.end()) found->second.streams.insert(of.id());
  }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

struct Hooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return 1; }
  void setCurrentDevice(c10::DeviceIndex) const override {}
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex) const override { return 0; }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex) const override { return 0; }
  bool isPinnedPtr(const void* data) const override { return is_pinned(data); }
  c10::Allocator* getPinnedMemoryAllocator() const override { return &pinned_allocator; }
  at::Device getDeviceFromPtr(void*) const override { return {kType, 0}; }
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override {
    auto data = device_allocator.allocate(bytes);
    auto kept = std::min(bytes, storage.nbytes());
    if (kept) {
      auto& queue = current_queue();
      queue.wait(queue.submitted());
      device_allocator.copy_data(data.get(), storage.data(), kept);
    }
    storage.set_data_ptr(std::move(data));
    storage.unsafeGetStorageImpl()->set_nbytes(bytes);
  }
};
Hooks hooks;
[[maybe_unused]] const bool registered = (at::RegisterPrivateUse1HooksInterface(&hooks), true);

at::Tensor empty(
    c10::IntArrayRef size, std::optional<c10::ScalarType> dtype, std::optional<c10::Layout>,
    std::optional<c10::Device>, std::optional<bool>, std::optional<c10::MemoryFormat> format) {
  c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);
  return at::detail::empty_generic(size, &device_allocator, keys, c10::dtype_or_default(dtype), format);
}
at::Tensor empty_strided(
    c10::IntArrayRef size, c10::IntArrayRef stride, std::optional<c10::ScalarType> dtype,
    std::optional<c10::Layout>, std::optional<c10::Device>, std::optional<bool>) {
  c10::DispatchKeySet keys(c10::DispatchKey::PrivateUse1);
  return at::detail::empty_strided_generic(size, stride, &device_allocator, keys, c10::dtype_or_default(dtype));
}

// The same numbers as a tensor of the CPU, wherever they are.
at::Tensor seen(const at::Tensor& tensor) {
  if (tensor.device().is_cpu()) return tensor;
  auto options = at::TensorOptions().dtype(tensor.dtype()).device(c10::kCPU);
  auto view = at::from_blob(near(tensor.mutable_data_ptr()), tensor.sizes(), tensor.strides(), options);
  view._set_conj(tensor.is_conj());
  view._set_neg(tensor.is_neg());
  return view;
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool non_blocking) {
  if (!from.numel()) return to;
  const bool pageable = (from.device().is_cpu() && !is_pinned(from.const_data_ptr())) ||
      (to.device().is_cpu() && !is_pinned(to.const_data_ptr()));
  auto source = seen(from), target = seen(to);
  auto& queue = current_queue();
  auto work = [source, target] {
    c10::InferenceMode guard;
    c10::impl::ExcludeDispatchKeyGuard plain(c10::autograd_dispatch_keyset);
    target.copy_(source);
  };
  const auto count = queue.submit(work);
  const bool within = from.device() == to.device();
  if (within || (non_blocking && !pageable)) {
    asynchronous_copies += !within;
  } else {
    queue.wait(count);
  }
  return to;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  to.resize_(from.sizes());
  return copy_from(from, to, false);
}

at::Scalar local_scalar(const at::Tensor& tensor) {
  auto& queue = current_queue();
  queue.wait(queue.submitted());
  return seen(tensor).item();
}

at::Tensor as_strided(
    const at::Tensor& tensor, c10::SymIntArrayRef size, c10::SymIntArrayRef stride, std::optional<c10::SymInt> offset) {
  std::optional<int64_t> from;
  if (offset) from = offset->expect_int();
  return at::native::as_strided_tensorimpl(tensor, C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride), from);
}
at::Tensor view(const at::Tensor& tensor, c10::SymIntArrayRef size) {
  return at::native::view(tensor, C10_AS_INTARRAYREF_SLOW(size));
}
at::Tensor reshape_alias(const at::Tensor& tensor, c10::SymIntArrayRef size, c10::SymIntArrayRef stride) {
  return at::native::_reshape_alias(tensor, C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride));
}
at::Tensor& set_storage(
    at::Tensor& tensor, at::Storage storage, c10::SymInt offset, c10::SymIntArrayRef size, c10::SymIntArrayRef stride) {
  return at::cpu::set_(
      tensor, storage, offset.expect_int(), C10_AS_INTARRAYREF_SLOW(size), C10_AS_INTARRAYREF_SLOW(stride));
}
at::Tensor& set_all(at::Tensor& tensor, at::Storage storage) {
  const int64_t count = storage.nbytes() / tensor.dtype().itemsize();
  return at::cpu::set_(tensor, storage, 0, {count}, {});
}
const at::Tensor& resize(
    const at::Tensor& tensor, c10::SymIntArrayRef size, std::optional<c10::MemoryFormat>) {
  auto sizes = C10_AS_INTARRAYREF_SLOW(size);
  auto* impl = tensor.unsafeGetTensorImpl();
  impl->set_sizes_contiguous(sizes);
  const size_t bytes = (tensor.numel() + tensor.storage_offset()) * tensor.itemsize();
  if (tensor.storage().nbytes() < bytes) hooks.resizePrivateUse1Bytes(tensor.storage(), bytes);
  return tensor;
}
void record_stream(at::Tensor& tensor, c10::Stream of) {
  Guard().recordDataPtrOnStream(tensor.storage().data_ptr(), of);
}

void on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) { at::native::cpu_fallback(op, stack); }

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", &empty);
  m.impl("empty_strided", &empty_strided);
  m.impl("_copy_from", &copy_from);
  m.impl("_copy_from_and_resize", &copy_from_and_resize);
  m.impl("_local_scalar_dense", &local_scalar);
  m.impl("as_strided", &as_strided);
  m.impl("view", &view);
  m.impl("_reshape_alias", &reshape_alias);
  m.impl("set_.source_Storage_storage_offset", &set_storage);
  m.impl("set_.source_Storage", &set_all);
  m.impl("resize_", &resize);
  m.impl("record_stream", &record_stream);
}
TORCH_LIBRARY_IMPL(_, PrivateUse1, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_cpu>()); }

}  // namespace

extern "C" long late_asynchronous_copies() { return asynchronous_copies; }
extern "C" long late_pinned_bytes() { return pinned_bytes; }
