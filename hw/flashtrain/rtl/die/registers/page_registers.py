"""The cache and data registers of all planes."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.die.array_port import ArrayWords, words_per_page
from flashtrain.rtl.die.update.code_lanes import CodeLanes
from flashtrain.rtl.die.update.tile_identity import IdentityLanes
from flashtrain.rtl.die.update.tile_words import TileWords
from flashtrain.spec import FmsConfig
from flashtrain.spec.update import WORD_BYTES

from .pin_lanes import LANE_BYTES, lane_number


class _State:
    """Registers, memories and their ports."""

    def __init__(self, config: FmsConfig):
        page_words = words_per_page(config)
        width, depth = 8 * config.die_word_bytes, config.geometry.planes * page_words
        lanes, items = config.die_word_bytes // LANE_BYTES, config.die_word_bytes // WORD_BYTES

        # A memory for each half: accesses of the array never meet those of the pins and the update unit.
        self.halves = [memory.Memory(shape=width, depth=depth, init=[]) for _ in range(2)]
        self.contents: list[Value] = []  # the output of each half
        self.cache_half = Signal()  # the half that holds the cache registers

        self.write_enable = Signal(items)
        self.write_address = Signal(range(depth))
        self.write_data = Signal(width)
        self.read_enable = Signal()
        self.read_address = Signal(range(depth))
        self.pins_address = Signal(range(depth))
        self.array_address = Signal(range(depth))

        self.clears_left = Signal(range(page_words + 1))
        self.clear_word = Signal(range(page_words), reset_less=True)

        # The last read of each user: its half, and the place within the word.
        self.pins_half = Signal(reset_less=True)
        self.tile_half = Signal(reset_less=True)
        self.array_half = Signal(reset_less=True)
        self.item = Signal(range(items), reset_less=True)
        self.identity_lane = Signal(range(lanes), reset_less=True)
        self.code_lane = Signal(range(lanes), reset_less=True)
        # It was granted in the cycle before.
        self.tile_valid = Signal()
        self.identity_valid = Signal()
        self.code_valid = Signal()


class PageRegisters(wiring.Component):
    """A *cache register* per plane toward the pins, and a *data register* per plane toward the array.

    They are in two memories of `die_word_bytes`-wide words, each with one write and one read port. One bit
    selects the memory of the cache registers.

    The pins write a lane of 8 bytes at a time and read a word at a time. Three quarters of the write port's
    cycles and more of the read port's remain for the updater, which uses the cache registers, too. The array
    uses the data registers. The pins read them after a suspended read, when the array does not need them.

    Throughput: two bytes per cycle at the pins, a word per cycle at the array, both at once.

    Members
    -------
    swap : In(1)       exchanges cache and data registers while it is high
    clear : In(1)      fills the cache register of the pins' plane in the next cycle with FFh, a word per
                       cycle, from `column`, a multiple of the word, on and around
    suspended_read : In(1)   the pins read the data registers
    plane, lane, put, lane_in    from the pins: see `PinLanes`
    ask : In(1)        requests the word with that lane
    word_out : Out     that word, from the next cycle on until the next request
    words              to and from the array: see `ArrayWords`
    tile               to and from the update unit: see `TileWords`
    identities         of a tile's pages: see `IdentityLanes`
    code               of its code words, if there is a code: see `CodeLanes`; it has the lowest priority
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        self._lanes = config.die_word_bytes // LANE_BYTES  # of a word
        self._items = config.die_word_bytes // WORD_BYTES  # binary32 numbers of a word
        self._page_lanes = config.geometry.page_bytes // LANE_BYTES  # of the data of a page
        super().__init__({
            "swap": In(1),
            "clear": In(1),
            "column": In(16),
            "suspended_read": In(1),
            "plane": In(max(1, config.geometry.plane_bits)),
            "lane": In(lane_number(config)),
            "put": In(1),
            "lane_in": In(8 * LANE_BYTES),
            "ask": In(1),
            "word_out": Out(8 * config.die_word_bytes),
            "words": Out(ArrayWords(config)),
            "tile": In(TileWords(config)),
            "identities": In(IdentityLanes(config)),
            **({"code": In(CodeLanes(config))} if config.code else {}),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        s = _State(self.config)
        with m.If(self.swap):
            m.d.sync += s.cache_half.eq(~s.cache_half)
        self._write_cache(m, s)
        self._address_cache(m, s)
        self._address_code(m, s)
        self._access_halves(m, s)
        self._deliver(m, s)
        with m.If(self.clear):
            m.d.sync += [
                s.clears_left.eq(words_per_page(self.config)),
                s.clear_word.eq(self.column // self.config.die_word_bytes),
            ]
        return m

    def _address(self, plane: Value, word: Value) -> Value:
        return plane * words_per_page(self.config) + word

    def _tile_address(self, index: Value) -> Value:
        word = index // self._items
        data_words = self.config.geometry.page_bytes // self.config.die_word_bytes
        return self._address(word // data_words, word % data_words)

    def _write_lane(self, m: Module, s: _State, plane: Value, lane: Value, content: Value) -> None:
        m.d.comb += [
            s.write_address.eq(self._address(plane, lane // self._lanes)),
            s.write_data.eq(content.replicate(self._lanes)),
        ]
        with m.Switch(lane % self._lanes):
            for index in range(self._lanes):
                with m.Case(index):
                    m.d.comb += s.write_enable.eq(0b11 << 2 * index)

    def _write_cache(self, m: Module, s: _State) -> None:
        """To the cache registers: from the pins, FFh, from the update unit, identities, or code words."""
        tile, identities = self.tile, self.identities
        with m.If(self.put):
            self._write_lane(m, s, self.plane, self.lane, self.lane_in)
        with m.Elif(s.clears_left != 0):
            m.d.comb += [
                s.write_enable.eq(~0),
                s.write_address.eq(self._address(self.plane, s.clear_word)),
                s.write_data.eq(~0),
            ]
            m.d.sync += [
                s.clears_left.eq(s.clears_left - 1),
                s.clear_word.eq(s.clear_word + 1),
            ]
            with m.If(s.clear_word == words_per_page(self.config) - 1):
                m.d.sync += s.clear_word.eq(0)
        with m.Elif(tile.write):
            m.d.comb += [
                tile.write_ready.eq(1),
                s.write_enable.eq(1 << tile.write_index % self._items),
                s.write_address.eq(self._tile_address(tile.write_index)),
                s.write_data.eq(tile.result.replicate(self._items)),
            ]
        with m.Elif(identities.write):
            m.d.comb += identities.ready.eq(1)
            lane = self._page_lanes + identities.lane
            self._write_lane(m, s, identities.plane, lane, identities.content)
        if self.config.code:
            with m.Elif(self.code.write):
                m.d.comb += self.code.write_ready.eq(1)
                self._write_lane(m, s, self.code.plane, self.code.lane, self.code.content)

    def _address_cache(self, m: Module, s: _State) -> None:
        """From the cache registers to the pins, else to the update unit, else identities."""
        tile, identities = self.tile, self.identities
        pins_read_cache = self.ask & ~self.suspended_read
        m.d.comb += [
            s.pins_address.eq(self._address(self.plane, self.lane // self._lanes)),
            s.array_address.eq(self._address(self.words.plane, self.words.word)),
            tile.read_ready.eq(tile.read & ~pins_read_cache),
        ]
        m.d.sync += s.array_half.eq(~s.cache_half)
        with m.If(self.ask):
            m.d.sync += s.pins_half.eq(s.cache_half ^ self.suspended_read)
        m.d.sync += [s.tile_valid.eq(tile.read_ready), s.identity_valid.eq(identities.read_ready)]
        with m.If(tile.read_ready):
            m.d.sync += [s.item.eq(tile.read_index % self._items), s.tile_half.eq(s.cache_half)]

        identity_lane = self._page_lanes + identities.lane
        m.d.comb += [
            s.read_enable.eq(pins_read_cache | tile.read | identities.read),
            s.read_address.eq(self._address(identities.plane, identity_lane // self._lanes)),
            identities.read_ready.eq(identities.read & ~tile.read & ~pins_read_cache),
        ]
        with m.If(pins_read_cache):
            m.d.comb += s.read_address.eq(s.pins_address)
        with m.Elif(tile.read):
            m.d.comb += s.read_address.eq(self._tile_address(tile.read_index))
        with m.If(identities.read_ready):
            m.d.sync += s.identity_lane.eq(identities.lane % self._lanes)

    def _address_code(self, m: Module, s: _State) -> None:
        """Code words have the lowest priority."""
        if self.config.code:
            m.d.comb += self.code.read_ready.eq(self.code.read & ~s.read_enable)
            m.d.sync += [
                s.code_lane.eq(self.code.lane % self._lanes),
                s.code_valid.eq(self.code.read_ready),
            ]

    def _access_halves(self, m: Module, s: _State) -> None:
        """One half is accessed by the pins and the update unit, the other by the array."""
        for half, cells in enumerate(s.halves):
            m.submodules[f"half{half}"] = cells
            write, read = cells.write_port(granularity=8 * WORD_BYTES), cells.read_port()
            s.contents.append(read.data)
            with m.If(s.cache_half == half):
                m.d.comb += [
                    write.en.eq(s.write_enable),
                    write.addr.eq(s.write_address),
                    write.data.eq(s.write_data),
                    read.en.eq(s.read_enable),
                    read.addr.eq(s.read_address),
                ]
                if self.config.code:
                    with m.If(self.code.read_ready):
                        m.d.comb += [
                            read.en.eq(1),
                            read.addr.eq(self._address(self.code.plane, self.code.lane // self._lanes)),
                        ]
            with m.Else():
                m.d.comb += [
                    write.en.eq(self.words.put.replicate(len(s.write_enable))),
                    write.addr.eq(s.array_address),
                    write.data.eq(self.words.to_register),
                    read.en.eq(self.words.take | (self.ask & self.suspended_read)),
                    read.addr.eq(Mux(self.words.take, s.array_address, s.pins_address)),
                ]

    def _deliver(self, m: Module, s: _State) -> None:
        """The words of the memories, a cycle after their address, to the units that requested them."""

        def word_of(half: Value) -> Value:
            return Mux(half, s.contents[1], s.contents[0])

        tile_word = word_of(s.tile_half)
        identity_word = word_of(s.cache_half)
        m.d.comb += [
            self.word_out.eq(word_of(s.pins_half)),
            self.words.from_register.eq(word_of(s.array_half)),
        ]
        with m.If(s.tile_valid), m.Switch(s.item):
            for number in range(self._items):
                with m.Case(number):
                    m.d.comb += self.tile.operand.eq(tile_word.word_select(number, 8 * WORD_BYTES))
        with m.If(s.identity_valid), m.Switch(s.identity_lane):
            for number in range(self._lanes):
                with m.Case(number):
                    m.d.comb += self.identities.found.eq(identity_word.word_select(number, 8 * LANE_BYTES))
        if self.config.code:
            with m.If(s.code_valid):
                code_word = word_of(s.cache_half)
                m.d.comb += self.code.found.eq(code_word.word_select(s.code_lane, 8 * LANE_BYTES))
