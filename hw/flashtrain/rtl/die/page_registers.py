"""The cache and data registers of all planes."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.errors import require
from flashtrain.spec.update import WORD_BYTES

from .array_port import ArrayWords, words_per_page
from .code_lanes import CodeLanes
from .pin_lanes import LANE_BYTES, lane_number
from .tile_identity import IdentityLanes
from .tile_words import TileWords


class PageRegisters(wiring.Component):
    """A *cache register* per plane toward the pins, and a *data register* per plane toward the array.

    They lie in two memories of `die_word_bytes`-wide words, each with one write and one read port; one bit
    says which of them the cache registers are. The pins write a lane of 8 bytes at a time and read a word at
    a time, so they leave three quarters of the write port and more of the read port to the updater, which
    works on the cache registers, too. The data registers are the array's; the pins read them after a read
    beside, while the array needs none of them.

    Throughput: two bytes per clock at the pins, a word per clock at the array, both at once.

    Members
    -------
    swap : In(1)       exchanges cache and data registers while it is high
    clear : In(1)      fills the cache register of the plane at which the pins are from the next clock on with
                       FFh, a word per clock, from `column`, a multiple of the word, on and around
    beside : In(1)     what the pins read are the data registers
    plane, lane, put, lane_in    from the pins: see `PinLanes`
    ask : In(1)        the word with that lane is wanted
    word_out : Out     it, from the next clock on until the next is asked for
    resting : Out(1)   nothing changes before one of the above
    moves : Out(1)     something changes with the end of this clock: without it the clock could stand still
    tile_came, identity_came : Out(1)   the operand of `tile`, or what `identities` found, was asked for
    words              to and from the array: see `ArrayWords`
    tile               to and from the update unit: see `TileWords`
    identities         of a tile's pages: see `IdentityLanes`
    code               of its code words, if there is a code: see `CodeLanes`; it comes after the others
    """

    def __init__(self, config: FmsConfig):
        require(config.die_word_bytes >= LANE_BYTES, "config.die_word_bytes", config.die_word_bytes,
                f"at least {LANE_BYTES}")  # fmt: skip
        self.config = config
        super().__init__({
            "swap": In(1),
            "clear": In(1),
            "column": In(16),
            "beside": In(1),
            "plane": In(max(1, config.geometry.plane_bits)),
            "lane": In(lane_number(config)),
            "put": In(1),
            "lane_in": In(8 * LANE_BYTES),
            "ask": In(1),
            "word_out": Out(8 * config.die_word_bytes),
            "resting": Out(1),
            "moves": Out(1),
            "tile_came": Out(1),
            "identity_came": Out(1),
            "words": Out(ArrayWords(config)),
            "tile": In(TileWords(config)),
            "identities": In(IdentityLanes(config)),
            **({"code": In(CodeLanes(config))} if config.code else {}),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        g = self.config.geometry
        page_words = words_per_page(self.config)
        lanes = self.config.die_word_bytes // LANE_BYTES
        items = self.config.die_word_bytes // WORD_BYTES  # binary32 words of a word
        tile, identities = self.tile, self.identities
        page_lanes = g.page_bytes // LANE_BYTES  # of its data

        # A memory for each half: what the array does, and what the pins and the update unit do, never meet in
        # one.
        width, depth = 8 * self.config.die_word_bytes, g.planes * page_words
        halves = [memory.Memory(shape=width, depth=depth, init=[]) for _ in range(2)]
        cache_half = Signal()
        with m.If(self.swap):
            m.d.sync += cache_half.eq(~cache_half)

        def address(plane, word):
            return plane * page_words + word

        def tile_address(index):
            word = index // items
            data_words = g.page_bytes // self.config.die_word_bytes
            return address(word // data_words, word % data_words)

        # To the cache registers: from the pins, FFh, from the update unit, identities, or code words.
        enable = Signal(self.config.die_word_bytes // WORD_BYTES)
        write_address, written = Signal(range(depth)), Signal(width)
        clears_left = Signal(range(page_words + 1))
        clear_word = Signal(range(page_words), reset_less=True)

        def write_lane(plane, lane, content):
            m.d.comb += [
                write_address.eq(address(plane, lane // lanes)),
                written.eq(content.replicate(lanes)),
            ]
            with m.Switch(lane % lanes):
                for index in range(lanes):
                    with m.Case(index):
                        m.d.comb += enable.eq(0b11 << 2 * index)

        with m.If(self.put):
            write_lane(self.plane, self.lane, self.lane_in)
        with m.Elif(clears_left != 0):
            m.d.comb += [
                enable.eq(~0),
                write_address.eq(address(self.plane, clear_word)),
                written.eq(~0),
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
                enable.eq(1 << tile.write_index % items),
                write_address.eq(tile_address(tile.write_index)),
                written.eq(tile.result.replicate(items)),
            ]
        with m.Elif(identities.write):
            m.d.comb += identities.ready.eq(1)
            write_lane(identities.plane, page_lanes + identities.lane, identities.content)
        if self.config.code:
            with m.Elif(self.code.write):
                m.d.comb += self.code.write_ready.eq(1)
                write_lane(self.code.plane, self.code.lane, self.code.content)

        # From the cache registers to the pins, to the update unit or as code words; from the data registers
        # to the array or the pins.
        ask_address, array_address = Signal(range(depth)), Signal(range(depth))
        item = Signal(range(items), reset_less=True)
        pins_half, tile_half, array_half = (
            Signal(name=name, reset_less=True) for name in ("pins_half", "tile_half", "array_half")
        )
        m.d.comb += [
            ask_address.eq(address(self.plane, self.lane // lanes)),
            array_address.eq(address(self.words.plane, self.words.word)),
            tile.read_ready.eq(tile.read & ~(self.ask & ~self.beside)),
        ]
        m.d.sync += array_half.eq(~cache_half)
        with m.If(self.ask):
            m.d.sync += pins_half.eq(cache_half ^ self.beside)
        m.d.sync += [self.tile_came.eq(tile.read_ready), self.identity_came.eq(identities.read_ready)]
        with m.If(tile.read_ready):
            m.d.sync += [item.eq(tile.read_index % items), tile_half.eq(cache_half)]

        asks, asked_at = Signal(), Signal(range(depth))
        m.d.comb += [
            asks.eq((self.ask & ~self.beside) | tile.read | identities.read),
            asked_at.eq(address(identities.plane, (page_lanes + identities.lane) // lanes)),
            identities.read_ready.eq(identities.read & ~tile.read & ~(self.ask & ~self.beside)),
        ]
        with m.If(self.ask & ~self.beside):
            m.d.comb += asked_at.eq(ask_address)
        with m.Elif(tile.read):
            m.d.comb += asked_at.eq(tile_address(tile.read_index))
        identity_lane = Signal(range(lanes), reset_less=True)
        with m.If(identities.read_ready):
            m.d.sync += identity_lane.eq(identities.lane % lanes)
        code_lane, code_comes = Signal(range(lanes), reset_less=True), Signal()
        if self.config.code:
            m.d.comb += self.code.read_ready.eq(self.code.read & ~asks)
            m.d.sync += [code_lane.eq(self.code.lane % lanes), code_comes.eq(self.code.read_ready)]

        contents = []
        for half, cells in enumerate(halves):
            m.submodules[f"half{half}"] = cells
            write, read = cells.write_port(granularity=8 * WORD_BYTES), cells.read_port()
            contents.append(read.data)
            with m.If(cache_half == half):
                m.d.comb += [
                    write.en.eq(enable),
                    write.addr.eq(write_address),
                    write.data.eq(written),
                    read.en.eq(asks),
                    read.addr.eq(asked_at),
                ]
                if self.config.code:
                    with m.If(self.code.read_ready):
                        m.d.comb += [
                            read.en.eq(1),
                            read.addr.eq(address(self.code.plane, self.code.lane // lanes)),
                        ]
            with m.Else():
                m.d.comb += [
                    write.en.eq(self.words.put.replicate(len(enable))),
                    write.addr.eq(array_address),
                    write.data.eq(self.words.to_register),
                    read.en.eq(self.words.take | (self.ask & self.beside)),
                    read.addr.eq(Mux(self.words.take, array_address, ask_address)),
                ]
        tile_word = Mux(tile_half, contents[1], contents[0])
        identity_word = Mux(cache_half, contents[1], contents[0])
        m.d.comb += [
            self.word_out.eq(Mux(pins_half, contents[1], contents[0])),
            self.words.from_register.eq(Mux(array_half, contents[1], contents[0])),
        ]
        with m.Switch(item):
            for number in range(items):
                with m.Case(number):
                    m.d.comb += tile.operand.eq(tile_word.word_select(number, 8 * WORD_BYTES))
        with m.Switch(identity_lane):
            for number in range(lanes):
                with m.Case(number):
                    m.d.comb += identities.found.eq(identity_word.word_select(number, 8 * LANE_BYTES))
        if self.config.code:
            with m.If(code_comes):
                code_word = Mux(cache_half, contents[1], contents[0])
                m.d.comb += self.code.found.eq(code_word.word_select(code_lane, 8 * LANE_BYTES))
        wanted = [self.swap, self.clear, self.put, self.ask, self.words.take, self.words.put]
        wanted += [tile.read, tile.write, identities.read, identities.write]
        wanted += [self.code.read, self.code.write, code_comes] if self.config.code else []
        came = [self.tile_came, self.identity_came, array_half == cache_half]
        m.d.comb += [
            self.resting.eq(clears_left == 0),
            self.moves.eq(Cat(~self.resting, wanted, came).any()),
        ]
        with m.If(self.clear):
            m.d.sync += [
                clears_left.eq(page_words),
                clear_word.eq(self.column // self.config.die_word_bytes),
            ]
        return m
