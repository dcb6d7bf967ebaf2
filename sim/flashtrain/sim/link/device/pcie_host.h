// The front end of PCI Express in the place of the tensor buffer, and the host's memory behind it.
//
// `pcie_model.h`, which is generated, has the pins of the front end with the names that the controller's have, what
// crosses between both, the fields of the requests, and the width of a row. A byte is in the lane of its address. The
// hard block takes a request and a row in each cycle, and answers reads in their order, one row per cycle, `latency`
// cycles after the request.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "axi_memory.h"
#include "components.h"
#include "pcie_model.h"

namespace flashtrain {

template <typename Port>
uint64_t field_of(const Port& port, Field field) {
    uint64_t value = 0;
    for (unsigned bit = 0; bit < field.width; ++bit) {
        value |= uint64_t{port_bit(port, field.low + bit)} << bit;
    }
    return value;
}

template <typename Port>
void put_field(Port& port, Field field, uint64_t value) {
    for (unsigned bit = 0; bit < field.width; ++bit) {
        uint8_t& byte = port_bytes(port)[(field.low + bit) / 8];
        const unsigned shift = (field.low + bit) % 8;
        byte = static_cast<uint8_t>((byte & ~(1u << shift)) | (value >> bit & 1) << shift);
    }
}

// Addresses that are memory of the host, and where their bytes are.
struct HostRegion {
    uint64_t address, length;
    uint8_t* bytes;
};

// A write of four bytes to an address without memory: it belongs to an interrupt controller.
struct HostMessage {
    uint64_t address, data;
};

// An entry of a watched queue that the function has asked for, or has written.
struct QueueTraffic {
    uint64_t cycle, queue, written;
    uint8_t entry[64];
};

class PcieHost {
  public:
    PcieHost(FrontEnd& front_end, Memory& memory)
        : front_end_{front_end}, memory_{memory}, regions_{{0, memory.size, memory.bytes}} {
        pins_.requests__ready(CData{1});
        pins_.data__ready(CData{1});
        pins_.enable_vectors(CData{1});
        exchange([] {});
    }

    PcieFrontEnd& registers() { return pins_; }
    PcieFrontEnd& pins() { return pins_; }

    // Until what passes between front end and controller within a cycle stands.
    template <typename Settle>
    void settle(Settle settle_controller) {
        exchange(settle_controller);
    }

    void sample(uint64_t now) {
        if (pins_.requests__valid()) take(now);
        if (pins_.data__valid()) store(now);
        if (!reads_.empty() || !writes_.empty()) touch(now);
        completed_ = pins_.completions__valid();
        pins_.edge();
    }

    void drive(uint64_t now) {
        if (completed_) next_row();
        const bool valid = !reads_.empty() && reads_.front().ready <= now;
        pins_.completions__valid(CData{valid});
        if (valid) offer();
    }

    void forget() {
        reads_.clear();
        writes_.clear();
    }

    void reset(bool on) { pins_.reset(on); }

    // None of its sides is traced.
    template <typename Action>
    void for_each_side(Action) const {}

    // Messages since the last call.
    std::vector<HostMessage> take_messages() { return std::exchange(messages_, {}); }
    bool has_messages() const { return !messages_.empty(); }

    // From now on these addresses are memory, and no others.
    void map(std::vector<HostRegion> regions) { regions_ = std::move(regions); }

    // Whether reads and writes of the function reach the host. Others fail, or have no effect.
    void permit(bool reads, bool writes) {
        may_read_ = reads;
        may_write_ = writes;
    }

    // Record the entries of a queue of `length` bytes; 0 ends it. An entry that is written is one of completions.
    void watch(uint64_t queue, uint64_t address, uint64_t length, uint64_t entry_bytes) {
        watched_.erase(std::remove_if(watched_.begin(), watched_.end(),
                                      [&](const Watched& one) {
                                          return one.queue == queue && one.entry_bytes == entry_bytes;
                                      }),
                       watched_.end());
        if (length) watched_.push_back({queue, address, length, entry_bytes});
    }
    std::vector<QueueTraffic>& traffic() { return traffic_; }

    // Cycles in which nothing was under way at the port.
    uint64_t quiet(uint64_t now) const { return now - active_; }
    void touch(uint64_t now) { active_ = now; }

