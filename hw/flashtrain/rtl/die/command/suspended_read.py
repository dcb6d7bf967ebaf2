"""Reads a page set into the data registers while the array programs or erases."""

from amaranth import Module, Mux, Signal, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.die.array_port import row_layout
from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import DieCommand as C


class SuspendedRead(wiring.Component):
    """Gathers the pages of a suspended read (`spec.nand`), starts their sense, and reserves the data
    registers.

    Latency: 1 cycle from BDh to the start of the array's operation: no other operation starts in that cycle.

    Members
    -------
    command, byte, address, first, row    see `CommandDecoder`
    start : Out(1)     begin `ArrayOp.SUSPENDED_READ` with `planes`, `page` and `blocks`
    sensing : In(1)    the array senses, from the cycle after `start` on
    holds : Out(1)     the data registers are reserved: from BDh to BFh
    done : Out(1)      they contain the page set that was read
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        g = config.geometry
        super().__init__({
            "command": In(1),
            "byte": In(8),
            "address": In(1),
            "first": In(8),
            "row": In(24),
            "start": Out(1),
            "planes": Out(g.planes),
            "page": Out(g.page_bits),
            "blocks": Out(data.ArrayLayout(unsigned(g.block_bits), g.planes)),
            "sensing": In(1),
            "holds": Out(1),
            "done": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        layout = row_layout(self.config)
        row = data.View(layout, self.row[: layout.size])
        named = Signal()  # a page was addressed since the last sense
        with m.If(self.address & (self.first == C.SUSPENDED_READ)):
            m.d.sync += [
                named.eq(1),
                self.planes.eq(Mux(named, self.planes, 0) | (1 << row.plane)),
                self.page.eq(row.page),
                self.blocks[row.plane].eq(row.block),
            ]

        m.d.sync += self.start.eq(0)
        with m.If(self.command), m.Switch(self.byte):
            with m.Case(C.SUSPENDED_READ_CONFIRM):
                m.d.sync += [self.start.eq(1), self.holds.eq(1), named.eq(0)]
                with m.If(~named):
                    m.d.sync += self.page.eq(self.page + 1)
            with m.Case(C.SUSPENDED_READ_END):
                m.d.sync += self.holds.eq(0)
            with m.Case(C.RESET):
                m.d.sync += [self.holds.eq(0), named.eq(0)]
        m.d.comb += self.done.eq(self.holds & ~self.start & ~self.sensing)
        return m
