"""How a bus operation is spelled in command and address cycles (`flashtrain.spec.nand.SEQUENCES`)."""

from functools import reduce
from itertools import pairwise
from operator import or_

from amaranth import Module, Mux, Signal
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.nand import SEQUENCES, AddressCycles, BusOp, DataPhase, Feature


class Step(enum.Enum, shape=3):
    """The cycles of an operation, in their order. Columns are always 0: whole pages are transferred.

    The address of a feature is in the place of the lower half of a column.
    """

    FIRST = 0
    COLUMN_LOW = 1
    COLUMN_HIGH = 2
    ROW_LOW = 3
    ROW_MIDDLE = 4
    ROW_HIGH = 5
    SECOND = 6
    THIRD = 7  # the confirm after data in


class After(enum.Enum, shape=2):
    """What comes after a cycle."""

    CYCLE = 0
    DATA_IN = 1
    STATUS = 2
    END = 3


_AFTER_LAST_CYCLE = {
    DataPhase.NONE: After.END,
    DataPhase.IN: After.DATA_IN,
    DataPhase.FEATURE: After.DATA_IN,
    DataPhase.STATUS: After.STATUS,
}


_COMMANDS = (Step.FIRST, Step.COLUMN_LOW, Step.SECOND, Step.THIRD)
"""Steps that have a command, or the address of a feature."""

_COPYBACK = (BusOp.COPYBACK_READ, BusOp.COPYBACK_PROGRAM)


class BusSpeller(wiring.Component):
    """Gives the byte of each cycle, and what follows it.

    Combinational, but for commands after the first: these come a clock after their operation.
    DATA_OUT has no cycles and is not asked for.

    Members
    -------
    op : In(BusOp)
    step : In(Step)
    row : In(24)      the row address (`Geometry.row_address`)
    byte : Out(8)     of this cycle
    address : Out(1)  it is an address
    after : Out(After)
    next_step : Out(Step)   if `after` is CYCLE

    Parameters
    ----------
    copyback : also spells copybacks
    features : also spells operations that set features
    """

    def __init__(self, *, copyback: bool = False, features: bool = False):
        self.copyback = copyback
        self.features = features
        super().__init__({
            "op": In(BusOp),
            "step": In(Step),
            "row": In(24),
            "byte": Out(8),
            "address": Out(1),
            "after": Out(After),
            "next_step": Out(Step),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        commands = {step: Signal(8, name=step.name.lower()) for step in _COMMANDS}
        row_byte = Signal(8)
        with m.Switch(self.op):
            for op, sequence in SEQUENCES.items():
                there_is = self.copyback or op not in _COPYBACK
                if there_is and (self.features or sequence.data is not DataPhase.FEATURE):
                    with m.Case(op):
                        self._commands(m, sequence, commands)
        with m.Switch(self.step):
            for step, low in ((Step.ROW_LOW, 0), (Step.ROW_MIDDLE, 8), (Step.ROW_HIGH, 16)):
                with m.Case(step):
                    m.d.comb += row_byte.eq(self.row[low : low + 8])
        m.d.comb += [
            self.byte.eq(
                reduce(or_, (Mux(self.step == step, byte, 0) for step, byte in commands.items()), row_byte)
            ),
            self.address.eq((self.step.as_value() >= 1) & (self.step.as_value() <= 5)),
        ]
        return m

    def _commands(self, m: Module, sequence, commands: dict[Step, Signal]):
        """Command bytes and order of one operation."""
        order = [Step.FIRST]
        if sequence.address is AddressCycles.FEATURE:
            order += [Step.COLUMN_LOW]
        if sequence.address is AddressCycles.FULL:
            order += [Step.COLUMN_LOW, Step.COLUMN_HIGH]
        if sequence.address in (AddressCycles.ROW, AddressCycles.FULL):
            order += [Step.ROW_LOW, Step.ROW_MIDDLE, Step.ROW_HIGH]
        if sequence.second is not None:
            order += [Step.SECOND]

        follows = {step: (After.CYCLE, following) for step, following in pairwise(order)}
        follows[order[-1]] = (_AFTER_LAST_CYCLE.get(sequence.data, After.END), Step.THIRD)
        follows[Step.THIRD] = (After.END, Step.FIRST)
        bytes_of = {Step.FIRST: sequence.first, Step.SECOND: sequence.second, Step.THIRD: sequence.third}
        if sequence.data is DataPhase.FEATURE:
            bytes_of[Step.COLUMN_LOW] = Feature.READ_LEVEL
        for step, byte in commands.items():
            domain = m.d.comb if step is Step.FIRST else m.d.sync
            domain += byte.eq(bytes_of.get(step) or 0)
        with m.Switch(self.step):
            for step, (after, next_step) in follows.items():
                with m.Case(step):
                    m.d.comb += [self.after.eq(after), self.next_step.eq(next_step)]
