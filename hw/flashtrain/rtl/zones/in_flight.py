"""Counts the commands that the tracker has not finished, and tells which command has to wait for them."""

from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import Command, Operation, Retired
from flashtrain.spec import FmsConfig, ZoneAction
from flashtrain.spec.identity import RestoreAction
from flashtrain.spec.nvme import GenerationAction
from flashtrain.spec.registers import MAX_STREAMS


class InFlight(wiring.Component):
    """The commands in flight, and whether the next one has to wait for some of them.

    - Resets, pins, releases and commits wait until their stream, of a commit also its source, has no command
      in flight. An update counts for its source, too.
    - Constants wait until no updates or statistics are in flight, statistics until no updates or constants
      are, updates until no statistics are. Updates follow constants to the dies in the order of their jobs.
    - The end of recovery waits until no command is in flight: erases begin with it.

    The outputs follow one clock after the events.

    Members
    -------
    command : In(Command)          the next one
    waits : Out(1)
    opened : In(1)                 it was opened
    retired : In(1), retired_command : In(Retired)   a command has left the tracker
    idle : Out(1)                  none is in flight
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "command": In(Command(config)),
            "waits": Out(1),
            "opened": In(1),
            "retired": In(1),
            "retired_command": In(Retired(config)),
            "idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        of_stream = Cat(
            self._count(m, f"stream{n}", lambda command, n=n: _names(command, n)).any()
            for n in range(MAX_STREAMS)
        )
        updates, constants, statistics = (
            self._count(m, kind.name.lower(), lambda command, kind=kind: command.operation == kind).any()
            for kind in (Operation.UPDATE, Operation.CONSTANTS, Operation.STATISTICS)
        )
        m.d.comb += self.idle.eq(~of_stream.any())

        command = self.command
        stream_busy = of_stream.bit_select(command.stream, 1)
        source_busy = of_stream.bit_select(command.source, 1)
        with m.Switch(command.operation):
            with m.Case(Operation.RESET):
                m.d.comb += self.waits.eq(stream_busy)
            with m.Case(Operation.SEND):
                m.d.comb += self.waits.eq((command.action == ZoneAction.RESET) & stream_busy)
            with m.Case(Operation.GENERATION):
                commits = command.action == GenerationAction.COMMIT
                m.d.comb += self.waits.eq(stream_busy | commits & source_busy)
            with m.Case(Operation.CONSTANTS):
                m.d.comb += self.waits.eq(updates | statistics)
            with m.Case(Operation.STATISTICS):
                m.d.comb += self.waits.eq(updates | constants)
            with m.Case(Operation.UPDATE):
                m.d.comb += self.waits.eq(statistics)
            with m.Case(Operation.RESTORE):
                m.d.comb += self.waits.eq((command.action == RestoreAction.END) & ~self.idle)
        return m

    def _count(self, m: Module, name: str, counts) -> Signal:
        """How many commands are in flight for which `counts` holds."""
        count = Signal(range(self.config.commands + 1), name=name)
        more = self.opened & counts(self.command)
        fewer = self.retired & counts(self.retired_command)
        m.d.sync += count.eq(count + more - fewer)
        return count


def _names(command, stream: int):
    is_source = (command.operation == Operation.UPDATE) & (command.source == stream)
    return (command.stream == stream) | is_source
