"""The code words of the tile in the cache registers, lane by lane."""

from amaranth import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.die.registers.pin_lanes import LANE_BYTES, lane_number
from flashtrain.spec import FmsConfig
from flashtrain.spec.ecc import PageCode
from flashtrain.spec.errors import require
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.update import WORD_BYTES


class TileCodeWords:
    """The numbers of a tile's code words, and their code.

    Number i of the tile is word i mod `words` of the page on plane i / `words`. All are words of one code,
    that of the longest. Ones, which are zeros of the code word, precede a shorter one without effect.
    """

    def __init__(self, config: FmsConfig):
        require(config.code is not None, "config.code_strength", config.code_strength, "a code")
        assert config.code is not None
        self.page = page = config.code
        self.code = PageCode(page.last_bytes, page.strength, page.last_bytes)
        self.words = page.words
        self.count = config.geometry.planes * page.words
        self.padding = 0 if page.words == 1 else (page.last_bytes - page.word_bytes) // LANE_BYTES
        data_bytes = config.geometry.page_bytes // page.words
        self.items = data_bytes // WORD_BYTES
        """binary32 words of a code word."""
        self.data_lanes = data_bytes // LANE_BYTES
        self.longest = page.last_bytes // LANE_BYTES
        self.parity_lanes = page.parity_bytes // LANE_BYTES

    @property
    def lanes(self) -> int:
        """Of a code word, padding and parity included."""
        return self.longest + self.parity_lanes

    @property
    def number(self):
        """Shape of the number of a code word."""
        return bits_for(self.count)


class CodeLanes(wiring.Signature):
    """Access to lanes of the pages in the cache registers.

    Members
    -------
    plane, lane : Out     place of the lane
    read : Out(1)         requests the lane
    read_ready : In(1)    grants it: the lane is `found` in the next cycle; in any other cycle that is 0
    write : Out(1)        requests to replace the lane by `content`; not with `read`
    write_ready : In(1)   grants it
    """

    def __init__(self, config: FmsConfig):
        super().__init__({
            "plane": Out(max(1, config.geometry.plane_bits)),
            "lane": Out(lane_number(config)),
            "read": Out(1),
            "read_ready": In(1),
            "found": In(8 * LANE_BYTES),
            "write": Out(1),
            "write_ready": In(1),
            "content": Out(8 * LANE_BYTES),
        })  # fmt: skip


class CodeWordScan(wiring.Component):
    """Scans the lanes of code words: padding of ones before the shorter words, data, parity.

    Throughput: a lane per cycle.

    Members
    -------
    word : In(stream(number))   number of a code word of the tile; taken with its last lane
    step : In(1)         advances to the next lane
    plane, lane : Out    place of this lane
    padding : Out(1)     this lane is padding of ones, and in no page
    parity : Out(1)      this lane is parity
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        self.words = TileCodeWords(config)
        super().__init__({
            "word": In(stream.Signature(self.words.number)),
            "step": In(1),
            "plane": Out(max(1, config.geometry.plane_bits)),
            "lane": Out(lane_number(config)),
            "padding": Out(1),
            "parity": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        words = self.words
        page_lanes = words.page.data_bytes // LANE_BYTES
        at = Signal(range(words.lanes))
        ends = Signal()
        word = self.word.payload % words.words
        absent = Signal(range(words.padding + 1))  # lanes of padding
        m.d.comb += [
            ends.eq(at == words.lanes - 1),
            absent.eq(Mux(word == words.words - 1, 0, words.padding)),
            self.plane.eq(self.word.payload // words.words),
            self.padding.eq(at < absent),
            self.parity.eq(at >= words.longest),
            self.word.ready.eq(self.step & ends),
        ]
        with m.If(self.parity):
            m.d.comb += self.lane.eq(page_lanes - words.longest + word * words.parity_lanes + at)
        with m.Else():
            m.d.comb += self.lane.eq(word * words.data_lanes + at - absent)
        with m.If(self.step):
            m.d.sync += at.eq(Mux(ends, 0, at + 1))
        return m
