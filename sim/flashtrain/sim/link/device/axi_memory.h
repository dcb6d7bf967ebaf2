// AXI4 memory: the tensor buffer behind the AXI ports of the controller.
//
// A port is sampled once per clock, before the rising edge; what it drives holds from that edge on. Answers come in order, one
// beat per clock at most, `latency` cycles after the burst's address, and within the bandwidth of a budget that both
// ports share. An address outside the memory is answered with DECERR.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <type_traits>

#include "model.h"
#include "verilated.h"

namespace flashtrain {

enum AxiChannel : uint16_t { QUEUE_READ = 0, QUEUE_WRITE = 1, DATA_READ = 2, DATA_WRITE = 3 };

enum Response : uint8_t { OKAY = 0, DECERR = 3 };

// Bytes that may move per clock, in 1/65536; 0: as many as the ports can take.
class Budget {
  public:
    explicit Budget(uint64_t bytes_per_65536_cycles) : rate_{bytes_per_65536_cycles} {}

    void clock() {
        if (rate_ && credit_ < kMost) credit_ += rate_;
    }
    bool has(uint64_t bytes) const { return !rate_ || credit_ >= bytes << 16; }
    void take(uint64_t bytes) {
        if (rate_) credit_ -= bytes << 16;
    }

  private:
    static constexpr uint64_t kMost = uint64_t{4096} << 16;
    uint64_t rate_;
    uint64_t credit_ = 0;
};

struct Memory {
    uint8_t* bytes;
    uint64_t size;
    uint32_t latency;
    Budget budget;

    bool holds(uint64_t address, uint64_t count) const { return address < size && count <= size - address; }
};

// Verilator stores a port in the smallest unsigned integer that holds it, or in an array of words.
template <typename Port>
auto* port_bytes(Port& port) {
    using Byte = std::conditional_t<std::is_const_v<Port>, const uint8_t, uint8_t>;
    if constexpr (std::is_integral_v<Port>) {
        return reinterpret_cast<Byte*>(&port);
    } else {
        return reinterpret_cast<Byte*>(port.data());
    }
}

template <typename Port>
bool port_bit(Port& port, unsigned index) {
    return port_bytes(port)[index / 8] >> (index % 8) & 1;
}

template <typename Address, typename Data>
class AxiReader {
  public:
    AxiReader(Memory& memory, const Address& araddr, const CData& arlen, const CData& arvalid, const CData& rready)
        : memory_{memory}, araddr_{araddr}, arlen_{arlen}, arvalid_{arvalid}, rready_{rready} {}

    // What it drives.
    CData arready = 0, rvalid = 0, rresp = 0, rlast = 0;
    Data rdata{};

    bool burst_started() const { return started_; }
    bool burst_ended() const { return ended_; }

    // Before the rising edge, with all pins settled: note what moves.
    void sample(uint64_t now) {
        started_ = arvalid_ & arready;
        if (started_) bursts_.push_back({araddr_, unsigned{arlen_} + 1, now + memory_.latency});
        const bool beat = rvalid & rready_;
        ended_ = beat & rlast;
        if (!beat) return;
        rvalid_next_ = 0;
        Burst& burst = bursts_.front();
        burst.address += kWidth;
        if (--burst.beats == 0) bursts_.pop_front();
    }

    // After the rising edge: drive the next beat. True if a pin changes.
    bool drive(uint64_t now) {
        bool changed = false;
        if (!rvalid_next_ && !bursts_.empty() && bursts_.front().ready <= now && memory_.budget.has(kWidth)) {
            const Burst& burst = bursts_.front();
            const bool inside = memory_.holds(burst.address, kWidth);
            if (inside) std::memcpy(port_bytes(rdata), memory_.bytes + burst.address, kWidth);
            rresp = inside ? OKAY : DECERR;
            rlast = burst.beats == 1;
            rvalid_next_ = true;
            changed = true;
            memory_.budget.take(kWidth);
        }
        changed |= carry(rvalid, CData{rvalid_next_});
        changed |= carry(arready, CData{bursts_.size() < kOutstanding});
        return changed;
    }

    // Nothing is under way any more.
    void forget() {
        bursts_.clear();
        rvalid_next_ = started_ = ended_ = false;
    }

  private:
    struct Burst {
        uint64_t address;
        unsigned beats;
        uint64_t ready;
    };
    static constexpr size_t kOutstanding = 64;
    static constexpr unsigned kWidth = sizeof(Data);  // ports are powers of two wide, from 32 bits

    Memory& memory_;
    const Address& araddr_;
    const CData &arlen_, &arvalid_, &rready_;
    std::deque<Burst> bursts_;
    bool rvalid_next_ = false, started_ = false, ended_ = false;
};

template <typename Address, typename Data, typename Strobe>
class AxiWriter {
  public:
    AxiWriter(Memory& memory, const Address& awaddr, const CData& awvalid, const Data& wdata, const Strobe& wstrb,
              const CData& wlast, const CData& wvalid, const CData& bready)
        : memory_{memory}, awaddr_{awaddr}, awvalid_{awvalid}, wdata_{wdata}, wstrb_{wstrb}, wlast_{wlast},
          wvalid_{wvalid}, bready_{bready} {}

    // What it drives.
    CData awready = 0, wready = 0, bvalid = 0, bresp = 0;

