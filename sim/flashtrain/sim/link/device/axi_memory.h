// AXI4 memory: the tensor buffer behind one AXI port of the controller.
//
// Sampled once per clock, before the rising edge; what it drives holds from that edge on. Answers come in order, one
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

}  // namespace flashtrain
