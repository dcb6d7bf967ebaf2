"""Between the controller and its AXI pins: completes all bursts before the controller is reset."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.spec.geometry import bits_for

from .axi import Axi4Signature, ReadPort, WritePort
from .streams import RegisterSlice

INCREMENTING = 0b01  # AxBURST (AXI4, table A3-3)


class Skid(wiring.Component):
    """Passes items through, and keeps one that the output has refused: an offered item stays offered.

    Latency: none. Throughput: one item per cycle.

    Members
    -------
    input : In(stream)
    output : Out(stream)
    """

    def __init__(self, layout):
        self.layout = layout
        super().__init__({"input": In(stream.Signature(layout)), "output": Out(stream.Signature(layout))})

    def elaborate(self, platform):
        m = Module()
        kept, item = Signal(), Signal(self.layout)
        m.d.comb += [
            self.input.ready.eq(~kept),
            self.output.valid.eq(kept | self.input.valid),
            self.output.payload.eq(Mux(kept, item, self.input.payload)),
        ]
        m.d.sync += kept.eq(self.output.valid & ~self.output.ready)
        with m.If(~kept):
            m.d.sync += item.eq(self.input.payload)
        return m


class AxiGuard(wiring.Component):
    """Completes the outstanding bursts when the controller is to be reset.

    While `quiesce` is high:

    - No burst is taken from the controller.
    - Beats from and for the controller, and responses, are dropped.
    - Missing write beats are sent with all strobes off, one in 3 cycles.

    Write beats are taken before, with or after their burst, and leave after it. Hold `quiesce` until
    `drained`. The controller's reset begins in any cycle of `quiesce` and lasts to its last one.

    Latency: none, but 1 cycle for the beats of a write. Throughput: a beat per cycle in each direction. Up to
    `bursts` bursts are outstanding in each, or one less where they do not come in a row.

    Members
    -------
    read : In(ReadPort)
    write : In(WritePort)
    pins : Out(Axi4Signature)
    quiesce : In(1)
    drained : Out(1)   `quiesce` is high, no burst is outstanding, and no beat is held
    """

    def __init__(self, *, address_bits: int, data_bits: int, parts: int = 1, bursts: int = 64):
        self.data_bits = data_bits
        self.parts = parts
        self.bursts = bursts
        super().__init__({
            "read": In(ReadPort(address_bits=address_bits, data_bits=data_bits)),
            "write": In(WritePort(address_bits=address_bits, data_bits=data_bits, parts=parts)),
            "pins": Out(Axi4Signature(address_bits=address_bits, data_bits=data_bits)),
            "quiesce": In(1),
            "drained": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        reads, writes = Signal(range(self.bursts + 1)), Signal(range(self.bursts + 1))
        size = bits_for(self.data_bits // 8)
        for kind, port, count in (("ar", self.read.ar, reads), ("aw", self.write.aw, writes)):
            # Of the cycle before, in which one more may have begun.
            room = Signal(name=f"{kind}_room")
            m.d.sync += room.eq(count < self.bursts - 1)
            self._pass_bursts(m, kind, port, room & ~self.quiesce)
            m.d.comb += getattr(self.pins, f"{kind}size").eq(size)
            m.d.comb += getattr(self.pins, f"{kind}burst").eq(INCREMENTING)
        self._count_reads(m, reads)
        self._count_writes(m, writes)
        beats = self._pass_write_beats(m)
        m.d.comb += self.drained.eq(self.quiesce & (reads == 0) & (writes == 0) & ~beats.valid)
        return m

    def _pass_bursts(self, m: Module, kind: str, port, open_):
        m.submodules[f"{kind}_skid"] = skid = Skid(port.payload.shape())
        m.d.comb += [
            skid.input.valid.eq(port.valid & open_),
            skid.input.payload.eq(port.payload),
            port.ready.eq(skid.input.ready & open_),
            getattr(self.pins, f"{kind}valid").eq(skid.output.valid),
            getattr(self.pins, f"{kind}addr").eq(skid.output.payload.address),
            getattr(self.pins, f"{kind}len").eq(skid.output.payload.length),
            skid.output.ready.eq(getattr(self.pins, f"{kind}ready")),
        ]

    def _count_reads(self, m: Module, reads):
        pins, read = self.pins, self.read
        begins, ends = Signal(), Signal()
        m.d.comb += [
            read.r.valid.eq(pins.rvalid & ~self.quiesce),
            read.r.payload.data.eq(pins.rdata),
            read.r.payload.last.eq(pins.rlast),
            read.r.payload.error.eq(pins.rresp[1]),
            pins.rready.eq(read.r.ready | self.quiesce),
            begins.eq(read.ar.valid & read.ar.ready),
            ends.eq(pins.rvalid & pins.rready & pins.rlast),
        ]
        m.d.sync += reads.eq(reads + begins - ends)

    def _count_writes(self, m: Module, writes):
        pins, write = self.pins, self.write
        begins, ends = Signal(), Signal()
        m.d.comb += [
            write.b.valid.eq(pins.bvalid & ~self.quiesce),
            write.b.payload.error.eq(pins.bresp[1]),
            pins.bready.eq(write.b.ready | self.quiesce),
            begins.eq(write.aw.valid & write.aw.ready),
            ends.eq(pins.bvalid & pins.bready),
        ]
        m.d.sync += writes.eq(writes + begins - ends)

    def _pass_write_beats(self, m: Module):
        """The stream of the beats that are taken and not sent."""
        pins, port = self.pins, self.write.w
        m.submodules.w_slice = w_slice = RegisterSlice(port.payload.shape())
        beat = w_slice.output
        # Lengths of the bursts whose beats are not all sent, in a ring with a place more than bursts.
        ring_bits = bits_for(self.bursts + 1)
        m.submodules.lengths = lengths = Memory(shape=len(pins.awlen), depth=1 << ring_bits, init=[])
        newest, oldest = lengths.write_port(), lengths.read_port(domain="comb")
        begun, ended, sent = Signal(ring_bits), Signal(ring_bits), Signal(len(pins.awlen))
        length = Signal(len(pins.awlen))
        rests, fills, fills_last = Signal(), Signal(), Signal()  # beats that fill up a burst
        open_bursts, owed = Signal(range(self.bursts + 1)), Signal()  # with beats that are not sent
        passes, ends = Signal(), Signal()
        m.d.comb += [
            w_slice.input.valid.eq(port.valid & ~self.quiesce),
            w_slice.input.payload.eq(port.payload),
            port.ready.eq(w_slice.input.ready),
            newest.en.eq(self.write.aw.valid & self.write.aw.ready),
            newest.addr.eq(begun),
            newest.data.eq(self.write.aw.payload.length),
            oldest.addr.eq(ended),
            pins.wvalid.eq(owed & (beat.valid | fills)),
            pins.wdata.eq(beat.payload.data),
            pins.wstrb.eq(
                Cat(
                    (beat.valid & ~masked).replicate(len(pins.wstrb) // self.parts)
                    for masked in beat.payload.masked
                )
            ),
            pins.wlast.eq(Mux(beat.valid, beat.payload.last, fills_last)),
            passes.eq(pins.wvalid & pins.wready),
            ends.eq(passes & pins.wlast),
            # The burst of a beat may not have been taken before `quiesce`.
            beat.ready.eq(Mux(owed, pins.wready, self.quiesce)),
        ]
        m.d.sync += [
            begun.eq(begun + newest.en),
            open_bursts.eq(open_bursts + newest.en - ends),
            owed.eq(newest.en | (open_bursts > 1) | owed & ~ends),
            length.eq(oldest.data),
            # Two cycles after a beat both the length of the burst and the number of its beats hold.
            rests.eq(self.quiesce & ~passes),
            fills.eq(self.quiesce & ~passes & rests),
            fills_last.eq(sent == length),
        ]
        with m.If(passes):
            m.d.sync += [sent.eq(Mux(pins.wlast, 0, sent + 1)), ended.eq(ended + pins.wlast)]
        return beat
