// The simulated flash memory system: the hardware, the tensor buffer, and the functions that Python calls.
//
// One device per loaded library: the NAND model's DPI functions have no other context.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "axi_memory.h"
#include "recording.h"
#include "system.h"
#include "verilated.h"

namespace flashtrain {

// What a record of the trace is about. The first kinds are the NAND model's and come over DPI.
enum Kind : uint16_t {
    BURST = 100,  // start of a burst on an AXI channel, `detail` its AxiChannel
    BURST_END = 101,
    INTERRUPT_RAISED = 102,
    REGISTER_WRITTEN = 103,  // `detail` its address
};

enum AxiChannel : uint16_t { QUEUE_READ = 0, QUEUE_WRITE = 1, DATA_READ = 2, DATA_WRITE = 3 };

// A pin, by its number in `kPins`, has another value from this cycle on.
struct PinChange {
    uint64_t clock, pin, value;
};

bool logging_pins = false;
std::vector<PinChange> pin_changes;
bool tracing = false;
std::vector<Record> trace;
Recording recording;
std::vector<std::string> violations;

void record(uint64_t start, uint64_t end, int kind, int channel, int die, int detail) {
    if (!tracing && !recording.on()) return;
    const Record made{start, end, static_cast<uint16_t>(kind), static_cast<uint16_t>(channel),
                      static_cast<uint16_t>(die), static_cast<uint16_t>(detail)};
    if (tracing) trace.push_back(made);
    if (recording.on()) recording.records.push_back(made);
}

enum Stop : int32_t { LIMIT = 0, INTERRUPT = 1, VIOLATION = 2 };
enum Access : int32_t { DONE = 0, ERROR = 1, TIMEOUT = 2 };

class Device {
  public:
    Device(uint8_t* memory, uint64_t bytes, uint32_t latency, uint64_t bytes_per_65536_cycles)
        : memory_{memory, bytes, latency, Budget{bytes_per_65536_cycles}} {
        power_cycle();
    }

    uint64_t cycles() const { return cycles_; }

    // The power comes, after it has failed if it was there. What the arrays hold stays.
    void power_cycle() {
        system_.cut_power(cycles_);
        system_.reset(true);
        clock();  // from now on the controller asks for nothing
        queue_reader_.forget();
        data_reader_.forget();
        queue_writer_.forget();
        data_writer_.forget();
        drive_tensor_buffer();
        for (int i = 1; i < kResetCycles; ++i) clock();
        system_.reset(false);
        clock();
    }

    void clock() {
        recording.turn(cycles_);
        system_.settle(cycles_);
        if (logging_pins) log_pins();

        queue_reader_.sample(cycles_);
        queue_writer_.sample(cycles_);
        data_reader_.sample(cycles_);
        data_writer_.sample(cycles_);
        if (tracing || recording.on()) trace_bursts();
        if (recording.on()) record_seams();
        system_.edge(cycles_);
        ++cycles_;
        memory_.budget.clock();
        drive_tensor_buffer();
        system_.settle_front_end();
    }

    Stop run(uint64_t most) {
        for (uint64_t i = 0; i < most; ++i) {
            if (!violations.empty()) return VIOLATION;
            if (front_end_.irq()) return INTERRUPT;
            clock();
        }
        return violations.empty() ? front_end_.irq() ? INTERRUPT : LIMIT : VIOLATION;
    }

    Access write_register(uint32_t address, uint32_t value) {
        front_end_.registers__awaddr(static_cast<SData>(address));
        front_end_.registers__awvalid(CData{1});
        front_end_.registers__wdata(IData{value});
        front_end_.registers__wstrb(CData{15});
        front_end_.registers__wvalid(CData{1});
        front_end_.registers__bready(CData{1});
        record(cycles_, cycles_, REGISTER_WRITTEN, 0, 0, address);
        CData awvalid = 1, wvalid = 1;
        for (int i = 0; i < kRegisterCycles; ++i) {
            system_.settle_front_end();
            const bool aw = awvalid & front_end_.registers__awready();
            const bool w = wvalid & front_end_.registers__wready();
            const bool b = front_end_.registers__bvalid();
            const bool error = front_end_.registers__bresp() & 2;
            clock();
            if (aw) front_end_.registers__awvalid(awvalid = 0);
            if (w) front_end_.registers__wvalid(wvalid = 0);
            if (b) {
                front_end_.registers__bready(CData{0});
                return error ? ERROR : DONE;
            }
        }
        return TIMEOUT;
    }

    Access read_register(uint32_t address, uint32_t& value) {
        front_end_.registers__araddr(static_cast<SData>(address));
        front_end_.registers__arvalid(CData{1});
        front_end_.registers__rready(CData{1});
        CData arvalid = 1;
        for (int i = 0; i < kRegisterCycles; ++i) {
            system_.settle_front_end();
            const bool ar = arvalid & front_end_.registers__arready();
            const bool r = front_end_.registers__rvalid();
            const bool error = front_end_.registers__rresp() & 2;
            if (r) value = front_end_.registers__rdata();
            clock();
            if (ar) front_end_.registers__arvalid(arvalid = 0);
            if (r) {
                front_end_.registers__rready(CData{0});
                return error ? ERROR : DONE;
            }
        }
        return TIMEOUT;
    }

  private:
    static constexpr int kRegisterCycles = 1000;
    static constexpr int kResetCycles = 8;

