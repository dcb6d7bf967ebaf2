"""Fetches submission entries from the queues in the tensor buffer."""

from amaranth import Array, Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig, Submission
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.registers import PORTS

from ..arbiter import RoundRobin
from ..axi import ReadPort
from ..layouts import Entry
from ..queue import Queue
from .rings import QUEUE_BYTES, after

ENTRY_BEATS = Submission.BYTES // QUEUE_BYTES
BURSTS_UNDER_WAY = 16  # one entry every 8 clocks up to 120 clocks of memory latency


class SubmissionFetch(wiring.Component):
    """Fetches entries as long as a doorbell is ahead of its queue's head; ports take turns.

    An entry is fetched only when a place in its port's completion queue can be promised to it. So no answer
    ever waits for room, and a host that does not consume its completions holds up nobody but itself.

    A port has at most three quarters of the commands in flight that there are tags for, but always
    `BURSTS_UNDER_WAY`: however many it submits, commands of the other one are taken.

    An entry whose fetch fails goes on with `error` set; the decoder answers it with DATA_TRANSFER_ERROR.

    Latency: 1 clock from a doorbell to the burst, 1 from the last beat to the entry. Throughput: an entry in
    8 clocks, with up to `BURSTS_UNDER_WAY` outstanding.

    Members
    -------
    enable : In(1)
    sq_base, sq_size, sq_tail : In.array(PORTS)   submission queues: address, entries - 1, doorbell
    cq_size, cq_head : In.array(PORTS)            completion queues: entries - 1, doorbell
    head : Out(16).array(PORTS)   next entry that has not arrived yet: what completions report
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
            "sq_base": In(config.address_bits).array(PORTS),
            "sq_size": In(16).array(PORTS),
            "sq_tail": In(16).array(PORTS),
            "cq_size": In(16).array(PORTS),
            "cq_head": In(16).array(PORTS),
            "head": Out(16).array(PORTS),
            "answered": In(PORTS),
            "idle": Out(1),
            "fetched": Out(1),
            "axi": Out(ReadPort(address_bits=config.address_bits, data_bits=8 * QUEUE_BYTES)),
            "entries": Out(stream.Signature(Entry())),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.ports = ports = Queue(bits_for(PORTS), BURSTS_UNDER_WAY)
        self._request(m, ports.input)
        self._receive(m, ports.output)
        return m

    def _request(self, m: Module, ports):
        m.submodules.turn = turn = RoundRobin(PORTS)
        following = Array(Signal(16, name=f"following{port}") for port in range(PORTS))
        promised = Array(Signal(16, name=f"promised{port}") for port in range(PORTS))
        most = max(self.config.commands * 3 // 4, BURSTS_UNDER_WAY)
        unanswered = [Signal(range(most + 1), name=f"unanswered{port}") for port in range(PORTS)]
        waiting = Signal(PORTS)
        burst, issue = self.axi.ar, Signal()

        for port in range(PORTS):
            room = after(promised[port], self.cq_size[port]) != self.cq_head[port]
            m.d.comb += waiting[port].eq(following[port] != self.sq_tail[port])
            m.d.comb += turn.requests[port].eq(
                self.enable & waiting[port] & room & (unanswered[port] != most)
            )
        m.d.comb += [
            issue.eq(turn.requests.any() & ports.ready & (~burst.valid | burst.ready)),
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
                    burst.payload.address.eq(self.sq_base[port] + following[port] * Submission.BYTES),
                    following[port].eq(after(following[port], self.sq_size[port])),
                    promised[port].eq(after(promised[port], self.cq_size[port])),
                ]
        for port, count in enumerate(unanswered):
            m.d.sync += count.eq(count + (issue & turn.chosen[port]) - self.answered[port])

    def _receive(self, m: Module, ports):
        beat, entry = self.axi.r, self.entries
        under_way, last = Signal(), Signal()
        m.d.comb += [
            beat.ready.eq(~entry.valid | entry.ready),
            last.eq(beat.valid & beat.ready & beat.payload.last),
            ports.ready.eq(last),
            self.fetched.eq(last),
        ]
        with m.If(entry.ready):
            m.d.sync += entry.valid.eq(0)
        with m.If(beat.valid & beat.ready):
            m.d.sync += [
                under_way.eq(~beat.payload.last),
                entry.valid.eq(beat.payload.last),
                entry.payload.bytes.eq(Cat(entry.payload.bytes[8 * QUEUE_BYTES :], beat.payload.data)),
                entry.payload.error.eq(under_way & entry.payload.error | beat.payload.error),
                entry.payload.port.eq(ports.payload),
            ]
        for port in range(PORTS):
            with m.If(last & (ports.payload == port)):
                m.d.sync += self.head[port].eq(after(self.head[port], self.sq_size[port]))