  private:
    struct Transfer {
        uint64_t address, end, tag, ready, start;
    };

    struct Watched {
        uint64_t queue, address, length, entry_bytes;
    };

    // The bytes at an address, or none where the host has no memory.
    uint8_t* find(uint64_t address, uint64_t bytes) const {
        for (const HostRegion& one : regions_) {
            if (address >= one.address && address - one.address < one.length &&
                bytes <= one.length - (address - one.address)) {
                return one.bytes + (address - one.address);
            }
        }
        return nullptr;
    }

    void record(const Transfer& one, bool written, uint64_t now) {
        const uint64_t bytes = one.end - one.start;
        for (const Watched& queue : watched_) {
            if (queue.entry_bytes != bytes || one.start - queue.address >= queue.length) continue;
            const uint8_t* from = find(one.start, bytes);
            if (!from) return;
            QueueTraffic made{now, queue.queue, written, {}};
            std::memcpy(made.entry, from, bytes);
            traffic_.push_back(made);
            return;
        }
    }

    template <typename Settle>
    void exchange(Settle settle_controller) {
        for (int i = 0; i < kRounds; ++i) {
            to_pcie(front_end_, pins_);
            pins_.eval();
            if (!from_pcie(pins_, front_end_, crossed_)) return;
            settle_controller();
        }
    }

    void take(uint64_t now) {
        const auto& request = pins_.requests__payload();
        const uint64_t address = field_of(request, kRequestAddress);
        const Transfer one{address, address + 4 * field_of(request, kRequestLength), field_of(request, kRequestTag),
                           now + memory_.latency, address};
        const bool writes = field_of(request, kRequestWrite);
        (writes ? writes_ : reads_).push_back(one);
        if (!writes && !watched_.empty()) record(one, false, now);
    }

    // The bytes of a transfer in the row at its address.
    static uint64_t in_row(const Transfer& one) {
        return std::min<uint64_t>(one.end - one.address, kPortBytes - one.address % kPortBytes);
    }

    // Rows are the first field, so that their bytes are those of the payload.
    template <typename Port>
    static auto* lanes(Port& payload, const Transfer& one) {
        static_assert(kDataRow.low == 0 && kCompletionRow.low == 0);
        return port_bytes(payload) + one.address % kPortBytes;
    }

    void store(uint64_t now) {
        Transfer& one = writes_.front();
        const uint64_t bytes = in_row(one);
        const auto* from = lanes(pins_.data__payload(), one);
        if (uint8_t* to = find(one.address, bytes); to && may_write_) {
            std::memcpy(to, from, bytes);
        } else if (may_write_ && one.end - one.start == sizeof(uint32_t)) {
            uint32_t data;
            std::memcpy(&data, from, sizeof data);
            messages_.push_back({one.address, data});
        }
        one.address += bytes;
        if (one.address != one.end) return;
        if (!watched_.empty() && may_write_) record(one, true, now);
        writes_.pop_front();
    }

    void offer() {
        const Transfer& one = reads_.front();
        const uint64_t bytes = in_row(one);
        const uint8_t* there = may_read_ ? find(one.address, bytes) : nullptr;
        auto payload = pins_.completions__payload();
        if (there) std::memcpy(lanes(payload, one), there, bytes);
        put_field(payload, kCompletionHalves, 3);
        put_field(payload, kCompletionTag, one.tag);
        put_field(payload, kCompletionEnd, !there || one.address + bytes == one.end);
        put_field(payload, kCompletionFailed, !there);
        failed_ = !there;
        pins_.completions__payload(payload);
    }

    void next_row() {
        Transfer& one = reads_.front();
        one.address += in_row(one);
        if (one.address == one.end || failed_) reads_.pop_front();
    }

    static constexpr int kRounds = 8;

    FrontEnd& front_end_;
    Memory& memory_;
    PcieFrontEnd pins_;
    Crossed crossed_;
    std::deque<Transfer> reads_, writes_;
    std::vector<HostRegion> regions_;
    std::vector<HostMessage> messages_;
    std::vector<Watched> watched_;
    std::vector<QueueTraffic> traffic_;
    uint64_t active_ = 0;
    bool completed_ = false, failed_ = false, may_read_ = true, may_write_ = true;
};

}  // namespace flashtrain
