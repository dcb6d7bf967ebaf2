// The simulated flash memory system: Verilated RTL, tensor buffer, and the C interface that Python calls.
//
// One device per loaded library: the NAND model's DPI functions have no other context.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "Vtop.h"
#include "Vtop__Dpi.h"
#include "axi_memory.h"
#include "verilated.h"

namespace flashtrain {

// What a record of the trace is about. The first kinds are the NAND model's and come over DPI.
enum Kind : uint16_t {
    BURST = 100,  // start of a burst on an AXI channel, `detail` its Channel
    BURST_END = 101,
    INTERRUPT_RAISED = 102,
    REGISTER_WRITTEN = 103,  // `detail` its address
};

enum Channel : uint16_t { QUEUE_READ = 0, QUEUE_WRITE = 1, DATA_READ = 2, DATA_WRITE = 3 };

struct Record {
    uint64_t start, end;
    uint16_t kind, channel, die, detail;
};

bool tracing = false;
std::vector<Record> trace;
std::vector<std::string> violations;

void record(uint64_t start, uint64_t end, int kind, int channel, int die, int detail) {
    if (!tracing) return;
    trace.push_back({start, end, static_cast<uint16_t>(kind), static_cast<uint16_t>(channel),
                     static_cast<uint16_t>(die), static_cast<uint16_t>(detail)});
}

enum Stop : int32_t { LIMIT = 0, INTERRUPT = 1, VIOLATION = 2 };
enum Access : int32_t { DONE = 0, ERROR = 1, TIMEOUT = 2 };

class Device {
  public:
    Device(uint8_t* memory, uint64_t bytes, uint32_t latency, uint64_t bytes_per_65536_clocks)
        : memory_{memory, bytes, latency, Budget{bytes_per_65536_clocks}},
          queue_reader_{memory_, top_.queue__araddr, top_.queue__arlen, top_.queue__arvalid, top_.queue__arready,
                        top_.queue__rdata, top_.queue__rresp, top_.queue__rlast, top_.queue__rvalid,
                        top_.queue__rready},
          queue_writer_{memory_, top_.queue__awaddr, top_.queue__awlen, top_.queue__awvalid, top_.queue__awready,
                        top_.queue__wdata, top_.queue__wstrb, top_.queue__wlast, top_.queue__wvalid,
                        top_.queue__wready, top_.queue__bresp, top_.queue__bvalid, top_.queue__bready},
          data_reader_{memory_, top_.data__araddr, top_.data__arlen, top_.data__arvalid,
                       top_.data__arready, top_.data__rdata, top_.data__rresp, top_.data__rlast, top_.data__rvalid,
                       top_.data__rready},
          data_writer_{memory_, top_.data__awaddr, top_.data__awlen, top_.data__awvalid,
                       top_.data__awready, top_.data__wdata, top_.data__wstrb, top_.data__wlast, top_.data__wvalid,
                       top_.data__wready, top_.data__bresp, top_.data__bvalid, top_.data__bready} {
        top_.rst = 1;
        for (int i = 0; i < 8; ++i) clock();
        top_.rst = 0;
        clock();
    }
    ~Device() { top_.final(); }

    uint64_t clocks() const { return clocks_; }

    void clock() {
        top_.clk = 0;
        top_.eval();
        queue_reader_.sample(clocks_);
        queue_writer_.sample(clocks_);
        data_reader_.sample(clocks_);
        data_writer_.sample(clocks_);
        if (tracing) trace_bursts();
        top_.clk = 1;
        top_.eval();
        ++clocks_;
        memory_.budget.clock();
        queue_reader_.drive(clocks_);
        queue_writer_.drive(clocks_);
        data_reader_.drive(clocks_);
        data_writer_.drive(clocks_);
    }

    Stop run(uint64_t most) {
        for (uint64_t i = 0; i < most; ++i) {
            if (!violations.empty()) return VIOLATION;
            if (top_.interrupt) return INTERRUPT;
            clock();
        }
        return violations.empty() ? top_.interrupt ? INTERRUPT : LIMIT : VIOLATION;
    }

