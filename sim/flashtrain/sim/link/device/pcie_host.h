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

class PcieHost {
  public:
    PcieHost(FrontEnd& front_end, Memory& memory) : front_end_{front_end}, memory_{memory} {
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
        if (pins_.data__valid()) store();
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
    uint64_t take_messages() { return std::exchange(messages_, 0); }

  private:
    struct Transfer {
        uint64_t address, end, tag, ready;
    };

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
                           now + memory_.latency};
        (field_of(request, kRequestWrite) ? writes_ : reads_).push_back(one);
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

    void store() {
        Transfer& one = writes_.front();
        const uint64_t bytes = in_row(one);
        if (memory_.holds(one.address, bytes)) {
            std::memcpy(memory_.bytes + one.address, lanes(pins_.data__payload(), one), bytes);
        } else {
            ++messages_;
        }
        one.address += bytes;
        if (one.address == one.end) writes_.pop_front();
    }

    void offer() {
        const Transfer& one = reads_.front();
        const uint64_t bytes = in_row(one);
        const bool there = memory_.holds(one.address, bytes);
        auto payload = pins_.completions__payload();
        if (there) std::memcpy(lanes(payload, one), memory_.bytes + one.address, bytes);
        put_field(payload, kCompletionHalves, 3);
        put_field(payload, kCompletionTag, one.tag);
        put_field(payload, kCompletionEnd, !there || one.address + bytes == one.end);
        put_field(payload, kCompletionFailed, !there);
        pins_.completions__payload(payload);
    }

    void next_row() {
        Transfer& one = reads_.front();
        const uint64_t bytes = in_row(one);
        const bool there = memory_.holds(one.address, bytes);
        one.address += bytes;
        if (one.address == one.end || !there) reads_.pop_front();
    }

    static constexpr int kRounds = 8;

    FrontEnd& front_end_;
    Memory& memory_;
    PcieFrontEnd pins_;
    Crossed crossed_;
    std::deque<Transfer> reads_, writes_;
    uint64_t messages_ = 0;
    bool completed_ = false;
};

}  // namespace flashtrain
