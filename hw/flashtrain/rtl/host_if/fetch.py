"""Submission fetch: entries from the queues in the tensor buffer."""

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, Signature

from flashtrain.rtl.layouts import Entry
from flashtrain.rtl.lib.axi import ReadPort
from flashtrain.rtl.lib.streams import Queue, RoundRobin
from flashtrain.spec import FmsConfig, Submission
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.registers import PORTS

QUEUE_BYTES = 8
"""Width of the queue AXI port."""
ENTRY_BEATS = Submission.BYTES // QUEUE_BYTES
BURSTS_OUTSTANDING = 16  # one entry every 8 cycles up to 120 cycles of memory latency


class QueueSettings(Signature):
    """One port's queues as the register file drives them.

    Members
    -------
    sq_base, cq_base : Out   addresses
    sq_size, cq_size : Out   entries - 1
    sq_tail, cq_head : Out   doorbells
    """

    def __init__(self, config: FmsConfig):
        super().__init__({
            "sq_base": Out(config.address_bits),
            "sq_size": Out(16),
            "sq_tail": Out(16),
            "cq_base": Out(config.address_bits),
            "cq_size": Out(16),
            "cq_head": Out(16),
        })  # fmt: skip


def wrapped_next(index: Value, size: Value) -> Value:
    """The entry that follows `index` in a queue of `size` + 1 entries."""
    return Mux(index == size, 0, index + 1)


class SubmissionFetch(wiring.Component):
    """Fetches entries while a doorbell is ahead of its queue's head; ports take turns.

    A fetch reserves a place in its port's completion queue. So no answer waits for room, and a host that does
    not consume its completions stalls only its own port.

    A port has at most three quarters of the tags in flight, and always `BURSTS_OUTSTANDING`. So the commands
    of the other port are taken, whatever this one submits.

    An entry whose fetch fails goes on with `error` set; the decoder answers it with DATA_TRANSFER_ERROR.

    Latency: 2 cycles from a doorbell to the burst, 3 from that of the completion queue, 1 from the last beat
    to the entry. Throughput: an entry in 8 cycles, with up to `BURSTS_OUTSTANDING` outstanding.

    Members
    -------
    enable : In(1)
    queues : In(QueueSettings).array(PORTS)
    head : Out(16).array(PORTS)   next entry that has not arrived yet, for the completions
    answered : In(PORTS)          pulse: a completion entry has been written
    idle : Out(1)                 every submitted command has been answered
    fetched : Out(1)              pulse: an entry has arrived
    axi : Out(ReadPort)
    entries : Out(stream(Entry))
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "enable": In(1),
            "queues": In(QueueSettings(config)).array(PORTS),
            "head": Out(16).array(PORTS),
            "answered": In(PORTS),
            "idle": Out(1),
            "fetched": Out(1),
            "axi": Out(ReadPort(address_bits=config.address_bits, data_bits=8 * QUEUE_BYTES)),
            "entries": Out(stream.Signature(Entry())),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.ports = ports = Queue(bits_for(PORTS), BURSTS_OUTSTANDING)
        self._request(m, ports.input)
        self._receive(m, ports.output)
        return m

    def _request(self, m: Module, ports):
        m.submodules.turn = turn = RoundRobin(PORTS)
        following = Array(Signal(16, name=f"following{port}") for port in range(PORTS))
        reserved = Array(Signal(16, name=f"reserved{port}") for port in range(PORTS))
        most = max(self.config.commands * 3 // 4, BURSTS_OUTSTANDING)
        unanswered = [Signal(range(most + 1), name=f"unanswered{port}") for port in range(PORTS)]
        waiting, may_fetch = Signal(PORTS), Signal(PORTS)
        room, issues = Signal(PORTS), Signal(2)  # of the last cycles
        burst, issue = self.axi.ar, Signal()

        for port in range(PORTS):
            next_reserved = Signal(16, name=f"next_reserved{port}")
            m.d.sync += next_reserved.eq(wrapped_next(reserved[port], self.queues[port].cq_size))
            m.d.comb += waiting[port].eq(following[port] != self.queues[port].sq_tail)
            m.d.sync += room[port].eq(next_reserved != self.queues[port].cq_head)
            # A fetch shows here after three cycles. Nothing else fills the queue or holds the burst.
            may_begin = self.enable & waiting[port] & room[port] & (unanswered[port] != most)
            may_begin &= ports.ready & ~burst.valid
            m.d.sync += may_fetch[port].eq(may_begin & ~issue & ~issues.any())
        m.d.sync += issues.eq(Cat(issue, issues))
        m.d.comb += [
            turn.requests.eq(may_fetch),
            issue.eq(may_fetch.any()),
            turn.advance.eq(issue),
            ports.valid.eq(issue),
            ports.payload.eq(turn.index),
            self.idle.eq(~waiting.any() & ~Cat(unanswered).any()),
        ]
        with m.If(burst.ready):
            m.d.sync += burst.valid.eq(0)
        with m.If(issue):
            m.d.sync += [burst.valid.eq(1), burst.payload.length.eq(ENTRY_BEATS - 1)]
        for port in range(PORTS):
            with m.If(issue & turn.chosen[port]):
                m.d.sync += [
                    burst.payload.address.eq(self.queues[port].sq_base + following[port] * Submission.BYTES),
                    following[port].eq(wrapped_next(following[port], self.queues[port].sq_size)),
                    reserved[port].eq(wrapped_next(reserved[port], self.queues[port].cq_size)),
                ]
        for port, count in enumerate(unanswered):
            m.d.sync += count.eq(count + (issue & turn.chosen[port]) - self.answered[port])

    def _receive(self, m: Module, ports):
        beat, entry = self.axi.r, self.entries
        in_burst, last, arrived = Signal(), Signal(), Signal()
        m.d.sync += arrived.eq(last)
        m.d.comb += [
            beat.ready.eq(~entry.valid | entry.ready),
            last.eq(beat.valid & beat.ready & beat.payload.last),
            ports.ready.eq(arrived),
            self.fetched.eq(arrived),
        ]
        with m.If(entry.ready):
            m.d.sync += entry.valid.eq(0)
        with m.If(beat.valid & beat.ready):
            m.d.sync += [
                in_burst.eq(~beat.payload.last),
                entry.valid.eq(beat.payload.last),
                entry.payload.bytes.eq(Cat(entry.payload.bytes[8 * QUEUE_BYTES :], beat.payload.data)),
                entry.payload.error.eq(in_burst & entry.payload.error | beat.payload.error),
                entry.payload.port.eq(ports.payload),
            ]
        for port in range(PORTS):
            with m.If(arrived & (ports.payload == port)):
                m.d.sync += self.head[port].eq(wrapped_next(self.head[port], self.queues[port].sq_size))
