"""The blocks that a physical zone lies on."""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig


class BlockPlace(data.StructLayout):
    """Where a block of a zone is: the index of the table."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__({"plane": g.plane_bits, "die": g.die_bits, "zone": g.zone_bits})


class BlockEntry(data.StructLayout):
    """A new block for a place."""

    def __init__(self, config: FmsConfig):
        super().__init__({"place": BlockPlace(config), "block": config.geometry.block_bits})


class BlockLookup(wiring.Signature):
    """A question to the block table, as the one who asks sees it.

    Members
    -------
    place : Out(BlockPlace)
    block : In   the block of the place given one clock before
    """

    def __init__(self, config: FmsConfig):
        super().__init__({"place": Out(BlockPlace(config)), "block": In(config.geometry.block_bits)})


class BlockTable(wiring.Component):
    """Physical zone, die and plane to the block of that plane.

    After reset a sweep, one entry per clock, makes block number and zone number the same.

    Latency: one clock from place to block. Throughput: one look-up and one change per clock.

    Members
    -------
    lookup : In(BlockLookup)
    change : In(stream(BlockEntry))   replaces a block; taken once the table is ready
    ready : Out(1)   the sweep is over
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "lookup": In(BlockLookup(config)),
            "change": In(stream.Signature(BlockEntry(config))),
            "ready": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        g = self.config.geometry
        index_bits = g.die_bits + g.plane_bits
        depth = g.zones << index_bits
        m.submodules.blocks = blocks = Memory(shape=g.block_bits, depth=depth, init=[])
        write = blocks.write_port()
        read = blocks.read_port()

        m.d.comb += [
            read.addr.eq(self.lookup.place.as_value()),
            self.lookup.block.eq(read.data),
            self.change.ready.eq(self.ready),
        ]
        swept = Signal(range(depth))
        with m.If(~self.ready):
            m.d.sync += swept.eq(swept + 1)
            with m.If(swept == depth - 1):
                m.d.sync += self.ready.eq(1)
        m.d.comb += [
            write.en.eq(~self.ready | self.change.valid),
            write.addr.eq(Mux(self.ready, self.change.payload.place.as_value(), swept)),
            write.data.eq(Mux(self.ready, self.change.payload.block, swept >> index_bits)),
        ]
        return m
