"""What the units of a die's agent have in common: each does one kind of work with the die, in its turn."""

from collections.abc import Callable

from amaranth.hdl import Module, ValueLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, Signature

from flashtrain.spec import FmsConfig

from ..layouts import BusRequest
from .die_watch import WatchPort


class TurnPort(Signature):
    """A unit's place in the arbitration (`Turns`), as the unit sees it.

    Members
    -------
    wants : Out(1)    there is work
    busy : Out(1)     some of it is under way: the die belongs to this unit
    started : Out(1)  pulse: one more page set, or erase, has been begun
    go : In(1)        another may be begun
    """

    def __init__(self):
        super().__init__({"wants": Out(1), "busy": Out(1), "started": Out(1), "go": In(1)})


def bus_ports(config: FmsConfig) -> dict:
    """Members of every unit.

    turn : Out(TurnPort)
    bus : Out(stream(BusRequest))
    bus_done : In(1)     pulse: the operation is over
    bus_status : In(8)   the reader's is valid with it, if it was a STATUS; others' with `over` of the watch
    """
    return {
        "turn": Out(TurnPort()),
        "bus": Out(stream.Signature(BusRequest(config))),
        "bus_done": In(1),
        "bus_status": In(8),
    }


def unit_ports(config: FmsConfig) -> dict:
    """Members of a unit that leaves it to the agent's watch to look when the die is ready.

    watch : Out(WatchPort), and those of `bus_ports`
    """
    return {**bus_ports(config), "watch": Out(WatchPort(config))}


def bus_operation(
    m: Module, unit: wiring.Component, state: str, op: ValueLike, then: Callable[[], None]
) -> None:
    """Two states of the unit's machine: `state` asks for the bus operation when no pause is left, and
    `state`_SENT waits for its end and does `then`.
    """
    with m.State(state):
        m.d.comb += [unit.bus.valid.eq(~unit.watch.paused), unit.bus.payload.op.eq(op)]
        with m.If(unit.bus.valid & unit.bus.ready):
            m.next = f"{state}_SENT"
    with m.State(f"{state}_SENT"), m.If(unit.bus_done):
        then()
