"""New parity for the pages of a tile when the update unit is done with them."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig

from ..ecc.encoder import PageEncoder
from .code_lanes import CodeLanes, CodeWordWalk, TileCodeWords
from .pin_lanes import LANE_BYTES


class TileEncoder(wiring.Component):
    """Reads the code words of the tile in the cache registers, and writes their parity behind the pages.

    A word is encoded once, as soon as it is told that it will not change any more; of several the lowest is
    the first.

    Throughput: a lane per clock and one clock more for a word: 134 for one of 1 KiB at strength 13. Latency:
    2 clocks from `passed` to the first lane, 1 from `rest`, and 1 from the last lane to the end of `busy`.

    Members
    -------
    start : In(1)         a new tile; `busy` is high from the next clock on until all of it is encoded
    allowed : In(1)       once it is high, it stays so until the end
    passed : In(1)        code word `passed_word` will not change any more
    rest : In(1)          nor will any other
    busy : Out(1)
    lanes : Out(CodeLanes)
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        self.words = TileCodeWords(config)
        super().__init__({
            "start": In(1),
            "allowed": In(1),
            "passed": In(1),
            "passed_word": In(self.words.number),
            "rest": In(1),
            "busy": Out(1),
            "lanes": Out(CodeLanes(config)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        words, lanes = self.words, self.lanes
        m.submodules.walk = walk = CodeWordWalk(self.config)
        m.submodules.encoder = encoder = PageEncoder(words.code, 8 * LANE_BYTES)

        # Words that are still to be encoded, and those that may be.
        left, due = Signal(words.count), Signal(words.count)
        candidates, lowest = Signal(words.count), Signal(words.number)
        with m.If(self.allowed & self.busy):
            m.d.comb += candidates.eq(left & (due | self.rest.replicate(words.count)))
        for number in reversed(range(words.count)):
            with m.If(candidates[number]):
                m.d.comb += lowest.eq(number)
        with m.If(self.passed):
            m.d.sync += due.bit_select(self.passed_word, 1).eq(1)
        with m.If(~walk.word.valid | walk.word.ready):
            m.d.sync += walk.word.valid.eq(candidates.any())
            with m.If(candidates.any()):
                m.d.sync += [walk.word.payload.eq(lowest), left.bit_select(lowest, 1).eq(0)]
        with m.If((left == 0) & ~walk.word.valid):
            m.d.sync += self.busy.eq(0)
        with m.If(self.start):
            m.d.sync += [self.busy.eq(1), left.eq(~0), due.eq(0)]

        arrives, arrives_padding = Signal(), Signal()
        m.d.comb += [
            lanes.plane.eq(walk.plane),
            lanes.lane.eq(walk.lane),
            lanes.read.eq(walk.word.valid & ~walk.parity & ~walk.padding),
            walk.step.eq(lanes.read & lanes.read_ready | lanes.write & lanes.write_ready),
            encoder.input.valid.eq(arrives),
            encoder.input.payload.eq(Mux(arrives_padding, ~0, lanes.found)),
            # Its beats pass through; behind the last one it gives the parity.
            lanes.write.eq(walk.word.valid & walk.parity & ~arrives),
            lanes.content.eq(encoder.output.payload),
            encoder.output.ready.eq(arrives | lanes.write & lanes.write_ready),
        ]
        with m.If(walk.word.valid & walk.padding):
            m.d.comb += walk.step.eq(1)
        m.d.sync += [arrives.eq(walk.step & ~walk.parity), arrives_padding.eq(walk.padding)]
        return m