    bool burst_started() const { return started_; }
    bool burst_ended() const { return ended_; }

    void sample(uint64_t now) {
        started_ = awvalid_ & awready;
        if (started_) bursts_.push_back({awaddr_, false});
        ended_ = false;
        if (wvalid_ & wready) {
            Burst& burst = bursts_.front();
            if (memory_.holds(burst.address, kWidth)) {
                store(burst.address);
            } else {
                burst.failed = true;
            }
            burst.address += kWidth;
            memory_.budget.take(kWidth);
            if (wlast_) {
                ended_ = true;
                answers_.push_back({now + memory_.latency, burst.failed});
                bursts_.pop_front();
            }
        }
        if (bvalid & bready_) answers_.pop_front();
    }

    bool drive(uint64_t now) {
        bool changed = carry(awready, CData{bursts_.size() < kOutstanding});
        changed |= carry(wready, CData{!bursts_.empty() && memory_.budget.has(kWidth)});
        changed |= carry(bvalid, CData{!answers_.empty() && answers_.front().ready <= now});
        if (bvalid) changed |= carry(bresp, CData{answers_.front().failed ? DECERR : OKAY});
        return changed;
    }

    // Nothing is under way any more.
    void forget() {
        bursts_.clear();
        answers_.clear();
        started_ = ended_ = false;
    }

  private:
    struct Burst {
        uint64_t address;
        bool failed;
    };
    struct Answer {
        uint64_t ready;
        bool failed;
    };
    static constexpr size_t kOutstanding = 64;
    static constexpr unsigned kWidth = sizeof(Data);  // ports are powers of two wide, from 32 bits

    void store(uint64_t address) {
        const uint8_t* from = port_bytes(wdata_);
        uint8_t* to = memory_.bytes + address;
        bool all = true;
        for (unsigned first = 0; first < kWidth; first += 8) {
            all &= port_bytes(wstrb_)[first / 8] == (1 << std::min(kWidth, 8u)) - 1;
        }
        if (all) {
            std::memcpy(to, from, kWidth);
            return;
        }
        for (unsigned byte = 0; byte < kWidth; ++byte) {
            if (port_bit(wstrb_, byte)) to[byte] = from[byte];
        }
    }

    Memory& memory_;
    const Address& awaddr_;
    const CData& awvalid_;
    const Data& wdata_;
    const Strobe& wstrb_;
    const CData &wlast_, &wvalid_, &bready_;
    std::deque<Burst> bursts_;
    std::deque<Answer> answers_;
    bool started_ = false, ended_ = false;
};

// The tensor buffer behind both ports of the controller, whose registers are written at its pins.
template <typename FrontEnd>
class TensorBuffer {
  public:
    TensorBuffer(FrontEnd& front_end, Memory& memory) : front_end_{front_end}, memory_{memory} {}

    // Where registers are written.
    FrontEnd& registers() { return front_end_; }

    // With all pins settled, before the edge.
    template <typename Settle>
    void settle(Settle) {}

    void sample(uint64_t now) {
        queue_reader_.sample(now);
        queue_writer_.sample(now);
        data_reader_.sample(now);
        data_writer_.sample(now);
    }

    // What it answers from the next clock on.
    void drive(uint64_t now) {
        if (queue_reader_.drive(now)) {
            front_end_.queue__arready(queue_reader_.arready);
            front_end_.queue__rvalid(queue_reader_.rvalid);
            front_end_.queue__rdata(queue_reader_.rdata);
            front_end_.queue__rresp(queue_reader_.rresp);
            front_end_.queue__rlast(queue_reader_.rlast);
        }
        if (data_reader_.drive(now)) {
            front_end_.data__arready(data_reader_.arready);
            front_end_.data__rvalid(data_reader_.rvalid);
            front_end_.data__rdata(data_reader_.rdata);
            front_end_.data__rresp(data_reader_.rresp);
            front_end_.data__rlast(data_reader_.rlast);
        }
        if (queue_writer_.drive(now)) {
            front_end_.queue__awready(queue_writer_.awready);
            front_end_.queue__wready(queue_writer_.wready);
            front_end_.queue__bvalid(queue_writer_.bvalid);
            front_end_.queue__bresp(queue_writer_.bresp);
        }
        if (data_writer_.drive(now)) {
            front_end_.data__awready(data_writer_.awready);
            front_end_.data__wready(data_writer_.wready);
            front_end_.data__bvalid(data_writer_.bvalid);
            front_end_.data__bresp(data_writer_.bresp);
        }
    }

    // Nothing is under way any more.
    void forget() {
        queue_reader_.forget();
        data_reader_.forget();
        queue_writer_.forget();
        data_writer_.forget();
    }

    void reset(bool) {}

    // Calls the action with each side and its channel.
    template <typename Action>
    void for_each_side(Action action) const {
        action(queue_reader_, QUEUE_READ);
        action(queue_writer_, QUEUE_WRITE);
        action(data_reader_, DATA_READ);
        action(data_writer_, DATA_WRITE);
    }

  private:
    template <typename Port>
    using Of = std::remove_cv_t<std::remove_reference_t<Port>>;

    FrontEnd& front_end_;
    Memory& memory_;
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
};

}  // namespace flashtrain
