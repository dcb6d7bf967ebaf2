"""Lets several writers share one AXI write port."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.geometry import bits_for

from ..arbiter import RoundRobin
from ..axi import WritePort
from ..queue import Queue

BURSTS_UNDER_WAY = 32


class WriteMux(wiring.Component):
    """Passes whole bursts of `count` writers, in turn, and hands every answer to whom it belongs.

    A writer may offer beats before or after their burst, but they pass only with it.

    Latency: none. Throughput: a beat per clock, back to back, with up to `BURSTS_UNDER_WAY` outstanding.

    Members
    -------
    writers : In(WritePort).array(count)
    axi : Out(WritePort)
    """

    def __init__(self, count: int, *, address_bits: int, data_bits: int):
        self.count = count
        port = WritePort(address_bits=address_bits, data_bits=data_bits)
        super().__init__({"writers": In(port).array(count), "axi": Out(port)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.turn = turn = RoundRobin(self.count)
        m.submodules.owners = owners = Queue(bits_for(self.count), BURSTS_UNDER_WAY)
        busy, owner, current = Signal(), Signal(bits_for(self.count)), Signal(bits_for(self.count))
        burst_gone, beats_gone, burst_goes, last_goes = Signal(), Signal(), Signal(), Signal()
        granted, done = Signal(), Signal()

        m.d.comb += [
            turn.requests.eq(Cat(writer.aw.valid for writer in self.writers)),
            turn.advance.eq(~busy & granted),
            granted.eq(busy | turn.requests.any() & owners.input.ready),
            current.eq(Mux(busy, owner, turn.index)),
            burst_goes.eq(self.axi.aw.valid & self.axi.aw.ready),
            last_goes.eq(self.axi.w.valid & self.axi.w.ready & self.axi.w.payload.last),
            done.eq((burst_gone | burst_goes) & (beats_gone | last_goes)),
            owners.input.valid.eq(turn.advance),
            owners.input.payload.eq(current),
        ]
        m.d.sync += [
            busy.eq(granted & ~done),
            owner.eq(current),
            burst_gone.eq(~done & (burst_gone | burst_goes)),
            beats_gone.eq(~done & (beats_gone | last_goes)),
        ]
        for number, writer in enumerate(self.writers):
            with m.If(granted & (current == number)):
                m.d.comb += [
                    self.axi.aw.valid.eq(writer.aw.valid & ~burst_gone),
                    self.axi.aw.payload.eq(writer.aw.payload),
                    writer.aw.ready.eq(self.axi.aw.ready & ~burst_gone),
                    self.axi.w.valid.eq(writer.w.valid & ~beats_gone),
                    self.axi.w.payload.eq(writer.w.payload),
                    writer.w.ready.eq(self.axi.w.ready & ~beats_gone),
                ]
            with m.If(owners.output.valid & (owners.output.payload == number)):
                m.d.comb += [
                    writer.b.valid.eq(self.axi.b.valid),
                    writer.b.payload.eq(self.axi.b.payload),
                    self.axi.b.ready.eq(writer.b.ready),
                ]
        m.d.comb += owners.output.ready.eq(self.axi.b.valid & self.axi.b.ready)
        return m
