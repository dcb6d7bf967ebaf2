"""Counts the commands that the tracker has not finished."""

from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import Operation, Retired
from flashtrain.spec import FmsConfig
from flashtrain.spec.registers import MAX_STREAMS


class InFlight(wiring.Component):
    """Commands in flight, for what has to wait until there are none of some kind.

    The outputs follow one clock after the events.

    Members
    -------
    opened : In(1), opened_command : In(Retired)     a command was opened
    retired : In(1), retired_command : In(Retired)   a command has left the tracker
    busy : Out(8)          bit per stream: commands are in flight that name it, updates by their source too
    updates : Out(1)       updates are in flight
    constants : Out(1)     constants of an optimizer step are on their way to the dies
    statistics : Out(1)    statistics are on their way from the dies
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "opened": In(1),
            "opened_command": In(Retired()),
            "retired": In(1),
            "retired_command": In(Retired()),
            "busy": Out(MAX_STREAMS),
            "updates": Out(1),
            "constants": Out(1),
            "statistics": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()

        def number_of(name: str, kind):
            """Commands in flight of a kind, which a function tells."""
            count = Signal(range(self.config.commands + 1), name=name)
            more = self.opened & kind(self.opened_command)
            fewer = self.retired & kind(self.retired_command)
            m.d.sync += count.eq(count + more - fewer)
            return count

        def names(stream: int):
            def kind(command):
                is_source = (command.operation == Operation.UPDATE) & (command.source == stream)
                return (command.stream == stream) | is_source

            return kind

        counts = [number_of(f"count{stream}", names(stream)) for stream in range(MAX_STREAMS)]
        m.d.comb += self.busy.eq(Cat(count.any() for count in counts))
        for output, operation in (
            (self.updates, Operation.UPDATE),
            (self.constants, Operation.CONSTANTS),
            (self.statistics, Operation.STATISTICS),
        ):
            count = number_of(
                f"{operation.name.lower()}_count", lambda command, which=operation: command.operation == which
            )
            m.d.comb += output.eq(count.any())
        return m
