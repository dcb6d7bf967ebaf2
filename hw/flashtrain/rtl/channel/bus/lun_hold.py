"""The rules between LUNs of a chip enable: which of them wait for another one before they get the bus."""

from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.timer import HoldTimer
from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.nand import BusOp

_CHOOSES = (
    BusOp.SELECT, BusOp.PROGRAM_PAGE, BusOp.PROGRAM_MORE, BusOp.READ_MORE, BusOp.ERASE_MORE,
)  # fmt: skip
"""Operations behind which another one of the same LUN follows, before any other LUN is addressed."""

_NOT_BUSY = (BusOp.SELECT, BusOp.PROGRAM_PAGE, BusOp.STATUS, BusOp.STATUS_PLANE)
"""Operations with commands that do not make the die busy."""


class LunHold(wiring.Component):
    """Holds up LUNs, so that those of a chip enable keep the rules of ONFI for several LUNs.

    - A LUN whose page is chosen keeps its chip enable up to the data. The address of another LUN would end
      the choice.
    - From 11h, 32h or D1h to the confirm of the last plane no other LUN is addressed.
    - A command that makes a LUN busy is followed by tWB before another one to the chip enable.
    - 80h may clear the page registers of all LUNs that are idle. So the first 80h of a program waits while
      another LUN holds data of a read or of a copyback.

    Such a program and reads take turns. While it waits, readers of the other LUNs begin nothing, but finish
    what they have begun. Behind it they may begin, although more programs wait. Neither waits for ever. The
    pages of a read leave the die in any order, for page buffers that become free without another operation
    on this bus. A program whose first 80h was sent is not held up by reads that begin behind it.

    Latency: 1 cycle from `holds_data` to `held`, 1 from a request to `yields`; otherwise none.

    Members
    -------
    cycle : In(1)     the operation under way is at its cycles, or data in
    busy_cycle : In(1)   it is at its cycles
    ended : In(1)     the choice of its die ends: data out, or the die is offline
    op : In(BusOp), die : In   the operation
    loads : In(dies)       the die requests PROGRAM_PAGE
    holds_data : In(dies)  it reads, or copies a page, from before the first command up to the last data
    held : Out(dies)       it may not be granted the bus
    yields : Out(dies)     its reader begins nothing
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        dies = config.geometry.dies
        super().__init__({
            "cycle": In(1),
            "busy_cycle": In(1),
            "ended": In(1),
            "op": In(BusOp),
            "die": In(bits_for(dies)),
            "loads": In(dies),
            "holds_data": In(dies),
            "held": Out(dies),
            "yields": Out(dies),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        dies, luns = self.config.geometry.dies, self.config.chips.luns
        chosen, holds_data, wants = Signal(dies), Signal(dies), Signal(dies)
        m.d.sync += holds_data.eq(self.holds_data)
        m.d.comb += wants.eq(self.loads & ~chosen)
        for number in range(dies):
            with m.If(self.cycle & (self.die == number)):
                m.d.sync += chosen[number].eq(self.op.matches(*_CHOOSES))
            with m.Elif(self.ended & (self.die == number)):
                m.d.sync += chosen[number].eq(0)
        for first in range(0, dies, luns):
            self._keep_apart(m, range(first, first + luns), chosen, holds_data, wants)
        return m

    def _keep_apart(self, m: Module, numbers: range, chosen: Signal, holds_data: Signal, wants: Signal):
        """These LUNs, of one chip enable."""
        enable = numbers.start // len(numbers)
        enabled = self.die[self.config.lun_bits :] == enable
        m.submodules[f"settling_{enable}"] = settling = HoldTimer(self.config.timing.cycles("twb"))
        m.d.comb += settling.held.eq(self.busy_cycle & enabled & ~self.op.matches(*_NOT_BUSY))

        reads_turn = Signal(name=f"reads_turn_{enable}")  # no read has begun since the last program
        with m.If(self.busy_cycle & enabled & (self.op == BusOp.PROGRAM_PAGE)):
            m.d.sync += reads_turn.eq(1)
        with m.Elif(holds_data[numbers.start : numbers.stop].any()):
            m.d.sync += reads_turn.eq(0)

        for number in numbers:
            others = [other for other in numbers if other != number]
            chosen_others = Cat(chosen[other] for other in others).any()
            clears = wants[number] & Cat(holds_data[other] for other in others).any()
            m.d.comb += self.held[number].eq(chosen_others | clears | settling.held | settling.running)
            m.d.sync += self.yields[number].eq(Cat(wants[other] for other in others).any() & ~reads_turn)
