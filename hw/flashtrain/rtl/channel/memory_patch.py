"""Changes bits of pages where they lie."""

from amaranth import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for

from .gearbox import Chunks


class Patch(data.StructLayout):
    """Bits to be changed: those of `mask` in a byte of a chunk of a word of a page buffer."""

    def __init__(self, config: FmsConfig):
        chunks = Chunks(config)
        super().__init__({
            "byte": bits_for(chunks.bits // 8),
            "chunk": bits_for(chunks.count),
            "word": bits_for(config.page_beats) + bits_for(config.read_pages),
            "mask": 8,
        })  # fmt: skip


class MemoryPatch(wiring.Component):
    """Reads a chunk, changes bits of it and writes it back, between what others do with the memory.

    Latency: 3 clocks until it is written if nobody else needs the memory; `busy` until then. Throughput: one
    patch per 4 clocks.

    Members
    -------
    patches : In(stream(Patch))
    busy : Out(1)
    wants_read : Out(1), reads : In(1)    the memory is read at `address`, now
    word : In                             its output, a clock later
    wants_write : Out(1), writes : In(1)  the chunk is written, now
    address : Out, number : Out, chunk : Out   where and what
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        chunks, patch = Chunks(config), Patch(config)
        super().__init__({
            "patches": In(stream.Signature(patch)),
            "busy": Out(1),
            "wants_read": Out(1),
            "reads": In(1),
            "word": In(8 * config.data_bytes),
            "wants_write": Out(1),
            "writes": In(1),
            "address": Out(patch["word"].shape),
            "number": Out(patch["chunk"].shape),
            "chunk": Out(chunks.bits),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        bits = Chunks(self.config).bits
        patch = Signal(Patch(self.config))
        m.d.comb += [self.address.eq(patch.word), self.number.eq(patch.chunk), self.busy.eq(1)]
        change = Signal(bits)
        m.d.comb += change.eq(patch.mask << (patch.byte << 3))
        with m.FSM(name="patch"):
            with m.State("TAKE"):
                m.d.comb += [self.busy.eq(0), self.patches.ready.eq(1)]
                m.d.sync += patch.eq(self.patches.payload)
                with m.If(self.patches.valid):
                    m.next = "READ"
            with m.State("READ"):
                m.d.comb += self.wants_read.eq(1)
                with m.If(self.reads):
                    m.next = "CHANGE"
            with m.State("CHANGE"):
                m.d.sync += self.chunk.eq(self.word.word_select(patch.chunk, bits) ^ change)
                m.next = "WRITE"
            with m.State("WRITE"):
                m.d.comb += self.wants_write.eq(1)
                with m.If(self.writes):
                    m.next = "TAKE"
        return m
