"""Zeros in the data of a command, where its blocks are not written."""

from amaranth import Cat, Const, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.lib.axi import WritePort
from flashtrain.rtl.lib.streams import Queue
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.pcie import WORD_BYTES

from .layouts import BLOCK_BYTES, MOST_BYTES, BlockRun

_MOST_BURST_BYTES = 2 << 10


class ZeroWriter(wiring.Component):
    """Writes zeros to blocks of a slot, in bursts of up to 2 KiB, one after the other.

    Latency: 2 cycles from a run to its first burst. Throughput: a word of 8 bytes per cycle, and 2 cycles for
    each burst besides the answer of who takes it.

    Members
    -------
    runs : In(stream(BlockRun))   ready for one of each slot
    ended : Out(stream(slot))     all zeros of a run have been taken
    writes : Out(WritePort)       8 bytes wide
    """

    def __init__(
        self, address_bits: int, slots: int, most_bytes: int = MOST_BYTES, block_bytes: int = BLOCK_BYTES
    ):
        self.slots = slots
        self.burst_bytes = min(block_bytes, _MOST_BURST_BYTES)
        self.bursts = block_bytes // self.burst_bytes
        self.run = BlockRun(slots, most_bytes, block_bytes)
        super().__init__({
            "runs": In(stream.Signature(self.run)),
            "ended": Out(stream.Signature(bits_for(slots))),
            "writes": Out(WritePort(address_bits=address_bits, data_bits=8 * WORD_BYTES)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.waiting = waiting = Queue(self.run, self.slots)
        connect(m, flipped(self.runs), waiting.input)
        run, burst, beat, answer = Signal(self.run), self.writes.aw, self.writes.w, self.writes.b
        words = self.burst_bytes // WORD_BYTES
        word, part, last = Signal(range(words)), Signal(range(self.bursts)), Signal()
        m.d.comb += [
            last.eq((run.more == 0) & (part == self.bursts - 1)),
            burst.payload.address.eq(Cat(Const(0, bits_for(self.burst_bytes)), part, run.block, run.slot)),
            burst.payload.length.eq(words - 1),
            beat.payload.last.eq(word == words - 1),
            self.ended.payload.eq(run.slot),
        ]
        with m.FSM():
            with m.State("WAIT"):
                m.d.comb += waiting.output.ready.eq(1)
                m.d.sync += run.eq(waiting.output.payload)
                with m.If(waiting.output.valid):
                    m.next = "ASK"
            with m.State("ASK"):
                m.d.comb += burst.valid.eq(1)
                with m.If(burst.ready):
                    m.next = "BEATS"
            with m.State("BEATS"):
                m.d.comb += beat.valid.eq(1)
                with m.If(beat.ready):
                    m.d.sync += word.eq(word + 1)
                    with m.If(beat.payload.last):
                        m.d.sync += word.eq(0)
                        m.next = "ANSWER"
            with m.State("ANSWER"):
                m.d.comb += answer.ready.eq(1)
                with m.If(answer.valid):
                    m.d.sync += part.eq(part + 1)
                    m.next = "ASK"
                    with m.If(part == self.bursts - 1):
                        m.d.sync += [part.eq(0), run.block.eq(run.block + 1), run.more.eq(run.more - 1)]
                    with m.If(last):
                        m.next = "END"
            with m.State("END"):
                m.d.comb += self.ended.valid.eq(1)
                with m.If(self.ended.ready):
                    m.next = "WAIT"
        return m