    Access write_register(uint32_t address, uint32_t value) {
        top_.registers__awaddr = address;
        top_.registers__awvalid = 1;
        top_.registers__wdata = value;
        top_.registers__wstrb = 15;
        top_.registers__wvalid = 1;
        top_.registers__bready = 1;
        record(clocks_, clocks_, REGISTER_WRITTEN, 0, 0, address);
        for (int i = 0; i < kRegisterClocks; ++i) {
            settle();
            const bool aw = top_.registers__awvalid & top_.registers__awready;
            const bool w = top_.registers__wvalid & top_.registers__wready;
            const bool b = top_.registers__bvalid;
            const bool error = top_.registers__bresp & 2;
            clock();
            if (aw) top_.registers__awvalid = 0;
            if (w) top_.registers__wvalid = 0;
            if (b) {
                top_.registers__bready = 0;
                return error ? ERROR : DONE;
            }
        }
        return TIMEOUT;
    }

    Access read_register(uint32_t address, uint32_t& value) {
        top_.registers__araddr = address;
        top_.registers__arvalid = 1;
        top_.registers__rready = 1;
        for (int i = 0; i < kRegisterClocks; ++i) {
            settle();
            const bool ar = top_.registers__arvalid & top_.registers__arready;
            const bool r = top_.registers__rvalid;
            const bool error = top_.registers__rresp & 2;
            if (r) value = top_.registers__rdata;
            clock();
            if (ar) top_.registers__arvalid = 0;
            if (r) {
                top_.registers__rready = 0;
                return error ? ERROR : DONE;
            }
        }
        return TIMEOUT;
    }

  private:
    static constexpr int kRegisterClocks = 1000;

    // Combinational outputs follow inputs that were just driven.
    void settle() {
        top_.clk = 0;
        top_.eval();
    }

    template <typename Side>
    void trace_side(const Side& side, Channel channel) {
        if (side.burst_started()) record(clocks_, clocks_, BURST, 0, 0, channel);
        if (side.burst_ended()) record(clocks_, clocks_, BURST_END, 0, 0, channel);
    }

    void trace_bursts() {
        trace_side(queue_reader_, QUEUE_READ);
        trace_side(queue_writer_, QUEUE_WRITE);
        trace_side(data_reader_, DATA_READ);
        trace_side(data_writer_, DATA_WRITE);
        if (top_.interrupt && !interrupt_) record(clocks_, clocks_, INTERRUPT_RAISED, 0, 0, 0);
        interrupt_ = top_.interrupt;
    }

    template <typename Port>
    using Of = std::remove_reference_t<Port>;

    VerilatedContext context_;
    Vtop top_{&context_};
    Memory memory_;
    AxiReader<Of<decltype(top_.queue__araddr)>, Of<decltype(top_.queue__rdata)>> queue_reader_;
    AxiWriter<Of<decltype(top_.queue__awaddr)>, Of<decltype(top_.queue__wdata)>, Of<decltype(top_.queue__wstrb)>>
        queue_writer_;
    AxiReader<Of<decltype(top_.data__araddr)>, Of<decltype(top_.data__rdata)>> data_reader_;
    AxiWriter<Of<decltype(top_.data__awaddr)>, Of<decltype(top_.data__wdata)>, Of<decltype(top_.data__wstrb)>>
        data_writer_;
    uint64_t clocks_ = 0;
    bool interrupt_ = false;
};

std::unique_ptr<Device> device;

}  // namespace flashtrain

using namespace flashtrain;

extern "C" {

// For the NAND model, through DPI.

void flashtrain_violation(const char* message) { violations.emplace_back(message); }
void flashtrain_trace(int kind, int channel, int die, long long start, long long stop, int detail) {
    record(start, stop, kind, channel, die, detail);
}

// For Python, through ctypes.

void flashtrain_open(uint8_t* memory, uint64_t bytes, uint32_t latency, uint64_t bytes_per_65536_clocks) {
    device = std::make_unique<Device>(memory, bytes, latency, bytes_per_65536_clocks);
}
void flashtrain_close() { device.reset(); }
uint64_t flashtrain_clocks() { return device->clocks(); }
int32_t flashtrain_run(uint64_t most) { return device->run(most); }
void flashtrain_clock(uint64_t count) {
    for (uint64_t i = 0; i < count && violations.empty(); ++i) device->clock();
}
int32_t flashtrain_write_register(uint32_t address, uint32_t value) { return device->write_register(address, value); }
int32_t flashtrain_read_register(uint32_t address, uint32_t* value) { return device->read_register(address, *value); }
const char* flashtrain_first_violation() { return violations.empty() ? nullptr : violations.front().c_str(); }
void flashtrain_set_tracing(int32_t on) { tracing = on; }
uint64_t flashtrain_trace_records() { return trace.size(); }
void flashtrain_take_trace(Record* records) {
    std::copy(trace.begin(), trace.end(), records);
    trace.clear();
}
}
