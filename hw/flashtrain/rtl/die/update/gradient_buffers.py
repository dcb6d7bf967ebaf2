"""The two gradient buffers of a die, in which the copies of the new weights replace the gradients."""

from amaranth import Module, Mux, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.die.registers.pin_lanes import LANE_BYTES, lane_number
from flashtrain.spec import FmsConfig
from flashtrain.spec.errors import require
from flashtrain.spec.update import GRADIENT_BUFFERS, gradient_buffer_pages

from .tile_words import GradientWords

_HALF_WORD = 16  # bits


class GradientBuffers(wiring.Component):
    """Buffers pages of gradients from the pins to the update unit, and pages of copies back.

    They are in one memory of 8-byte words with one write and one read port. The pins use each port in every
    fourth cycle at most, and have priority. The pins write to one buffer while the update unit works on the
    other; they read from the other when the update unit is idle.

    Members
    -------
    load : In(1)       later writes are for the next update
    update : In(1)     the update unit uses the buffer loaded last, or stays with its own
    plane, lane, put, lane_in, ask, lane_out    from and to the pins: see `PinLanes`; `plane` is the page;
                       bytes behind the data of a page are ignored
    words              to and from the update unit: see `GradientWords`
    """

    def __init__(self, config: FmsConfig):
        require(GRADIENT_BUFFERS == 2, "GRADIENT_BUFFERS", GRADIENT_BUFFERS, "2")
        self.config = config
        super().__init__({
            "load": In(1),
            "update": In(1),
            "plane": In(max(1, config.geometry.plane_bits)),
            "lane": In(lane_number(config)),
            "put": In(1),
            "lane_in": In(8 * LANE_BYTES),
            "ask": In(1),
            "lane_out": Out(8 * LANE_BYTES),
            "words": In(GradientWords(config)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        words = self.words
        page_lanes = self.config.geometry.page_bytes // LANE_BYTES
        buffer_lanes = gradient_buffer_pages(self.config.geometry) * page_lanes

        m.submodules.cells = cells = memory.Memory(
            shape=8 * LANE_BYTES, depth=GRADIENT_BUFFERS * buffer_lanes, init=[]
        )
        write = cells.write_port(granularity=_HALF_WORD)
        read = cells.read_port()

        updated = Signal()  # the buffer on which the update unit works, or has worked last
        loaded = Signal()  # the other one holds gradients
        with m.If(self.load):
            m.d.sync += loaded.eq(1)
        with m.If(self.update):
            m.d.sync += [updated.eq(updated ^ loaded), loaded.eq(0)]

        def address(buffer, position):
            return buffer * buffer_lanes + position

        pins_at = self.plane * page_lanes + self.lane % page_lanes
        with m.If(self.put):
            m.d.comb += [
                write.en.eq((self.lane < page_lanes).replicate(len(write.en))),
                write.addr.eq(address(~updated, pins_at)),
                write.data.eq(self.lane_in),
            ]
        with m.Elif(words.write):
            m.d.comb += [
                words.write_ready.eq(1),
                write.en.eq(1 << words.write_index[:2]),
                write.addr.eq(address(updated, words.write_index >> 2)),
                write.data.eq(words.copy.replicate(len(write.en))),
            ]

        wide = Signal(reset_less=True)
        item = Signal(2, reset_less=True)  # the gradient's place in the word read
        m.d.comb += [read.en.eq(self.ask | words.read), self.lane_out.eq(read.data)]
        with m.If(self.ask):
            m.d.comb += read.addr.eq(address(updated, pins_at))
        with m.Else():
            position = Mux(words.wide, words.read_index >> 1, words.read_index >> 2)
            m.d.comb += read.addr.eq(address(updated, position))
        with m.If(words.read):
            m.d.sync += [wide.eq(words.wide), item.eq(words.read_index[:2])]
        with m.If(wide):
            m.d.comb += words.gradient.eq(read.data.word_select(item[0], 32))
        with m.Else():
            m.d.comb += words.gradient.eq(read.data.word_select(item, _HALF_WORD))
        return m
