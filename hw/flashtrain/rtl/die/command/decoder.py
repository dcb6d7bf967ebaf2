"""Decodes the command and address cycles of the pins."""

from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.nand import DieCommand as C

ADDRESS_CYCLES = {
    C.READ: 5,
    C.PROGRAM: 5,
    C.CHANGE_READ_COLUMN_ENHANCED: 5,
    C.ERASE: 3,
    C.READ_STATUS_ENHANCED: 3,
    C.CHANGE_READ_COLUMN: 2,
    C.CHANGE_WRITE_COLUMN: 2,
    C.READ_ID: 1,
    C.LOAD_GRADIENT: 3,
    C.UPDATE_SOURCE: 3,
    C.UPDATE_TARGET: 3,
    C.READ_COPY: 3,
    C.SUSPENDED_READ: 3,
    C.SUSPENDED_READ_SELECT: 3,
}
_WHILE_BUSY = (
    C.READ_STATUS, C.READ_STATUS_ENHANCED, C.RESET,
    C.SUSPENDED_READ, C.SUSPENDED_READ_CONFIRM, C.SUSPENDED_READ_SELECT, C.SUSPENDED_READ_END,
)  # fmt: skip
_KEEPS_COPY = (C.READ_STATUS, C.READ_STATUS_ENHANCED, C.CHANGE_WRITE_COLUMN)
_WITHIN_UPDATE = (C.LOAD_GRADIENT, C.LOAD_GRADIENT_CONFIRM)


class CommandDecoder(wiring.Component):
    """Holds the last command and its address cycles.

    Latency: none; outputs are valid in the cycle that completes a command or an address.

    A die that is not ready accepts only commands for its status, RESET, and commands of a suspended read.
    During an UPDATE it also accepts the commands that load the next gradients.

    Members
    -------
    command_cycle, address_cycle : In(1)  this die latches `byte` in this cycle
    byte : In(8)
    ready : In(1)      the die accepts commands
    within_update : In(1)   the die is busy with an UPDATE
    command : Out(1)   a command cycle, of command `byte`
    address : Out(1)   the last address cycle of command `first`
    first : Out(8)     the last command
    column : Out(16)   its column address, if it has one
    row : Out(24)      its row address, or for `READ_ID` its address in the highest byte
    copies : Out(1)    if it is CHANGE_WRITE_COLUMN, it is a copyback program

    Parameters
    ----------
    copyback : the die supports copybacks
    features : the die supports SET_FEATURES
    """

    def __init__(self, *, copyback: bool = False, features: bool = False):
        self.copyback = copyback
        self.features = features
        super().__init__({
            "command_cycle": In(1),
            "address_cycle": In(1),
            "byte": In(8),
            "ready": In(1),
            "within_update": In(1),
            "command": Out(1),
            "address": Out(1),
            "first": Out(8),
            "column": Out(16),
            "row": Out(24),
            "copies": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        # The address cycles before this one, the latest in the highest byte.
        before = Signal(32, reset_less=True)
        left = Signal(3)  # address cycles after this one

        with m.If(self.command_cycle):
            with m.If(self.ready):
                m.d.comb += self.command.eq(1)
            with m.Else(), m.Switch(self.byte):
                with m.Case(*_WHILE_BUSY):
                    m.d.comb += self.command.eq(1)
                with m.Case(*_WITHIN_UPDATE):
                    m.d.comb += self.command.eq(self.within_update)

        with m.If(self.command):
            m.d.sync += self.first.eq(self.byte)
            with m.Switch(self.byte):
                for command, cycles in ADDRESS_CYCLES.items():
                    with m.Case(command):
                        m.d.sync += left.eq(cycles - 1)
                if self.features:
                    with m.Case(C.SET_FEATURES):
                        m.d.sync += left.eq(0)
                with m.Default():
                    m.d.sync += left.eq(7)  # none: more than there ever are
            if self.copyback:
                with m.Switch(self.byte):
                    with m.Case(C.COPYBACK_READ_CONFIRM):
                        m.d.sync += self.copies.eq(1)
                    with m.Case(*_KEEPS_COPY):
                        pass
                    with m.Default():
                        m.d.sync += self.copies.eq(0)
                with m.If(self.copies & (self.byte == C.CHANGE_WRITE_COLUMN)):
                    m.d.sync += left.eq(ADDRESS_CYCLES[C.PROGRAM] - 1)

        with m.If(self.address_cycle):
            m.d.sync += [before.eq(Cat(before[8:], self.byte)), left.eq(left - 1)]
            m.d.comb += [
                self.address.eq(left == 0),
                self.row.eq(Cat(before[16:], self.byte)),
                self.column.eq(before[:16]),
            ]
            with m.Switch(self.first):
                with m.Case(C.CHANGE_READ_COLUMN, C.CHANGE_WRITE_COLUMN):
                    m.d.comb += self.column.eq(Cat(before[24:], self.byte))
        return m
