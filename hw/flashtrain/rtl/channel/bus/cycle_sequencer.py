"""Command and address cycles of a bus operation (`flashtrain.spec.nand.SEQUENCES`)."""

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


class NextPhase(enum.Enum, shape=2):
    """The phase of an operation after a cycle."""

    CYCLE = 0
    DATA_IN = 1
    STATUS = 2
    END = 3


_AFTER_LAST_CYCLE = {
    DataPhase.NONE: NextPhase.END,
    DataPhase.IN: NextPhase.DATA_IN,
    DataPhase.FEATURE: NextPhase.DATA_IN,
    DataPhase.STATUS: NextPhase.STATUS,
}


_COMMANDS = (Step.FIRST, Step.COLUMN_LOW, Step.SECOND, Step.THIRD)
"""Steps that have a command, or the address of a feature."""

_COPYBACK = (BusOp.COPYBACK_READ, BusOp.COPYBACK_PROGRAM)


class CycleSequencer(wiring.Component):
    """Gives the byte of each cycle, and the step or phase behind it.

    Combinational, but for commands after the first: these come a cycle after their operation.
    DATA_OUT has no command or address cycles, and its outputs mean nothing.

    Members
    -------
    op : In(BusOp)
    step : In(Step)
    row : In(24)      the row address (`Geometry.row_address`)
    byte : Out(8)     of this cycle
    address : Out(1)  it is an address
    next_phase : Out(NextPhase)
    next_step : Out(Step)   if `next_phase` is CYCLE

    Parameters
    ----------
    copyback : also sequences copybacks
    features : also sequences operations that set features
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
            "next_phase": Out(NextPhase),
            "next_step": Out(Step),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        commands = {step: Signal(8, name=step.name.lower()) for step in _COMMANDS}
        row_byte = Signal(8)
        with m.Switch(self.op):
            for op, sequence in SEQUENCES.items():
                if self._includes(op, sequence):
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

    def _includes(self, op: BusOp, sequence) -> bool:
        if op in _COPYBACK and not self.copyback:
            return False
        return self.features or sequence.data is not DataPhase.FEATURE

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

        successors = {step: (NextPhase.CYCLE, following) for step, following in pairwise(order)}
        successors[order[-1]] = (_AFTER_LAST_CYCLE.get(sequence.data, NextPhase.END), Step.THIRD)
        successors[Step.THIRD] = (NextPhase.END, Step.FIRST)
        bytes_of = {Step.FIRST: sequence.first, Step.SECOND: sequence.second, Step.THIRD: sequence.third}
        if sequence.data is DataPhase.FEATURE:
            bytes_of[Step.COLUMN_LOW] = Feature.READ_LEVEL
        for step, byte in commands.items():
            domain = m.d.comb if step is Step.FIRST else m.d.sync
            domain += byte.eq(bytes_of.get(step) or 0)
        with m.Switch(self.step):
            for step, (next_phase, next_step) in successors.items():
                with m.Case(step):
                    m.d.comb += [self.next_phase.eq(next_phase), self.next_step.eq(next_step)]
