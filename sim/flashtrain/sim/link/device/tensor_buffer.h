// The tensor buffer behind the controller's AXI ports, whose registers are written at its pins.

#pragma once

#include <cstdint>
#include <type_traits>

#include "axi_memory.h"
#include "components.h"

namespace flashtrain {

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
