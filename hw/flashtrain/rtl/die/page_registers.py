"""The cache and data registers of all planes."""

from amaranth import Module, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.errors import require
from flashtrain.spec.update import WORD_BYTES

from .array_port import ArrayWords, words_per_page
from .pin_lanes import LANE_BYTES, lane_number
from .tile_words import TileWords


class PageRegisters(wiring.Component):
    """A *cache register* per plane toward the pins, and a *data register* per plane toward the array.

    All lie in one memory of `die_word_bytes`-wide words with one write and one read port; one bit says which
    half of it the cache registers are. The pins write a lane of 8 bytes at a time and read a word at a time,
    so they leave three quarters of the write port and more of the read port to whatever else works on the
    registers. The array comes first, then the pins, then the update unit. The array writes only when it
    senses and reads only when it programs, and the pins do the opposite meanwhile.

    Throughput: two bytes per clock at the pins, a word per clock at the array, both at once.

    Members
    -------
    swap : In(1)       exchanges cache and data registers while it is high
    clear : In(1)      fills the cache register of the plane at which the pins are from the next clock on with
                       FFh, a word per clock, from `column`, a multiple of the word, on and around
    plane, lane, put, lane_in, ask, lane_out    from and to the pins: see `PinLanes`
    resting : Out(1)   nothing changes before one of the above
    words              to and from the array: see `ArrayWords`
    tile               to and from the update unit: see `TileWords`
    """

    def __init__(self, config: FmsConfig):
        require(config.die_word_bytes >= LANE_BYTES, "config.die_word_bytes", config.die_word_bytes,
                f"at least {LANE_BYTES}")  # fmt: skip
        self.config = config
        super().__init__({
            "swap": In(1),
            "clear": In(1),
            "column": In(16),
            "plane": In(max(1, config.geometry.plane_bits)),
            "lane": In(lane_number(config)),
            "put": In(1),
            "lane_in": In(8 * LANE_BYTES),
            "ask": In(1),
            "lane_out": Out(8 * LANE_BYTES),
            "resting": Out(1),
            "words": Out(ArrayWords(config)),
            "tile": In(TileWords(config)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        g = self.config.geometry
        page_words = words_per_page(self.config)
        lanes = self.config.die_word_bytes // LANE_BYTES
        items = self.config.die_word_bytes // WORD_BYTES  # binary32 words of a word
        tile = self.tile

        depth = 2 * g.planes * page_words
        m.submodules.cells = cells = memory.Memory(shape=8 * self.config.die_word_bytes, depth=depth, init=[])
        write = cells.write_port(granularity=8 * WORD_BYTES)
        read = cells.read_port()

        cache_half = Signal()
        with m.If(self.swap):
            m.d.sync += cache_half.eq(~cache_half)

        def address(half, plane, word):
            return (half * g.planes + plane) * page_words + word

        def tile_address(index):
            word = index // items
            data_words = g.page_bytes // self.config.die_word_bytes
            return address(cache_half, word // data_words, word % data_words)

        # From the array, from the pins, FFh, or from the update unit.
        clears_left = Signal(range(page_words + 1))
        clear_word = Signal(range(page_words), reset_less=True)
        with m.If(self.words.put):
            m.d.comb += [
                write.en.eq(~0),
                write.addr.eq(address(~cache_half, self.words.plane, self.words.word)),
                write.data.eq(self.words.to_register),
            ]
        with m.Elif(self.put):
            m.d.comb += [
                write.addr.eq(address(cache_half, self.plane, self.lane // lanes)),
                write.data.eq(self.lane_in.replicate(lanes)),
            ]
            with m.Switch(self.lane % lanes):
                for index in range(lanes):
                    with m.Case(index):
                        m.d.comb += write.en.eq(0b11 << 2 * index)
        with m.Elif(clears_left != 0):
            m.d.comb += [
                write.en.eq(~0),
                write.addr.eq(address(cache_half, self.plane, clear_word)),
                write.data.eq(~0),
            ]
            m.d.sync += [
                clears_left.eq(clears_left - 1),
                clear_word.eq(clear_word + 1),
            ]
            with m.If(clear_word == page_words - 1):
                m.d.sync += clear_word.eq(0)
        with m.Elif(tile.write):
            m.d.comb += [
                tile.write_ready.eq(1),
                write.en.eq(1 << tile.write_index % items),
                write.addr.eq(tile_address(tile.write_index)),
                write.data.eq(tile.result.replicate(items)),
            ]

        # To the array, to the pins, or to the update unit.
        item = Signal(range(items), reset_less=True)
        m.d.comb += [read.en.eq(0), self.words.from_register.eq(read.data)]
        with m.If(self.words.take):
            m.d.comb += [
                read.en.eq(1),
                read.addr.eq(address(~cache_half, self.words.plane, self.words.word)),
            ]
        with m.Elif(self.ask & (self.lane % lanes == 0)):
            m.d.comb += [read.en.eq(1), read.addr.eq(address(cache_half, self.plane, self.lane // lanes))]
        with m.Elif(tile.read):
            m.d.comb += [tile.read_ready.eq(1), read.en.eq(1), read.addr.eq(tile_address(tile.read_index))]
            m.d.sync += item.eq(tile.read_index % items)
        m.d.comb += tile.operand.eq(read.data.word_select(item, 8 * WORD_BYTES))
        with m.Switch(self.lane % lanes):
            for index in range(lanes):
                with m.Case((index + 1) % lanes):  # one further than what was asked for
                    m.d.comb += self.lane_out.eq(read.data.word_select(index, 8 * LANE_BYTES))

        m.d.comb += self.resting.eq(clears_left == 0)
        with m.If(self.clear):
            m.d.sync += [
                clears_left.eq(page_words),
                clear_word.eq(self.column // self.config.die_word_bytes),
            ]
        return m
