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
#include "buffer.h"
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
enum Served : int32_t { SERVED_LIMIT = 0, SERVED_MESSAGE = 1, SERVED_ATTENTION = 2, SERVED_QUIET = 3 };
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
        buffer_.reset(true);
        clock();  // from now on the controller asks for nothing
        buffer_.forget();
        buffer_.drive(cycles_);
        for (int i = 1; i < kResetCycles; ++i) clock();
        system_.reset(false);
        buffer_.reset(false);
        clock();
    }

    void clock() {
        recording.turn(cycles_);
        system_.settle(cycles_);
        buffer_.settle([this] { system_.settle_front_end(); });
        if (logging_pins) log_pins();

        buffer_.sample(cycles_);
        if (tracing || recording.on()) trace_bursts();
        if (recording.on()) record_seams();
        system_.edge(cycles_);
        ++cycles_;
        memory_.budget.clock();
        buffer_.drive(cycles_);
        settle_pins();
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
        auto& pins = buffer_.registers();
        pins.registers__awaddr(static_cast<SData>(address));
        pins.registers__awvalid(CData{1});
        pins.registers__wdata(IData{value});
        pins.registers__wstrb(CData{15});
        pins.registers__wvalid(CData{1});
        pins.registers__bready(CData{1});
        record(cycles_, cycles_, REGISTER_WRITTEN, 0, 0, address);
        CData awvalid = 1, wvalid = 1;
        for (int i = 0; i < kRegisterCycles; ++i) {
            settle_pins();
            const bool aw = awvalid & pins.registers__awready();
            const bool w = wvalid & pins.registers__wready();
            const bool b = pins.registers__bvalid();
            const bool error = pins.registers__bresp() & 2;
            clock();
            if (aw) pins.registers__awvalid(awvalid = 0);
            if (w) pins.registers__wvalid(wvalid = 0);
            if (b) {
                pins.registers__bready(CData{0});
                return error ? ERROR : DONE;
            }
        }
        return TIMEOUT;
    }

    Access read_register(uint32_t address, uint32_t& value) {
        auto& pins = buffer_.registers();
        pins.registers__araddr(static_cast<SData>(address));
        pins.registers__arvalid(CData{1});
        pins.registers__rready(CData{1});
        CData arvalid = 1;
        for (int i = 0; i < kRegisterCycles; ++i) {
            settle_pins();
            const bool ar = arvalid & pins.registers__arready();
            const bool r = pins.registers__rvalid();
            const bool error = pins.registers__rresp() & 2;
            if (r) value = pins.registers__rdata();
            clock();
            if (ar) pins.registers__arvalid(arvalid = 0);
            if (r) {
                pins.registers__rready(CData{0});
                return error ? ERROR : DONE;
            }
        }
        return TIMEOUT;
    }

#ifdef FLASHTRAIN_PCIE
    // An access of the host to its registers, or of firmware to the mailbox.
    Access access(bool firmware, bool write, uint32_t dword, uint32_t& value) {
        auto& pins = buffer_.pins();
        if (write) buffer_.touch(cycles_);
        auto payload = pins.accesses__payload();
        put_field(payload, kAccessWrite, write);
        put_field(payload, kAccessOffset, dword);
        put_field(payload, kAccessData, value);
        firmware ? pins.firmware__payload(payload) : pins.accesses__payload(payload);
        firmware ? pins.values__ready(CData{1}) : pins.answers__ready(CData{1});
        CData valid = 1;
        for (int i = 0; i < kRegisterCycles; ++i) {
            firmware ? pins.firmware__valid(valid) : pins.accesses__valid(valid);
            settle_pins();
            const bool taken = valid & (firmware ? pins.firmware__ready() : pins.accesses__ready());
            const bool answered = !write && (firmware ? pins.values__valid() : pins.answers__valid());
            if (answered) value = firmware ? pins.values__payload() : pins.answers__payload();
            clock();
            if (taken) valid = 0;
            firmware ? pins.firmware__valid(valid) : pins.accesses__valid(valid);
            if (answered || (taken && write)) return DONE;
        }
        return TIMEOUT;
    }

    // Until there is a message, work of firmware, or nothing was under way for `quiet` cycles since the last write of a
    // register, or since this was the reason last.
    Served serve(uint64_t most, uint64_t quiet) {
        for (uint64_t i = 0; i < most && violations.empty(); ++i) {
            clock();
            if (buffer_.has_messages()) return SERVED_MESSAGE;
            if (buffer_.pins().attention()) return SERVED_ATTENTION;
            if (buffer_.quiet(cycles_) < quiet) continue;
            buffer_.touch(cycles_);
            return SERVED_QUIET;
        }
        return SERVED_LIMIT;
    }

    void set_vectors(bool enable, bool mask) {
        buffer_.pins().enable_vectors(CData{enable});
        buffer_.pins().mask_vectors(CData{mask});
        settle_pins();
    }

    bool running() { return buffer_.pins().running(); }

    Buffer& host() { return buffer_; }
#endif

  private:
    static constexpr int kRegisterCycles = 1000;
    static constexpr int kResetCycles = 8;

    void settle_pins() {
        system_.settle_front_end();
        buffer_.settle([this] { system_.settle_front_end(); });
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
        buffer_.for_each_side([this](const auto& side, AxiChannel channel) { trace_side(side, channel); });
        if (front_end_.irq() && !interrupt_) record(cycles_, cycles_, INTERRUPT_RAISED, 0, 0, 0);
        interrupt_ = front_end_.irq();
    }

    System system_;
    decltype(system_.front_end()) front_end_ = system_.front_end();
    Memory memory_;
    Buffer buffer_{front_end_, memory_};
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
#ifdef FLASHTRAIN_PCIE
int32_t flashtrain_access(int32_t firmware, int32_t write, uint32_t dword, uint32_t* value) {
    return device->access(firmware, write, dword, *value);
}
int32_t flashtrain_serve(uint64_t most, uint64_t quiet) { return device->serve(most, quiet); }
void flashtrain_set_vectors(int32_t enable, int32_t mask) { device->set_vectors(enable, mask); }
int32_t flashtrain_running() { return device->running(); }
void flashtrain_permit(int32_t reads, int32_t writes) { device->host().permit(reads, writes); }
void flashtrain_map(const HostRegion* regions, uint64_t count) { device->host().map({regions, regions + count}); }
void flashtrain_watch(uint64_t queue, uint64_t address, uint64_t length, uint64_t entry_bytes) {
    device->host().watch(queue, address, length, entry_bytes);
}
// As many as there is room for; the others are forgotten.
uint64_t flashtrain_take_messages(HostMessage* messages, uint64_t room) {
    const auto taken = device->host().take_messages();
    std::copy_n(taken.begin(), std::min<uint64_t>(taken.size(), room), messages);
    return taken.size();
}
uint64_t flashtrain_traffic() { return device->host().traffic().size(); }
void flashtrain_take_traffic(QueueTraffic* entries) {
    auto& traffic = device->host().traffic();
    std::copy(traffic.begin(), traffic.end(), entries);
    traffic.clear();
}
#endif
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
