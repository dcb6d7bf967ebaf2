"""Commands between the zone manager and their completion: which are in flight, and which programs failed."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import STREAM_BITS, Command, Operation, Retired
from flashtrain.spec import FmsConfig, Status, ZoneAction
from flashtrain.spec.identity import RestoreAction
from flashtrain.spec.nvme import GenerationAction
from flashtrain.spec.registers import MAX_STREAMS


class CommandsInFlight(wiring.Component):
    """Counts the commands in flight, and stalls the next one while it depends on some of them.

    - Resets, pins, releases and commits wait until their stream has no command in flight. A commit waits for
      its source, too. An update counts for its stream and for its source.
    - Constants wait until no updates or statistics are in flight, statistics until no updates or constants
      are, updates until no statistics are. Updates follow constants to the dies in the order of their jobs.
    - The end of recovery waits until no command is in flight: erases begin with it.

    Latency: 2 cycles from `retired` or `opened` to `idle`; 1 more to `waits`. 1 cycle from the command to
    `waits`.

    Members
    -------
    command : In(Command)          the next command
    waits : Out(1)                 it stalls; one with a status does not
    opened : In(1)                 pulse: the tracker has taken it
    retired : In(1), retired_command : In(Retired)   pulse: a command has left the tracker
    idle : Out(1)                  no command is in flight
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
        opened = Signal()
        m.d.sync += opened.eq(self.opened)
        of_stream = Cat(
            self._count(m, opened, f"stream{n}", lambda command, n=n: _names(command, n))
            for n in range(MAX_STREAMS)
        )
        updates, constants, statistics = (
            self._count(m, opened, kind.name.lower(), lambda command, kind=kind: command.operation == kind)
            for kind in (Operation.UPDATE, Operation.CONSTANTS, Operation.STATISTICS)
        )
        m.d.comb += self.idle.eq(~of_stream.any())

        # What the command depends on, and what of it is in flight, each in registers.
        command, operation = self.command, self.command.operation
        of_generation = operation == Operation.GENERATION
        resets = (operation == Operation.SEND) & (command.action == ZoneAction.RESET)
        of_constants, of_statistics = (
            operation == which for which in (Operation.CONSTANTS, Operation.STATISTICS)
        )
        stream_busy, source_busy = (of_stream.bit_select(n, 1) for n in (command.stream, command.source))
        dependences = [
            ((operation == Operation.RESET) | resets | of_generation, stream_busy),
            (of_generation & (command.action == GenerationAction.COMMIT), source_busy),
            (of_constants | of_statistics, updates),
            (of_statistics, constants),
            (of_constants | (operation == Operation.UPDATE), statistics),
            ((operation == Operation.RESTORE) & (command.action == RestoreAction.END), ~self.idle),
        ]
        depends, busy = Signal(len(dependences)), Signal(len(dependences))
        m.d.sync += [
            depends.eq(Mux(command.status == Status.SUCCESS, Cat(needs for needs, _ in dependences), 0)),
            busy.eq(Cat(in_flight for _, in_flight in dependences)),
        ]
        m.d.comb += self.waits.eq((depends & busy).any())
        return m

    def _count(self, m: Module, opened: Signal, name: str, counts) -> Signal:
        """Whether commands are in flight for which `counts` holds: a register beside their number."""
        count, following = (
            Signal(range(self.config.commands + 1), name=f"{name}{part}") for part in ("", "_following")
        )
        some, is_counted = Signal(name=f"some_{name}"), Signal(name=f"is_counted_{name}")
        fewer = Signal(name=f"fewer_{name}")
        m.d.sync += [
            is_counted.eq(counts(self.command)),
            fewer.eq(self.retired & counts(self.retired_command)),
        ]
        more = opened & is_counted
        m.d.comb += following.eq(count + more - fewer)
        m.d.sync += [count.eq(following), some.eq(following.any())]
        return some


def _names(command, stream: int):
    is_source = (command.operation == Operation.UPDATE) & (command.source == stream)
    return (command.stream == stream) | is_source


class Retirement(wiring.Component):
    """Holds the zone of an append or write whose program failed, until the zone manager has retired it.

    The zones of failed updates are not retired: the driver repeats the step.

    While a zone is held, no command leaves the tracker, so no failure is lost. The failed command is no
    longer in flight. So the manager retires the zone before it checks a command that waited for that one.
    A held zone can stall the tracker's opening, so the manager serves it while it waits for the opening.

    Latency: 1 cycle from the failed command to `pending`.

    Members
    -------
    retired : In(stream(Retired))       commands that have left the tracker; ready unless a zone is held
    pending : Out(1)                    the zone's entry is to be looked up
    read : In(1)                        it is being looked up; only while pending
    stored : In(1)                      later: the zone is retired
    busy : Out(1)                       a zone is held: from `pending` to `stored`
    zone : Out(zone_bits)               the logical zone, while it is held
    stream : Out(STREAM_BITS)           its stream
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "retired": In(stream.Signature(Retired(config))),
            "pending": Out(1),
            "read": In(1),
            "stored": In(1),
            "busy": Out(1),
            "zone": Out(config.geometry.zone_bits),
            "stream": Out(STREAM_BITS),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        command = self.retired.payload
        appends = (command.operation == Operation.APPEND) | (command.operation == Operation.WRITE)
        m.d.comb += self.retired.ready.eq(~self.busy)
        with m.If(self.read):
            m.d.sync += self.pending.eq(0)
        with m.If(self.stored):
            m.d.sync += self.busy.eq(0)
        with m.If(self.retired.valid & self.retired.ready & command.program_failed & appends):
            m.d.sync += [
                self.pending.eq(1),
                self.busy.eq(1),
                self.zone.eq(command.zone),
                self.stream.eq(command.stream),
            ]
        return m
