"""Encodes the pages of a tile after their update."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.die.registers.pin_lanes import LANE_BYTES
from flashtrain.rtl.ecc.encoder import PageEncoder
from flashtrain.spec import FmsConfig

from .code_lanes import CodeLanes, CodeWordScan, TileCodeWords


class TileEncoder(wiring.Component):
    """Reads the code words of the tile in the cache registers, and writes their parity behind the pages.

    A word is encoded once, as soon as `passed` or `all_passed` reports its last change. Of several words the
    lowest is the first.

    Throughput: a lane per cycle and one cycle more for a word: 134 for one of 1 KiB at strength 13. Latency:
    2 cycles from `passed` to the first lane, 1 from `all_passed`, and 1 from the last lane to the end of
    `busy`.

    Members
    -------
    start : In(1)         a new tile; `busy` is high from the next cycle until all of it is encoded
    allowed : In(1)       encoding may begin; stays high until the end
    passed : In(1)        code word `passed_word` does not change any more
    all_passed : In(1)    no code word changes any more
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
            "all_passed": In(1),
            "busy": Out(1),
            "lanes": Out(CodeLanes(config)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        words, lanes = self.words, self.lanes
        m.submodules.scan = scan = CodeWordScan(self.config)
        m.submodules.encoder = encoder = PageEncoder(words.code, 8 * LANE_BYTES)

        # Words that are not encoded yet, and words that may be encoded.
        left, due = Signal(words.count), Signal(words.count)
        candidates, lowest = Signal(words.count), Signal(words.number)
        with m.If(self.allowed & self.busy):
            m.d.comb += candidates.eq(left & (due | self.all_passed.replicate(words.count)))
        for number in reversed(range(words.count)):
            with m.If(candidates[number]):
                m.d.comb += lowest.eq(number)
        with m.If(self.passed):
            m.d.sync += due.bit_select(self.passed_word, 1).eq(1)
        with m.If(~scan.word.valid | scan.word.ready):
            m.d.sync += scan.word.valid.eq(candidates.any())
            with m.If(candidates.any()):
                m.d.sync += [scan.word.payload.eq(lowest), left.bit_select(lowest, 1).eq(0)]
        with m.If((left == 0) & ~scan.word.valid):
            m.d.sync += self.busy.eq(0)
        with m.If(self.start):
            m.d.sync += [self.busy.eq(1), left.eq(~0), due.eq(0)]

        arrives, arrives_padding = Signal(), Signal()
        m.d.comb += [
            lanes.plane.eq(scan.plane),
            lanes.lane.eq(scan.lane),
            lanes.read.eq(scan.word.valid & ~scan.parity & ~scan.padding),
            scan.step.eq(lanes.read & lanes.read_ready | lanes.write & lanes.write_ready),
            encoder.input.valid.eq(arrives),
            encoder.input.payload.eq(Mux(arrives_padding, ~0, lanes.found)),
            # The encoder passes its beats through; the parity follows the last one.
            lanes.write.eq(scan.word.valid & scan.parity & ~arrives),
            lanes.content.eq(encoder.output.payload),
            encoder.output.ready.eq(arrives | lanes.write & lanes.write_ready),
        ]
        with m.If(scan.word.valid & scan.padding):
            m.d.comb += scan.step.eq(1)
        m.d.sync += [arrives.eq(scan.step & ~scan.parity), arrives_padding.eq(scan.padding)]
        return m
