"""R/B# of a die: whether it allows a poll of the status."""

from amaranth import Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for

_WAY = 4
"""Cycles from a command on the pins to the level behind it: two registers of pins, two of a synchroniser."""


def shown_cycles(config: FmsConfig) -> int:
    """From the end of a command's operation until R/B# can be low at the latest: tWB, and the way."""
    return config.timing.cycles("twb") + config.port_delay + _WAY


def line_ports(config: FmsConfig) -> dict[str, wiring.Member]:
    """The inputs of `ReadyLine` that come from outside a die agent."""
    chips = config.chips
    return {
        **({"line": In(1)} if chips.ready_busy else {}),
        **({"alone": In(1)} if chips.shares_ready_busy else {}),
    }


class ReadyLine(wiring.Component):
    """Lets a poll pass while R/B# is high, and counts the time for which it is low.

    Each interval with a low line counts as a late poll, the first one after as many cycles as a level takes
    from the die. So a die is lost as soon as without the line. The poll that would exceed the limit is sent
    in spite of the line. If it finds the die ready, the line is stuck. Then polls pass until it is high.

    A shared line is low while any die is busy, and says something of a die only if the others are idle.

    Latency: `due` is combinational.

    Members
    -------
    line : In(1)      R/B#, synchronised; 1 is ready
    alone : In(1)     with a shared line: no other die of it has been sent work that has not ended
    waits : In(1)     a poll would be sent
    interval : In     cycles, 2 or more
    last : In(1)      the next busy poll exceeds the limit (`PollLimit`)
    ready : In(1)     pulse: a poll has found the die ready
    due : Out(1)      the poll may be sent
    late : Out(1)     pulse: an interval has passed
    """

    def __init__(self, config: FmsConfig, longest: int):
        self.grace = config.port_delay + _WAY
        self.bits = bits_for(max(longest, self.grace) + 1)
        self.shared = config.chips.shares_ready_busy
        super().__init__({
            **line_ports(config),
            "waits": In(1),
            "interval": In(self.bits),
            "last": In(1),
            "ready": In(1),
            "due": Out(1),
            "late": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        left, ended, stuck = Signal(self.bits), Signal(), Signal()
        silent = ~self.alone if self.shared else Const(0)
        m.d.comb += [
            self.due.eq(self.line | stuck | self.last | silent),
            self.late.eq(self.waits & ~self.due & ended),
        ]
        with m.If(self.line):
            m.d.sync += stuck.eq(0)
        with m.Elif(self.ready & self.last):
            m.d.sync += stuck.eq(1)
        m.d.sync += [left.eq(left - 1), ended.eq(left == 2)]
        with m.If(~self.waits | self.due):
            m.d.sync += [left.eq(self.grace), ended.eq(0)]
        with m.Elif(ended):
            m.d.sync += [left.eq(self.interval), ended.eq(0)]
        return m
