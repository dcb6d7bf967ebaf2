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

    The next burst is chosen while the beats of one pass.

    Latency: 1 cycle, behind a burst none. Throughput: a beat per cycle, and a cycle more for a burst whose
    beats pass before its address or beside it; up to `BURSTS_OUTSTANDING` outstanding.

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
        busy, owner = Signal(), Signal(bits_for(self.count))
        follows, next_owner, picks = Signal(), Signal(bits_for(self.count)), Signal()
        burst_sent, beats_sent, burst_sends, last_sends, done = (
            Signal(name=name) for name in ("burst_sent", "beats_sent", "burst_sends", "last_sends", "done")
        )

        m.d.comb += [
            turn.requests.eq(Cat(writer.aw.valid for writer in self.writers)),
            # A writer's request stands for its next burst once this one is sent.
            picks.eq((~busy | burst_sent) & ~follows & turn.requests.any() & owners.input.ready),
            turn.advance.eq(picks),
            burst_sends.eq(self.axi.aw.valid & self.axi.aw.ready),
            last_sends.eq(self.axi.w.valid & self.axi.w.ready & self.axi.w.payload.last),
            done.eq((burst_sent | burst_sends) & (beats_sent | last_sends)),
            owners.input.valid.eq(picks),
            owners.input.payload.eq(turn.index),
        ]
        m.d.sync += [
            burst_sent.eq(~done & (burst_sent | burst_sends)),
            beats_sent.eq(~done & (beats_sent | last_sends)),
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
            with m.If(busy & (owner == number)):
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
