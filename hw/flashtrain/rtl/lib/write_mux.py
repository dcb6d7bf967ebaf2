"""Write multiplexer: several writers on one AXI write port."""

from amaranth import Cat, Module, Signal, Value
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
        # One-hot: the writer of the burst that is taken, whose beats pass, and pass next; 0 if there is none.
        picked, passing, following = (Signal(self.count, name=n) for n in ("picked", "passing", "following"))

        m.d.comb += [
            turn.requests.eq(Cat(writer.aw.valid for writer in self.writers)),
            picks.eq(turn.requests.any() & ~burst.valid & ~following.any() & owners.input.ready),
            picked.eq(turn.chosen & picks.replicate(self.count)),
            turn.advance.eq(picks),
            owners.input.valid.eq(picks),
            owners.input.payload.eq(turn.index),
            beat.valid.eq((passing & Cat(writer.w.valid for writer in self.writers)).any()),
            Value.cast(beat.payload).eq(select(passing, [writer.w.payload for writer in self.writers])),
            done.eq(beat.valid & beat.ready & beat.payload.last),
        ]
        with m.If(burst.ready):
            m.d.sync += burst.valid.eq(0)
        with m.If(picks):
            m.d.sync += [
                burst.valid.eq(1),
                burst.payload.eq(select(turn.chosen, [writer.aw.payload for writer in self.writers])),
            ]
        with m.If(~passing.any() | done):
            m.d.sync += [passing.eq(following | picked), following.eq(0)]
        with m.Elif(picks):
            m.d.sync += following.eq(turn.chosen)
        for number, writer in enumerate(self.writers):
            m.d.comb += [
                writer.aw.ready.eq(picked[number]),
                writer.w.ready.eq(passing[number] & beat.ready),
            ]
            with m.If(owners.output.valid & (owners.output.payload == number)):
                m.d.comb += [
                    writer.b.valid.eq(self.axi.b.valid),
                    writer.b.payload.eq(self.axi.b.payload),
                    self.axi.b.ready.eq(writer.b.ready),
                ]
        m.d.comb += owners.output.ready.eq(self.axi.b.valid & self.axi.b.ready)
        return m
