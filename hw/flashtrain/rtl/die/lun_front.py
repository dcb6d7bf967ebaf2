"""The chip enable of several LUNs in front of one of them, whose logic has the pins of a lone die."""

from amaranth import Array, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.nand_bus import NandBus
from flashtrain.spec import FmsConfig
from flashtrain.spec.errors import require
from flashtrain.spec.nand import DieCommand as C

from .command.decoder import ADDRESS_CYCLES

_WITH_ROW = {command: cycles for command, cycles in ADDRESS_CYCLES.items() if cycles >= 3}
_WITH_ROW |= {C.CHANGE_WRITE_COLUMN: ADDRESS_CYCLES[C.PROGRAM]}
_DEPTH = 8
"""Cycles that are kept: a command and its address, and those that come while they are handed over."""


class LunFront(wiring.Component):
    """Hands over the cycles and the data that are for one LUN.

    The row address behind a command says for which LUN both are. So these cycles are kept up to the last
    one of the address, and then handed over, one in each cycle, or dropped. Other commands and data are for
    the LUN of the last row address. RESET is for all LUNs.

    85h has a whole address here. A command that needs a row address and gets none has no effect.

    Latency: a clock for each cycle of a command and its address, behind its last one; none for data.

    Members
    -------
    bus : In(NandBus(1))   pins; outputs are zero unless the LUN sends. `rb_n` is that of the LUN
    lun : In               its number
    die : Out(NandBus(1))
    """

    def __init__(self, config: FmsConfig):
        g = config.geometry
        self.lowest = g.page_bits + g.plane_bits + g.block_bits
        for name in ("tadl", "twhr", "twb"):
            require(config.timing.cycles(name) > _DEPTH, f"timing.{name}", getattr(config.timing, name),
                    f"more than {_DEPTH} cycles, for simulated dies with several LUNs")  # fmt: skip
        super().__init__({"bus": In(NandBus(1)), "lun": In(config.lun_bits), "die": Out(NandBus(1))})

    def elaborate(self, platform):
        m = Module()
        bus, die = self.bus, self.die
        chosen = Signal()  # by the last row address
        left = Signal(range(max(_WITH_ROW.values()) + 1))  # address cycles of the kept command
        row = Signal(24)  # its last bytes
        kept = Array(
            Signal(data.StructLayout({"byte": 8, "names": 1}), name=f"kept_{n}") for n in range(_DEPTH)
        )
        first, end, tail = (Signal(range(_DEPTH), name=name) for name in ("first", "end", "tail"))
        cycle, byte = ~bus.ce_n & bus.we, bus.dq_o[:8]

        def keep(place, *, hand_over) -> None:
            """Put the cycle at a place; `hand_over` it and those before."""
            m.d.sync += [
                kept[place].byte.eq(byte),
                kept[place].names.eq(bus.cle),
                tail.eq(place + 1),
            ]
            with m.If(hand_over):
                m.d.sync += end.eq(place + 1)

        with m.If(cycle & bus.cle):
            m.d.sync += [left.eq(0), tail.eq(end)]
            with m.Switch(byte):
                for command, cycles in _WITH_ROW.items():
                    with m.Case(command):
                        m.d.sync += left.eq(cycles)
                        keep(end, hand_over=0)
                with m.Case(C.RESET):
                    keep(end, hand_over=1)
                with m.Default():
                    with m.If(chosen):
                        keep(end, hand_over=1)
        with m.Elif(cycle & bus.ale & (left != 0)):
            m.d.sync += [left.eq(left - 1), row.eq(row[8:] | byte << 16)]
            keep(tail, hand_over=0)
            with m.If(left == 1):
                whole = row[8:] | byte << 16
                own = whole[self.lowest : self.lowest + len(self.lun)] == self.lun
                m.d.sync += [chosen.eq(own), end.eq(Mux(own, tail + 1, end))]
        with m.Elif(cycle & bus.ale & chosen):
            keep(end, hand_over=1)

        with m.If(first != end):
            m.d.sync += first.eq(first + 1)
            m.d.comb += [die.we.eq(1), die.cle.eq(kept[first].names), die.ale.eq(~kept[first].names)]
        m.d.comb += [
            die.ce_n.eq(~(die.we | (chosen & ~bus.ce_n))),
            die.dqs_o.eq(bus.dqs_o & chosen & ~bus.ce_n),
            die.re.eq(bus.re & chosen & ~bus.ce_n),
            die.dq_o.eq(Mux(die.we, kept[first].byte, bus.dq_o)),
            bus.dqs_i.eq(die.dqs_i),
            bus.dq_i.eq(die.dq_i),
            bus.rb_n.eq(die.rb_n),
        ]
        return m
