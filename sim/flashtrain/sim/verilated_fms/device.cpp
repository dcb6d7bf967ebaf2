// The simulated flash memory system: a Verilated hub and channels, the tensor buffer, and what Python calls.
//
// One device per loaded library: the NAND model's DPI functions have no other context.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "Vchannel_pinchecker__Dpi.h"
#include "Vdie_rest__Dpi.h"
#include "axi_memory.h"
#include "sleep.h"
#include "step.h"
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
        : memory_{memory, bytes, latency, Budget{bytes_per_65536_clocks}} {
        for (int first = 0; first < kChannels; first += kGroup) {
            groups_.push_back(std::make_unique<Group>(context_, first, std::min(kGroup, kChannels - first)));
        }
        power_cycle();
    }
    ~Device() {
        for_each_model([](auto& model) { model.final(); });
    }

    uint64_t clocks() const { return clocks_; }

    // The power comes, after it has failed if it was there. What the arrays hold stays.
    void power_cycle() {
        for (auto& group : groups_) {
            for (auto& dies : group->dies) {
                dies->linger(dies->all, clocks_);  // none rests
                // Those that did have not been told the time, and what they work on is cut short now.
                for (int i = 0; i < group->count; ++i) dies->model.cycle(clocks_, i);
                dies->model.settle();
            }
        }
        reset(1);
        clock();  // from now on the controller asks for nothing
        queue_reader_.forget();
        data_reader_.forget();
        queue_writer_.forget();
        data_writer_.forget();
        drive_tensor_buffer();
        for (int i = 1; i < kResetClocks; ++i) clock();
        reset(0);
        clock();
    }

    // One clock. What the hub sends comes from its registers, so the channels can have it before the edge; of what a
    // channel sends, only the answer to a request depends on it within the clock.
    void clock() {
        const bool hub_speaks = std::exchange(hub_news_, false);
        if (hub_speaks) broadcast();
        for (auto& group : groups_) {
            exchange_with_dies(*group);
            const uint64_t told = hub_speaks ? to_engines(*group) : 0;
            for (const int i : Each{group->engines.settle() | told}) {
                from_channel[group->first + i](group->engines, i, hub_);
            }
            if (hub_.channel_counter_sample()) {
                for (int i = 0; i < group->count; ++i) counter[group->first + i](group->engines, i, hub_);
            }
        }
        settle_hub();

        queue_reader_.sample(clocks_);
        queue_writer_.sample(clocks_);
        data_reader_.sample(clocks_);
        data_writer_.sample(clocks_);
        if (tracing) trace_bursts();
        hub_.edge(clocks_);
        for (auto& group : groups_) {
            for (int i = 0; i < group->count; ++i) group->engines.cycle(clocks_, i);
            group->engines.edge(clocks_);
            for (auto& dies : group->dies) dies->model.edge(clocks_, dies->awake);
        }
        ++clocks_;
        memory_.budget.clock();
        drive_tensor_buffer();
        settle_hub();
    }

    Stop run(uint64_t most) {
        for (uint64_t i = 0; i < most; ++i) {
            if (!violations.empty()) return VIOLATION;
            if (hub_.irq()) return INTERRUPT;
            clock();
        }
        return violations.empty() ? hub_.irq() ? INTERRUPT : LIMIT : VIOLATION;
    }

    Access write_register(uint32_t address, uint32_t value) {
        hub_.registers__awaddr(static_cast<SData>(address));
        hub_.registers__awvalid(CData{1});
        hub_.registers__wdata(IData{value});
        hub_.registers__wstrb(CData{15});
        hub_.registers__wvalid(CData{1});
        hub_.registers__bready(CData{1});
        record(clocks_, clocks_, REGISTER_WRITTEN, 0, 0, address);
        CData awvalid = 1, wvalid = 1;
        for (int i = 0; i < kRegisterClocks; ++i) {
            settle_hub();
            const bool aw = awvalid & hub_.registers__awready();
            const bool w = wvalid & hub_.registers__wready();
            const bool b = hub_.registers__bvalid();
            const bool error = hub_.registers__bresp() & 2;
            clock();
            if (aw) hub_.registers__awvalid(awvalid = 0);
            if (w) hub_.registers__wvalid(wvalid = 0);
            if (b) {
                hub_.registers__bready(CData{0});
                return error ? ERROR : DONE;
            }
        }
        return TIMEOUT;
    }

    Access read_register(uint32_t address, uint32_t& value) {
        hub_.registers__araddr(static_cast<SData>(address));
        hub_.registers__arvalid(CData{1});
        hub_.registers__rready(CData{1});
        CData arvalid = 1;
        for (int i = 0; i < kRegisterClocks; ++i) {
            settle_hub();
            const bool ar = arvalid & hub_.registers__arready();
            const bool r = hub_.registers__rvalid();
            const bool error = hub_.registers__rresp() & 2;
            if (r) value = hub_.registers__rdata();
            clock();
            if (ar) hub_.registers__arvalid(arvalid = 0);
            if (r) {
                hub_.registers__rready(CData{0});
                return error ? ERROR : DONE;
            }
        }
        return TIMEOUT;
    }

  private:
    static constexpr int kRegisterClocks = 1000;
    static constexpr int kResetClocks = 8;
    static constexpr uint64_t kClocksToRest = 16;  // after CE_n rose a die may still be fetching a word

    static constexpr int kGroup = 64;  // channels

    // The dies of one number of all channels of a group.
    struct Dies {
        Dies(VerilatedContext& context, int count) : model{context, count}, all{~uint64_t{0} >> (64 - count)} {}

        // What a die says of its rest; it says the same while it is left alone.
        void hear(int i, uint64_t clock) {
            const uint64_t bit = uint64_t{1} << i;
            resting = model.resting(i) ? resting | bit : resting & ~bit;
            wake[i] = model.wake(i);
            due = clock >= wake[i] ? due | bit : due & ~bit;
            if (wake[i] > clock) next_wake = std::min(next_wake, wake[i]);
        }

        void select(bool on, int i, uint64_t clock) {
            const uint64_t bit = uint64_t{1} << i;
            if (!on && selected & bit) linger(bit, clock - 1);
            selected = on ? selected | bit : selected & ~bit;
        }

        // These have been selected until this clock.
        void linger(uint64_t instances, uint64_t clock) {
            lingering |= instances;
            for (const int i : Each{instances}) lingers[i] = clock + kClocksToRest;
        }

        // Those that see the next edge.
        void choose(uint64_t clock) {
            for (const int i : Each{lingering}) {
                if (clock >= lingers[i]) lingering &= ~(uint64_t{1} << i);
            }
            if (clock >= next_wake) {
                due = 0;
                next_wake = ~uint64_t{0};
                for (const int i : Each{all}) {
                    due |= uint64_t{clock >= wake[i]} << i;
                    if (wake[i] > clock) next_wake = std::min(next_wake, wake[i]);
                }
            }
            awake = selected | lingering | (all & ~resting) | due;
        }

        Die model;
        uint64_t all;
        uint64_t awake = 0;
        uint64_t news = 0;  // they drive something new
        uint64_t unseen = 0;  // their pins have moved since they were awake
        uint64_t selected = 0;  // CE_n is low
        uint64_t lingering = 0;  // it was not long ago, and they are awake until `lingers`
        std::array<uint64_t, kGroup> lingers{};
        uint64_t resting = 0;
        std::array<uint64_t, kGroup> wake{};
        uint64_t due = 0;  // they are to be awake
        uint64_t next_wake = 0;  // until then no other is, or one that has said another time since
    };

    // Channels that are moved together.
    struct Group {
        Group(VerilatedContext& context, int first_channel, int channels)
            : first{first_channel}, count{channels}, engines{context, channels} {
            for (auto& numbered : dies) numbered = std::make_unique<Dies>(context, channels);
            for (int i = 0; i < count; ++i) {
                engines.channel(static_cast<CData>(first + i), i);
                for (int d = 0; d < kDies; ++d) {
                    dies[d]->model.channel(static_cast<CData>(first + i), i);
                    dies[d]->model.die(static_cast<CData>(d), i);
                }
            }
        }
        int first, count;
        Channel engines;
        std::array<uint32_t, kGroup> told{};  // by the hub, as `told` has it
        std::array<std::unique_ptr<Dies>, kDies> dies;
    };

    void settle_hub() { hub_news_ |= hub_.settle() != 0; }

    // What comes from the hub to the channels before the edge. Those for which it says anything, or something else.
    uint64_t to_engines(Group& group) {
        uint64_t instances = 0;
        for (int i = 0; i < group.count; ++i) {
            const int number = group.first + i;
            const bool data_valid = hub_.write_data_valid() >> number & 1;
            const uint32_t now = told[number](hub_) | uint32_t{data_valid} << kDataValid;
            if (now == group.told[i] && !(now & kValid)) continue;
            group.told[i] = now;
            instances |= uint64_t{1} << i;
            to_channel[number](hub_, group.engines, i);
            group.engines.data_valid(static_cast<CData>(data_valid), i);
            if (data_valid) group.engines.data(hub_.write_data(), i);
        }
        return instances;
    }

    // What all channels are told, and seldom.
    void broadcast() {
        const Broadcast now{hub_.channel_reset(), hub_.channel_counter_select(), hub_.channel_counter_sample()};
        if (now == broadcast_) return;
        broadcast_ = now;
        for (auto& group : groups_) {
            for (int i = 0; i < group->count; ++i) {
                group->engines.channel_reset(hub_.channel_reset(), i);
                group->engines.counter_select(hub_.channel_counter_select(), i);
                group->engines.counter_sample(hub_.channel_counter_sample(), i);
            }
        }
    }

    // What the tensor buffer answers from the next clock on.
    void drive_tensor_buffer() {
        if (queue_reader_.drive(clocks_)) {
            hub_.queue__arready(queue_reader_.arready);
            hub_.queue__rvalid(queue_reader_.rvalid);
            hub_.queue__rdata(queue_reader_.rdata);
            hub_.queue__rresp(queue_reader_.rresp);
            hub_.queue__rlast(queue_reader_.rlast);
        }
        if (data_reader_.drive(clocks_)) {
            hub_.data__arready(data_reader_.arready);
            hub_.data__rvalid(data_reader_.rvalid);
            hub_.data__rdata(data_reader_.rdata);
            hub_.data__rresp(data_reader_.rresp);
            hub_.data__rlast(data_reader_.rlast);
        }
        if (queue_writer_.drive(clocks_)) {
            hub_.queue__awready(queue_writer_.awready);
            hub_.queue__wready(queue_writer_.wready);
            hub_.queue__bvalid(queue_writer_.bvalid);
            hub_.queue__bresp(queue_writer_.bresp);
        }
        if (data_writer_.drive(clocks_)) {
            hub_.data__awready(data_writer_.awready);
            hub_.data__wready(data_writer_.wready);
            hub_.data__bvalid(data_writer_.bvalid);
            hub_.data__bresp(data_writer_.bresp);
        }
    }

    // Pins between channels and their dies, before the edge. A die rests, and is left alone, when nothing in it can
    // change.
    void exchange_with_dies(Group& group) {
        Channel& engines = group.engines;
        uint64_t answered = 0;
        for (auto& dies : group.dies) {
            answered |= std::exchange(dies->news, 0) | dies->model.settle();
            for (const int i : Each{dies->model.new_rest()}) dies->hear(i, clocks_);
        }
        for (const int i : Each{answered}) {
            CData dqs_i = 0, rb_n = 0;
            SData dq_i = 0;
            for (int d = 0; d < kDies; ++d) {
                const Die& die = group.dies[d]->model;
                dqs_i |= die.pins__dqs_i(i);
                dq_i |= die.pins__dq_i(i);
                rb_n |= die.pins__rb_n(i) << d;
            }
            engines.nand__dqs_i(dqs_i, i);
            engines.nand__dq_i(dq_i, i);
            engines.nand__rb_n(rb_n, i);
        }
        const uint64_t pins = engines.new_pins();
        for (int d = 0; d < kDies; ++d) {
            Dies& dies = *group.dies[d];
            const auto ce_n = [&](int i) { return static_cast<CData>(engines.nand__ce_n(i) >> d & 1); };
            for (const int i : Each{pins}) dies.select(!ce_n(i), i, clocks_);
            dies.unseen |= pins;
            dies.choose(clocks_);
            for (const int i : Each{dies.awake & dies.unseen}) {
                to_die(engines, dies.model, i);
                dies.model.pins__ce_n(ce_n(i), i);
            }
            dies.unseen &= ~dies.awake;
            for (const int i : Each{dies.awake}) dies.model.cycle(clocks_, i);
            for (const int i : Each{dies.due}) dies.model.rouse(i);
            dies.news |= dies.model.settle();
        }
    }

    template <typename Action>
    void for_each_model(Action action) {
        hub_.for_each_model(action);
        for (auto& group : groups_) {
            group->engines.for_each_model(action);
            for (auto& dies : group->dies) dies->model.for_each_model(action);
        }
    }

    void reset(bool on) {
        for_each_model([on](auto& model) {
            model.rst = on;
            model.eval();
        });
    }

    template <typename Side>
    void trace_side(const Side& side, AxiChannel channel) {
        if (side.burst_started()) record(clocks_, clocks_, BURST, 0, 0, channel);
        if (side.burst_ended()) record(clocks_, clocks_, BURST_END, 0, 0, channel);
    }

    void trace_bursts() {
        trace_side(queue_reader_, QUEUE_READ);
        trace_side(queue_writer_, QUEUE_WRITE);
        trace_side(data_reader_, DATA_READ);
        trace_side(data_writer_, DATA_WRITE);
        if (hub_.irq() && !interrupt_) record(clocks_, clocks_, INTERRUPT_RAISED, 0, 0, 0);
        interrupt_ = hub_.irq();
    }

    template <typename Port>
    using Of = std::remove_cv_t<std::remove_reference_t<Port>>;

    VerilatedContext context_;
    Hub hub_{context_, 1};
    bool hub_news_ = false;  // for the channels
    std::vector<std::unique_ptr<Group>> groups_;
    Memory memory_;
    AxiReader<Of<decltype(hub_.queue__araddr())>, Of<decltype(hub_.queue__wdata())>> queue_reader_{
        memory_, hub_.queue__araddr(), hub_.queue__arlen(), hub_.queue__arvalid(), hub_.queue__rready()};
    AxiReader<Of<decltype(hub_.data__araddr())>, Of<decltype(hub_.data__wdata())>> data_reader_{
        memory_, hub_.data__araddr(), hub_.data__arlen(), hub_.data__arvalid(), hub_.data__rready()};
    AxiWriter<Of<decltype(hub_.queue__awaddr())>, Of<decltype(hub_.queue__wdata())>, Of<decltype(hub_.queue__wstrb())>>
        queue_writer_{memory_, hub_.queue__awaddr(), hub_.queue__awvalid(), hub_.queue__wdata(), hub_.queue__wstrb(),
                      hub_.queue__wlast(), hub_.queue__wvalid(), hub_.queue__bready()};
    AxiWriter<Of<decltype(hub_.data__awaddr())>, Of<decltype(hub_.data__wdata())>, Of<decltype(hub_.data__wstrb())>>
        data_writer_{memory_, hub_.data__awaddr(), hub_.data__awvalid(), hub_.data__wdata(), hub_.data__wstrb(),
                     hub_.data__wlast(), hub_.data__wvalid(), hub_.data__bready()};
    using Broadcast = std::array<CData, 3>;
    Broadcast broadcast_{2};  // as no signal of one bit is
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
void flashtrain_power_cycle() { device->power_cycle(); }
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
