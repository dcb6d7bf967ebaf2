"""Write multiplexer: several writers on one AXI write port."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.axi import WritePort
from flashtrain.rtl.lib.streams import Queue, RoundRobin
from flashtrain.spec.geometry import bits_for

BURSTS_OUTSTANDING = 32


class WriteMux(wiring.Component):
    """Passes whole bursts of `count` writers, in turn, and routes each response to its writer.

    A writer may offer beats before or after their burst; they pass only with it.

    Latency: none. Throughput: a beat per cycle, back to back, with up to `BURSTS_OUTSTANDING` outstanding.

    Members
    -------
    writers : In(WritePort).array(count)
    axi : Out(WritePort)
    """

    def __init__(self, count: int, *, address_bits: int, data_bits: int, parts: int = 1):
        self.count = count
        port = WritePort(address_bits=address_bits, data_bits=data_bits, parts=parts)
        super().__init__({"writers": In(port).array(count), "axi": Out(port)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.turn = turn = RoundRobin(self.count)
        m.submodules.owners = owners = Queue(bits_for(self.count), BURSTS_OUTSTANDING)
        busy, owner, current = Signal(), Signal(bits_for(self.count)), Signal(bits_for(self.count))
        burst_sent, beats_sent, burst_sends, last_sends = Signal(), Signal(), Signal(), Signal()
        granted, done = Signal(), Signal()

        m.d.comb += [
            turn.requests.eq(Cat(writer.aw.valid for writer in self.writers)),
            turn.advance.eq(~busy & granted),
            granted.eq(busy | turn.requests.any() & owners.input.ready),
            current.eq(Mux(busy, owner, turn.index)),
            burst_sends.eq(self.axi.aw.valid & self.axi.aw.ready),
            last_sends.eq(self.axi.w.valid & self.axi.w.ready & self.axi.w.payload.last),
            done.eq((burst_sent | burst_sends) & (beats_sent | last_sends)),
            owners.input.valid.eq(turn.advance),
            owners.input.payload.eq(current),
        ]
        m.d.sync += [
            busy.eq(granted & ~done),
            owner.eq(current),
            burst_sent.eq(~done & (burst_sent | burst_sends)),
            beats_sent.eq(~done & (beats_sent | last_sends)),
        ]
        for number, writer in enumerate(self.writers):
            with m.If(granted & (current == number)):
                m.d.comb += [
                    self.axi.aw.valid.eq(writer.aw.valid & ~burst_sent),
                    self.axi.aw.payload.eq(writer.aw.payload),
                    writer.aw.ready.eq(self.axi.aw.ready & ~burst_sent),
                    self.axi.w.valid.eq(writer.w.valid & ~beats_sent),
                    self.axi.w.payload.eq(writer.w.payload),
                    writer.w.ready.eq(self.axi.w.ready & ~beats_sent),
                ]
            with m.If(owners.output.valid & (owners.output.payload == number)):
                m.d.comb += [
                    writer.b.valid.eq(self.axi.b.valid),
                    writer.b.payload.eq(self.axi.b.payload),
                    self.axi.b.ready.eq(writer.b.ready),
                ]
        m.d.comb += owners.output.ready.eq(self.axi.b.valid & self.axi.b.ready)
        return m
