"""The blocks that a physical zone lies on."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.memories import NEVER_COLLIDES
from flashtrain.spec import FmsConfig


class BlockPlace(data.StructLayout):
    """Where a block of a zone is: the index of the table. Zones past the last one are the spares."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__({"plane": g.plane_bits, "die": g.die_bits, "zone": g.block_bits})


class BlockEntry(data.StructLayout):
    """A new block for a place."""

    def __init__(self, config: FmsConfig):
        super().__init__({"place": BlockPlace(config), "block": config.geometry.block_bits})


class BlockLookup(wiring.Signature):
    """A question to the block table, as the one who asks sees it.

    Members
    -------
    place : Out(BlockPlace)
    block : In   the block of the place given 3 cycles before
    """

    def __init__(self, config: FmsConfig):
        super().__init__({"place": Out(BlockPlace(config)), "block": In(config.geometry.block_bits)})


class BlockTable(wiring.Component):
    """Maps physical zone, die and plane to the block of that plane.

    After reset a sweep, one entry per cycle, makes block number and zone number the same. It includes the
    spares, so that recovery reads them before their assignment is known.

    Latency: 3 cycles from place to block. Throughput: one look-up and one change per cycle.

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
        depth = g.blocks << index_bits
        place, change = self.lookup.place, self.change.payload

        swept = Signal(range(depth))
        with m.If(~self.ready):
            m.d.sync += swept.eq(swept + 1)
            with m.If(swept == depth - 1):
                m.d.sync += self.ready.eq(1)
        m.d.comb += self.change.ready.eq(self.ready)
        writes, written, block = Signal(), Signal(BlockPlace(self.config)), Signal(g.block_bits)
        m.d.comb += [
            writes.eq(~self.ready | self.change.valid),
            written.eq(Mux(self.ready, change.place.as_value(), swept)),
            block.eq(Mux(self.ready, change.block, swept >> index_bits)),
        ]

        # A memory for each die: they are so small that there is nothing between a memory and its register.
        asked, die = Signal(g.die_bits), Signal(g.die_bits)
        m.d.sync += [asked.eq(place.die), die.eq(asked)]
        for number in range(g.dies):
            m.submodules[f"blocks_{number}"] = blocks = Memory(
                shape=g.block_bits, depth=g.blocks << g.plane_bits, init=[], attrs=NEVER_COLLIDES
            )
            write, read = blocks.write_port(), blocks.read_port()
            found = Signal(g.block_bits, name=f"found_{number}", reset_less=True)
            m.d.comb += [
                write.en.eq(writes & (written.die == number)),
                write.addr.eq(Cat(written.plane, written.zone)),
                write.data.eq(block),
                read.addr.eq(Cat(place.plane, place.zone)),
            ]
            m.d.sync += found.eq(read.data)
            with m.If(die == number):
                m.d.sync += self.lookup.block.eq(found)
        return m
