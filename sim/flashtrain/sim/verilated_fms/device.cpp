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
        : memory_{memory, bytes, latency, Budget{bytes_per_65536_clocks}},
          queue_reader_{memory_, hub_.PIN(queue, araddr), hub_.PIN(queue, arlen), hub_.PIN(queue, arvalid), hub_.PIN(queue, arready),
                        hub_.PIN(queue, rdata), hub_.PIN(queue, rresp), hub_.PIN(queue, rlast), hub_.PIN(queue, rvalid),
                        hub_.PIN(queue, rready)},
          queue_writer_{memory_, hub_.PIN(queue, awaddr), hub_.PIN(queue, awlen), hub_.PIN(queue, awvalid), hub_.PIN(queue, awready),
                        hub_.PIN(queue, wdata), hub_.PIN(queue, wstrb), hub_.PIN(queue, wlast), hub_.PIN(queue, wvalid),
                        hub_.PIN(queue, wready), hub_.PIN(queue, bresp), hub_.PIN(queue, bvalid), hub_.PIN(queue, bready)},
          data_reader_{memory_, hub_.PIN(data, araddr), hub_.PIN(data, arlen), hub_.PIN(data, arvalid),
                       hub_.PIN(data, arready), hub_.PIN(data, rdata), hub_.PIN(data, rresp), hub_.PIN(data, rlast), hub_.PIN(data, rvalid),
                       hub_.PIN(data, rready)},
          data_writer_{memory_, hub_.PIN(data, awaddr), hub_.PIN(data, awlen), hub_.PIN(data, awvalid),
                       hub_.PIN(data, awready), hub_.PIN(data, wdata), hub_.PIN(data, wstrb), hub_.PIN(data, wlast), hub_.PIN(data, wvalid),
                       hub_.PIN(data, wready), hub_.PIN(data, bresp), hub_.PIN(data, bvalid), hub_.PIN(data, bready)} {
        for (int i = 0; i < kChannels; ++i) {
            channels_.push_back(std::make_unique<ChannelState>(context_));
            channels_[i]->engine.channel(static_cast<CData>(i));
            for (int d = 0; d < kDies; ++d) {
                DieState& state = channels_[i]->dies[d];
                state.model = std::make_unique<Die>(context_);
                state.model->channel(static_cast<CData>(i));
                state.model->die(static_cast<CData>(d));
            }
        }
        reset(1);
        for (int i = 0; i < 8; ++i) clock();
        reset(0);
        clock();
    }
    ~Device() {
        for_each_model([](auto& model) { model.final(); });
    }

    uint64_t clocks() const { return clocks_; }

    // One clock. What the hub sends comes from its registers, so the channels can have it before the edge; of what a
    // channel sends, only the answer to a request depends on it within the clock.
    void clock() {
        queue_reader_.sample(clocks_);
        queue_writer_.sample(clocks_);
        data_reader_.sample(clocks_);
        data_writer_.sample(clocks_);
        if (tracing) trace_bursts();
        if (hub_sleeper_.awake()) broadcast();
        for (int i = 0; i < kChannels; ++i) {
            ChannelState& channel = *channels_[i];
            exchange_with_dies(channel);
            to_engine(i, channel.engine);
            if (channel.engine.settle()) hub_changed_ |= from_channel[i](channel.engine, hub_);
            if (hub_.channel_counter_sample) hub_changed_ |= counter[i](channel.engine, hub_);
        }
        hub_changed_ |= from_clockwork(hub_clockwork_, hub_);
        if (hub_changed_) hub_sleeper_.inputs_changed();
        to_clockwork(hub_, hub_clockwork_);
        hub_clockwork_.rst = hub_.channel_reset;
        settle(*hub_clockwork_.rootp);

        hub_sleeper_.edge(clocks_);
        rising_edge(*hub_clockwork_.rootp);
        for (auto& channel : channels_) {
            channel->engine.cycle(clocks_);
            channel->engine.edge(clocks_);
            for (DieState& state : channel->dies) {
                if (state.awake) state.model->edge(clocks_);
            }
        }
        ++clocks_;
        memory_.budget.clock();
        hub_changed_ = queue_reader_.drive(clocks_) | queue_writer_.drive(clocks_) | data_reader_.drive(clocks_) |
                       data_writer_.drive(clocks_);
    }

    Stop run(uint64_t most) {
        for (uint64_t i = 0; i < most; ++i) {
            if (!violations.empty()) return VIOLATION;
            if (hub_.irq) return INTERRUPT;
            clock();
        }
        return violations.empty() ? hub_.irq ? INTERRUPT : LIMIT : VIOLATION;
    }

    Access write_register(uint32_t address, uint32_t value) {
        hub_.PIN(registers, awaddr) = address;
        hub_.PIN(registers, awvalid) = 1;
        hub_.PIN(registers, wdata) = value;
        hub_.PIN(registers, wstrb) = 15;
        hub_.PIN(registers, wvalid) = 1;
        hub_.PIN(registers, bready) = 1;
        record(clocks_, clocks_, REGISTER_WRITTEN, 0, 0, address);
        for (int i = 0; i < kRegisterClocks; ++i) {
            hub_sleeper_.inputs_changed();
            const bool aw = hub_.PIN(registers, awvalid) & hub_.PIN(registers, awready);
            const bool w = hub_.PIN(registers, wvalid) & hub_.PIN(registers, wready);
            const bool b = hub_.PIN(registers, bvalid);
            const bool error = hub_.PIN(registers, bresp) & 2;
            clock();
            hub_changed_ = true;
            if (aw) hub_.PIN(registers, awvalid) = 0;
            if (w) hub_.PIN(registers, wvalid) = 0;
            if (b) {
                hub_.PIN(registers, bready) = 0;
                return error ? ERROR : DONE;
            }
        }
        return TIMEOUT;
    }

    Access read_register(uint32_t address, uint32_t& value) {
        hub_.PIN(registers, araddr) = address;
        hub_.PIN(registers, arvalid) = 1;
        hub_.PIN(registers, rready) = 1;
        for (int i = 0; i < kRegisterClocks; ++i) {
            hub_sleeper_.inputs_changed();
            const bool ar = hub_.PIN(registers, arvalid) & hub_.PIN(registers, arready);
            const bool r = hub_.PIN(registers, rvalid);
            const bool error = hub_.PIN(registers, rresp) & 2;
            if (r) value = hub_.PIN(registers, rdata);
            clock();
            hub_changed_ = true;
            if (ar) hub_.PIN(registers, arvalid) = 0;
            if (r) {
                hub_.PIN(registers, rready) = 0;
                return error ? ERROR : DONE;
            }
        }
        return TIMEOUT;
    }

  private:
    static constexpr int kRegisterClocks = 1000;
    static constexpr uint64_t kClocksToRest = 16;  // after CE_n rose a die may still be fetching a word

    struct DieState {
        std::unique_ptr<Die> model;
        bool awake = true;
        uint64_t selected = 0;  // the last clock with CE_n low
        // What the model says; it says the same while it is left alone.
        CData dqs_i = 0, rb_n = 0, resting = 0;
        SData dq_i = 0;
        uint64_t wake = 0;
    };

    struct ChannelState {
        explicit ChannelState(VerilatedContext& context) : engine{context} {}
        Channel engine;
        DieState dies[kDies];
    };

    // The hub, which sleeps like a part.
    class HubSleeper {
      public:
        explicit HubSleeper(Vhub& hub) : hub_{hub} {}

        bool awake() const { return awake_; }

        void inputs_changed() {
            settle(*hub_.rootp);
            stillness_.wake();
            awake_ = true;
        }

        void edge(uint64_t clock) {
            if (!awake_) return;
            rising_edge(*hub_.rootp);
            awake_ = !stillness_.still(*hub_.rootp, clock);
        }

      private:
        Vhub& hub_;
        bool awake_ = true;
        Stillness<Vhub___024root> stillness_;
    };

    // What comes to a channel before the edge.
    void to_engine(int number, Channel& engine) {
        if (!hub_sleeper_.awake()) return;
        to_channel[number](hub_, engine);
        const bool data_valid = hub_.write_data_valid >> number & 1;
        engine.data_valid(static_cast<CData>(data_valid));
        if (data_valid) engine.data(hub_.write_data);
    }

    // What all channels are told, and seldom.
    void broadcast() {
        const Broadcast now{hub_.channel_reset, hub_.channel_counter_select, hub_.channel_counter_sample};
        if (now == broadcast_) return;
        broadcast_ = now;
        for (auto& channel : channels_) {
            channel->engine.channel_reset(hub_.channel_reset);
            channel->engine.counter_select(hub_.channel_counter_select);
            channel->engine.counter_sample(hub_.channel_counter_sample);
        }
    }

    // Pins between a channel and its dies, before the edge. A die rests, and is left alone, when nothing in it can
    // change.
    void exchange_with_dies(ChannelState& state) {
        Channel& channel = state.engine;
        const auto selected = ~channel.nand__ce_n();
        CData dqs_i = 0, rb_n = 0;
        SData dq_i = 0;
        for (int d = 0; d < kDies; ++d) {
            DieState& die_state = state.dies[d];
            Die& die = *die_state.model;
            if (die_state.awake) {
                die_state.dqs_i = die.pins__dqs_i();
                die_state.dq_i = die.pins__dq_i();
                die_state.rb_n = die.pins__rb_n();
                die_state.resting = die.resting();
                die_state.wake = die.wake();
            }
            dqs_i |= die_state.dqs_i;
            dq_i |= die_state.dq_i;
            rb_n |= die_state.rb_n << d;
            const bool ce = selected >> d & 1;
            if (ce) die_state.selected = clocks_;
            die_state.awake = clocks_ - die_state.selected < kClocksToRest || !die_state.resting ||
                              clocks_ >= die_state.wake;
            if (!die_state.awake) continue;
            to_die(channel, die);
            die.pins__ce_n(static_cast<CData>(!ce));
            die.cycle(clocks_);
            die.settle();
        }
        channel.nand__dqs_i(dqs_i);
        channel.nand__dq_i(dq_i);
        channel.nand__rb_n(rb_n);
    }

    template <typename Action>
    void for_each_model(Action action) {
        action(hub_);
        action(hub_clockwork_);
        for (auto& channel : channels_) {
            channel->engine.for_each_model(action);
            for (DieState& state : channel->dies) state.model->for_each_model(action);
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
        if (hub_.irq && !interrupt_) record(clocks_, clocks_, INTERRUPT_RAISED, 0, 0, 0);
        interrupt_ = hub_.irq;
    }

    template <typename Port>
    using Of = std::remove_reference_t<Port>;

    VerilatedContext context_;
    Vhub hub_{&context_};
    Vhub_clockwork hub_clockwork_{&context_};
    HubSleeper hub_sleeper_{hub_};
    std::vector<std::unique_ptr<ChannelState>> channels_;
    Memory memory_;
    AxiReader<Of<decltype(hub_.PIN(queue, araddr))>, Of<decltype(hub_.PIN(queue, rdata))>> queue_reader_;
    AxiWriter<Of<decltype(hub_.PIN(queue, awaddr))>, Of<decltype(hub_.PIN(queue, wdata))>, Of<decltype(hub_.PIN(queue, wstrb))>>
        queue_writer_;
    AxiReader<Of<decltype(hub_.PIN(data, araddr))>, Of<decltype(hub_.PIN(data, rdata))>> data_reader_;
    AxiWriter<Of<decltype(hub_.PIN(data, awaddr))>, Of<decltype(hub_.PIN(data, wdata))>, Of<decltype(hub_.PIN(data, wstrb))>>
        data_writer_;
    using Broadcast = std::array<CData, 3>;
    Broadcast broadcast_{2};  // as no signal of one bit is
    bool hub_changed_ = true;  // the hub's inputs, since it was settled
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