    // What the tensor buffer answers from the next clock on.
    void drive_tensor_buffer() {
        if (queue_reader_.drive(cycles_)) {
            front_end_.queue__arready(queue_reader_.arready);
            front_end_.queue__rvalid(queue_reader_.rvalid);
            front_end_.queue__rdata(queue_reader_.rdata);
            front_end_.queue__rresp(queue_reader_.rresp);
            front_end_.queue__rlast(queue_reader_.rlast);
        }
        if (data_reader_.drive(cycles_)) {
            front_end_.data__arready(data_reader_.arready);
            front_end_.data__rvalid(data_reader_.rvalid);
            front_end_.data__rdata(data_reader_.rdata);
            front_end_.data__rresp(data_reader_.rresp);
            front_end_.data__rlast(data_reader_.rlast);
        }
        if (queue_writer_.drive(cycles_)) {
            front_end_.queue__awready(queue_writer_.awready);
            front_end_.queue__wready(queue_writer_.wready);
            front_end_.queue__bvalid(queue_writer_.bvalid);
            front_end_.queue__bresp(queue_writer_.bresp);
        }
        if (data_writer_.drive(cycles_)) {
            front_end_.data__awready(data_writer_.awready);
            front_end_.data__wready(data_writer_.wready);
            front_end_.data__bvalid(data_writer_.bvalid);
            front_end_.data__bresp(data_writer_.bresp);
        }
    }

    void log_pins() {
        std::size_t pin = 0;
        system_.for_each_pin([&](const auto& value) {
            const uint64_t now = digest(value);
            if (pin == pins_.size()) pins_.push_back(~now);
            if (std::exchange(pins_[pin], now) != now) pin_changes.push_back({cycles_, pin, now});
            ++pin;
        });
    }

    template <typename Side>
    void trace_side(const Side& side, AxiChannel channel) {
        if (side.burst_started()) record(cycles_, cycles_, BURST, 0, 0, channel);
        if (side.burst_ended()) record(cycles_, cycles_, BURST_END, 0, 0, channel);
    }

    void record_seams() {
        const std::size_t before = recording.seams.size();
        system_.collect_seams(recording.seams);
        for (std::size_t i = before; i < recording.seams.size(); ++i) recording.seams[i].clock = cycles_;
        recording.limit(cycles_);
    }

    void trace_bursts() {
        trace_side(queue_reader_, QUEUE_READ);
        trace_side(queue_writer_, QUEUE_WRITE);
        trace_side(data_reader_, DATA_READ);
        trace_side(data_writer_, DATA_WRITE);
        if (front_end_.irq() && !interrupt_) record(cycles_, cycles_, INTERRUPT_RAISED, 0, 0, 0);
        interrupt_ = front_end_.irq();
    }

    template <typename Port>
    using Of = std::remove_cv_t<std::remove_reference_t<Port>>;

    System system_;
    decltype(system_.front_end()) front_end_ = system_.front_end();
    Memory memory_;
    AxiReader<Of<decltype(front_end_.queue__araddr())>, Of<decltype(front_end_.queue__wdata())>> queue_reader_{
        memory_, front_end_.queue__araddr(), front_end_.queue__arlen(), front_end_.queue__arvalid(),
        front_end_.queue__rready()};
    AxiReader<Of<decltype(front_end_.data__araddr())>, Of<decltype(front_end_.data__wdata())>> data_reader_{
        memory_, front_end_.data__araddr(), front_end_.data__arlen(), front_end_.data__arvalid(),
        front_end_.data__rready()};
    AxiWriter<Of<decltype(front_end_.queue__awaddr())>, Of<decltype(front_end_.queue__wdata())>,
              Of<decltype(front_end_.queue__wstrb())>>
        queue_writer_{memory_, front_end_.queue__awaddr(), front_end_.queue__awvalid(),
                      front_end_.queue__wdata(), front_end_.queue__wstrb(),
                      front_end_.queue__wlast(), front_end_.queue__wvalid(), front_end_.queue__bready()};
    AxiWriter<Of<decltype(front_end_.data__awaddr())>, Of<decltype(front_end_.data__wdata())>,
              Of<decltype(front_end_.data__wstrb())>>
        data_writer_{memory_, front_end_.data__awaddr(), front_end_.data__awvalid(),
                      front_end_.data__wdata(), front_end_.data__wstrb(),
                     front_end_.data__wlast(), front_end_.data__wvalid(), front_end_.data__bready()};
    std::vector<uint64_t> pins_;  // as logged last
    uint64_t cycles_ = 0;
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

void flashtrain_open(uint8_t* memory, uint64_t bytes, uint32_t latency, uint64_t bytes_per_65536_cycles) {
    device = std::make_unique<Device>(memory, bytes, latency, bytes_per_65536_cycles);
}
void flashtrain_power_cycle() { device->power_cycle(); }
void flashtrain_close() { device.reset(); }
uint64_t flashtrain_cycles() { return device->cycles(); }
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
void flashtrain_record(uint64_t begin, uint64_t end, uint64_t most) {
    recording.arm(device->cycles(), begin, end, most);
}
void flashtrain_stop_recording() { recording.stop(device->cycles()); }
void flashtrain_recorded(uint64_t* facts) {
    const uint64_t now[] = {recording.records.size(), recording.seams.size(), recording.began(), recording.ended(),
                            recording.full()};
    std::copy(std::begin(now), std::end(now), facts);
}
void flashtrain_take_recording(Record* records, Seam* seams) {
    std::copy(recording.records.begin(), recording.records.end(), records);
    std::copy(recording.seams.begin(), recording.seams.end(), seams);
    recording.records.clear();
    recording.seams.clear();
}
void flashtrain_log_pins(int32_t on) { logging_pins = on; }
uint64_t flashtrain_pin_changes() { return pin_changes.size(); }
void flashtrain_take_pin_changes(PinChange* changes) {
    std::copy(pin_changes.begin(), pin_changes.end(), changes);
    pin_changes.clear();
}
}
