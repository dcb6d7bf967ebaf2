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

// Verilator spells the two underscores in the name of a port in this way.
#define PIN(bus, name) top_.bus##___05F##name

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
          queue_reader_{memory_, PIN(queue, araddr), PIN(queue, arlen), PIN(queue, arvalid), PIN(queue, arready),
                        PIN(queue, rdata), PIN(queue, rresp), PIN(queue, rlast), PIN(queue, rvalid),
                        PIN(queue, rready)},
          queue_writer_{memory_, PIN(queue, awaddr), PIN(queue, awlen), PIN(queue, awvalid), PIN(queue, awready),
                        PIN(queue, wdata), PIN(queue, wstrb), PIN(queue, wlast), PIN(queue, wvalid),
                        PIN(queue, wready), PIN(queue, bresp), PIN(queue, bvalid), PIN(queue, bready)},
          data_reader_{memory_, PIN(data, araddr), PIN(data, arlen), PIN(data, arvalid),
                       PIN(data, arready), PIN(data, rdata), PIN(data, rresp), PIN(data, rlast), PIN(data, rvalid),
                       PIN(data, rready)},
          data_writer_{memory_, PIN(data, awaddr), PIN(data, awlen), PIN(data, awvalid),
                       PIN(data, awready), PIN(data, wdata), PIN(data, wstrb), PIN(data, wlast), PIN(data, wvalid),
                       PIN(data, wready), PIN(data, bresp), PIN(data, bvalid), PIN(data, bready)} {
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
            if (top_.irq) return INTERRUPT;
            clock();
        }
        return violations.empty() ? top_.irq ? INTERRUPT : LIMIT : VIOLATION;
    }

    Access write_register(uint32_t address, uint32_t value) {
        PIN(registers, awaddr) = address;
        PIN(registers, awvalid) = 1;
        PIN(registers, wdata) = value;
        PIN(registers, wstrb) = 15;
        PIN(registers, wvalid) = 1;
        PIN(registers, bready) = 1;
        record(clocks_, clocks_, REGISTER_WRITTEN, 0, 0, address);
        for (int i = 0; i < kRegisterClocks; ++i) {
            settle();
            const bool aw = PIN(registers, awvalid) & PIN(registers, awready);
            const bool w = PIN(registers, wvalid) & PIN(registers, wready);
            const bool b = PIN(registers, bvalid);
            const bool error = PIN(registers, bresp) & 2;
            clock();
            if (aw) PIN(registers, awvalid) = 0;
            if (w) PIN(registers, wvalid) = 0;
            if (b) {
                PIN(registers, bready) = 0;
                return error ? ERROR : DONE;
            }
        }
        return TIMEOUT;
    }

    Access read_register(uint32_t address, uint32_t& value) {
        PIN(registers, araddr) = address;
        PIN(registers, arvalid) = 1;
        PIN(registers, rready) = 1;
        for (int i = 0; i < kRegisterClocks; ++i) {
            settle();
            const bool ar = PIN(registers, arvalid) & PIN(registers, arready);
            const bool r = PIN(registers, rvalid);
            const bool error = PIN(registers, rresp) & 2;
            if (r) value = PIN(registers, rdata);
            clock();
            if (ar) PIN(registers, arvalid) = 0;
            if (r) {
                PIN(registers, rready) = 0;
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
        if (top_.irq && !interrupt_) record(clocks_, clocks_, INTERRUPT_RAISED, 0, 0, 0);
        interrupt_ = top_.irq;
    }

    template <typename Port>
    using Of = std::remove_reference_t<Port>;

    VerilatedContext context_;
    Vtop top_{&context_};
    Memory memory_;
    AxiReader<Of<decltype(PIN(queue, araddr))>, Of<decltype(PIN(queue, rdata))>> queue_reader_;
    AxiWriter<Of<decltype(PIN(queue, awaddr))>, Of<decltype(PIN(queue, wdata))>, Of<decltype(PIN(queue, wstrb))>>
        queue_writer_;
    AxiReader<Of<decltype(PIN(data, araddr))>, Of<decltype(PIN(data, rdata))>> data_reader_;
    AxiWriter<Of<decltype(PIN(data, awaddr))>, Of<decltype(PIN(data, wdata))>, Of<decltype(PIN(data, wstrb))>>
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
