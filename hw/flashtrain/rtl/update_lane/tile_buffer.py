"""The tile on which an update lane works."""

from amaranth import Module, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.die.registers.pin_lanes import LANE_BYTES
from flashtrain.rtl.die.update.tile_words import TileWords
from flashtrain.spec import FmsConfig
from flashtrain.spec.update import WORD_BYTES

_ITEMS = LANE_BYTES // WORD_BYTES


class TileBuffer(wiring.Component):
    """A page set in one memory of 8-byte lanes, with one write and one read port.

    The tensor buffer and the update unit never access it at the same time.

    Throughput: a lane per cycle, or a word in and a word out. Latency: 1 cycle from a request to its lane or
    word, which holds until the next request.

    Members
    -------
    position : In      of a lane
    put : In(1)        `lane_in` goes there
    ask : In(1)        reads the lane there to `lane_out`
    tile               to and from the update unit: see `TileWords`
    """

    def __init__(self, config: FmsConfig):
        self.lanes = config.geometry.page_set_bytes // LANE_BYTES
        super().__init__({
            "position": In(range(self.lanes)),
            "put": In(1),
            "lane_in": In(8 * LANE_BYTES),
            "ask": In(1),
            "lane_out": Out(8 * LANE_BYTES),
            "tile": In(TileWords(config)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        tile = self.tile
        m.submodules.cells = cells = memory.Memory(shape=8 * LANE_BYTES, depth=self.lanes, init=[])
        write, read = cells.write_port(granularity=8 * WORD_BYTES), cells.read_port()

        m.d.comb += tile.write_ready.eq(~self.put)
        with m.If(self.put):
            m.d.comb += [write.addr.eq(self.position), write.data.eq(self.lane_in), write.en.eq(~0)]
        with m.Else():
            m.d.comb += [
                write.addr.eq(tile.write_index // _ITEMS),
                write.data.eq(tile.result.replicate(_ITEMS)),
                write.en.eq(tile.write << tile.write_index % _ITEMS),
            ]

        item = Signal(range(_ITEMS), reset_less=True)
        m.d.comb += [read.en.eq(self.ask | tile.read), tile.read_ready.eq(tile.read & ~self.ask)]
        with m.If(self.ask):
            m.d.comb += read.addr.eq(self.position)
        with m.Else():
            m.d.comb += read.addr.eq(tile.read_index // _ITEMS)
        with m.If(tile.read_ready):
            m.d.sync += item.eq(tile.read_index % _ITEMS)
        m.d.comb += [
            self.lane_out.eq(read.data),
            tile.operand.eq(read.data.word_select(item, 8 * WORD_BYTES)),
        ]
        return m
