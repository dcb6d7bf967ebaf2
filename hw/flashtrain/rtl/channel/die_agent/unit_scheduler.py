"""The units of a die agent: their common ports, and the scheduler that grants the die to one of them."""

from collections.abc import Callable, Sequence

from amaranth import Cat, Module, Signal
from amaranth.hdl import ValueLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import BusRequest
from flashtrain.rtl.lib.streams import RoundRobin
from flashtrain.spec import FmsConfig

from .ready_poller import PollerPort


class SchedulerPort(wiring.Signature):
    """The scheduler as a unit sees it.

    Members
    -------
    request : Out(1)  there is work
    busy : Out(1)     some of it is under way: the die is this unit's
    started : Out(1)  pulse: one more page set, or erase, has been begun
    grant : In(1)     another may be begun
    """

    def __init__(self):
        super().__init__({"request": Out(1), "busy": Out(1), "started": Out(1), "grant": In(1)})


def bus_ports(config: FmsConfig) -> dict:
    """Members of every unit.

    schedule : Out(SchedulerPort)
    bus : Out(stream(BusRequest))
    bus_done : In(1)     pulse: the operation has ended
    bus_status : In(8)   after a STATUS; valid with `bus_done` for the reader, else with `ready` of the poller
    """
    return {
        "schedule": Out(SchedulerPort()),
        "bus": Out(stream.Signature(BusRequest(config))),
        "bus_done": In(1),
        "bus_status": In(8),
    }


def unit_ports(config: FmsConfig) -> dict:
    """Members of a unit that leaves polls to the agent's ready poller.

    poller : Out(PollerPort), and those of `bus_ports`
    """
    return {**bus_ports(config), "poller": Out(PollerPort(config))}


def bus_operation(
    m: Module, unit: wiring.Component, state: str, op: ValueLike, then: Callable[[], None]
) -> None:
    """Two states of the unit's FSM, for one bus operation.

    `state` requests it when no pause is left; `state`_SENT waits for its end and does `then`.
    """
    with m.State(state):
        m.d.comb += [unit.bus.valid.eq(~unit.poller.paused), unit.bus.payload.op.eq(op)]
        with m.If(unit.bus.valid & unit.bus.ready):
            m.next = f"{state}_SENT"
    with m.State(f"{state}_SENT"), m.If(unit.bus_done):
        then()


class UnitScheduler(wiring.Component):
    """Grants the die to one unit at a time, in rotation.

    The owner keeps the die as long as no other unit requests it. When one does, the owner finishes its work
    and begins no more, unless it has begun less than its run and requests to go on. Only a unit without a
    grant loses the die.

    Latency: 3 cycles from a request to the grant if no other unit requests; 1 from the end of the owner's
    work to the next grant, 2 if the owner requests no more. Unit 0 is the first owner.

    Members
    -------
    units : In(SchedulerPort).array
    owner : Out   one-hot

    Parameters
    ----------
    runs : for each unit, the page sets (or erases) that it begins while others wait
    """

    def __init__(self, runs: Sequence[int]):
        self.runs = tuple(runs)
        super().__init__({
            "units": In(SchedulerPort()).array(len(runs)),
            "owner": Out(len(runs)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.rotation = rotation = RoundRobin(len(self.runs))
        owner = Signal(len(self.runs), init=1)
        count = Signal(range(max(self.runs) + 1))  # page sets that the owner has begun
        requests = Signal(len(self.runs))  # of the other units; a cycle late, as `stop` is
        others = Signal()
        stop = Signal()  # the owner begins no more; registered, to keep the path to the units short
        busy, run_ended, requests_more = Signal(), Signal(), Signal()  # the owner
        switch = Signal()
        started, starters = Signal(), Signal(len(self.runs))  # a cycle late, too
        m.d.comb += [
            rotation.requests.eq(requests),
            others.eq(requests.any()),
            started.eq(starters.any()),
            self.owner.eq(owner),
            busy.eq((owner & Cat(unit.busy for unit in self.units)).any()),
            requests_more.eq((owner & Cat(unit.request for unit in self.units)).any()),
            run_ended.eq((owner & Cat(count >= run for run in self.runs)).any()),
            switch.eq(others & stop & ~busy),
            rotation.advance.eq(switch),
        ]
        m.d.sync += [
            requests.eq(Cat(unit.request for unit in self.units) & ~owner),
            stop.eq(others & (run_ended | ~(busy | requests_more))),
            starters.eq(owner & Cat(unit.started for unit in self.units)),
        ]
        for number, unit in enumerate(self.units):
            m.d.comb += unit.grant.eq(owner[number] & ~stop)
        with m.If(switch):
            m.d.sync += [owner.eq(rotation.chosen), count.eq(0), stop.eq(0)]
        with m.Elif(started & (count != max(self.runs))):
            m.d.sync += count.eq(count + 1)
        return m
