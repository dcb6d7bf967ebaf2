"""Write multiplexer: several writers on one AXI write port."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.axi import WritePort
from flashtrain.rtl.lib.streams import Queue, RoundRobin, select
from flashtrain.spec.geometry import bits_for

BURSTS_OUTSTANDING = 32


class WriteMux(wiring.Component):
    """Passes whole bursts of `count` writers, in turn, and routes each response to its writer.

    A writer may offer beats before or after their burst; they pass only with it. A burst is taken while the
    beats of the one before pass.

    Latency: 1 cycle. Throughput: a beat per cycle, and a burst in 2 cycles; up to `BURSTS_OUTSTANDING`
    outstanding.

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
        burst, beat, picks, done = self.axi.aw, self.axi.w, Signal(), Signal()
        busy, owner = Signal(), Signal(bits_for(self.count))  # whose beats pass
        follows, next_owner = Signal(), Signal(bits_for(self.count))

        m.d.comb += [
            turn.requests.eq(Cat(writer.aw.valid for writer in self.writers)),
            picks.eq(turn.requests.any() & ~burst.valid & ~follows & owners.input.ready),
            turn.advance.eq(picks),
            owners.input.valid.eq(picks),
            owners.input.payload.eq(turn.index),
            done.eq(beat.valid & beat.ready & beat.payload.last),
        ]
        with m.If(burst.ready):
            m.d.sync += burst.valid.eq(0)
        with m.If(picks):
            m.d.sync += [
                burst.valid.eq(1),
                burst.payload.eq(select(turn.chosen, [writer.aw.payload for writer in self.writers])),
            ]
        with m.If(~busy | done):
            m.d.sync += [
                busy.eq(follows | picks),
                owner.eq(Mux(follows, next_owner, turn.index)),
                follows.eq(0),
            ]
        with m.Elif(picks):
            m.d.sync += [follows.eq(1), next_owner.eq(turn.index)]
        for number, writer in enumerate(self.writers):
            m.d.comb += writer.aw.ready.eq(picks & turn.chosen[number])
            with m.If(busy & (owner == number)):
                m.d.comb += [
                    beat.valid.eq(writer.w.valid),
                    beat.payload.eq(writer.w.payload),
                    writer.w.ready.eq(beat.ready),
                ]
            with m.If(owners.output.valid & (owners.output.payload == number)):
                m.d.comb += [
                    writer.b.valid.eq(self.axi.b.valid),
                    writer.b.payload.eq(self.axi.b.payload),
                    self.axi.b.ready.eq(writer.b.ready),
                ]
        m.d.comb += owners.output.ready.eq(self.axi.b.valid & self.axi.b.ready)
        return m
