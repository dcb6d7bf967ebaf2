"""What surrounds a unit of a die agent: the scheduler, a bus that takes its time, and the ready poller."""

import random
from collections.abc import Callable
from typing import NamedTuple

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.channel.die_agent.ready_poller import Pause, Work
from flashtrain.rtl.layouts import BusRequest
from flashtrain.sim.bench.streams import unpack
from flashtrain.spec.nand import BusOp
from tests.rtl.channel.die_agent.agent_units import CONFIG

BUS_REQUEST = BusRequest(CONFIG)
PAUSE_CYCLES = 9


class Event(NamedTuple):
    """A bus operation with its request, or a pause, or the start of the poller."""

    what: BusOp | Pause | Work
    cycle: int
    fields: dict[str, int]


def chance(share: float) -> bool:
    return random.random() < share


class Surroundings:
    """Plays everything around the unit whose ports begin with `name`, and keeps a log of what it did.

    The grant comes and goes at random, in a share `granted` of the cycles. An operation waits up to `delay`
    cycles for the bus and lasts up to `delay` more; the poller takes up to `delay` cycles. `status(work)` is
    the status byte with which it reports ready. A unit that polls itself (`polls_itself`) has that byte from
    a cycle before the end of its STATUS operations on; its work is always `Work.RESET`.

    Checks: a unit begins work only in a cycle with a grant, and is busy from the next one on; it keeps a
    request until the bus takes it; it requests nothing during an operation or a pause; it starts the poller
    and a pause at the end of an operation.
    """

    def __init__(
        self,
        dut,
        name: str,
        *,
        delay: int = 6,
        granted: float = 0.7,
        status: Callable[[Work], int] = lambda work: 0,
        polls_itself: bool = False,
    ):
        self.dut, self.name, self.delay, self.granted = dut, name, delay, granted
        self.status, self.polls_itself = status, polls_itself
        self.log: list[Event] = []
        self.started = 0
        self.cycle = 0
        self.idle_array_after = 0  # cycles from `ready` to `array_idle`
        self._set(schedule__grant=0, bus__ready=0, bus_done=0, bus_status=0)
        if not polls_itself:
            self._set(poller__ready=0, poller__array_idle=1, poller__polling=0, poller__paused=0)
        cocotb.start_soon(self._run())

    def __getitem__(self, port: str) -> int:
        return int(getattr(self.dut, f"{self.name}__{port}").value)

    def _set(self, **values: int) -> None:
        for port, value in values.items():
            getattr(self.dut, f"{self.name}__{port}").value = value

    @property
    def whats(self) -> list[BusOp | Pause | Work]:
        return [event.what for event in self.log]

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await RisingEdge(self.dut.clk)

    async def quiet(self) -> None:
        """Wait until the unit has no work and asks for none."""
        await self.until(lambda: not self["schedule__busy"] and not self["schedule__request"])

    def _some(self) -> int:
        return random.randint(0, self.delay)

    async def _run(self) -> None:
        requested: int | None = None  # the payload that waits
        waits = valid_for = lasts = pause = polls = idle_in = 0
        under_way = ended = began = False
        work = Work.RESET
        while True:
            await RisingEdge(self.dut.clk)
            if self.dut.rst.value == 1:
                continue
            self.cycle += 1
            valid, ready = self["bus__valid"], self["bus__ready"]
            if self["schedule__started"]:
                assert self["schedule__grant"], f"{self.name} begins work without a grant"
                self.started += 1
            if began:
                assert self["schedule__busy"], f"{self.name} has begun work and is not busy"
            began = bool(self["schedule__started"])
            if valid:
                assert not under_way, f"{self.name} requests an operation during another"
                assert pause == 0, f"{self.name} requests an operation during a pause"
                fields = unpack(BUS_REQUEST, self["bus__payload"])
                if requested is None:
                    waits, valid_for = self._some(), 0
                # The mux looks at a request from its second cycle on.
                valid_for += 1
                assert valid_for <= 2 or requested == fields["op"], f"{self.name} changed an operation"
                requested = fields["op"]
            else:
                assert requested is None, f"{self.name} withdrew a request"
            if valid and ready:
                self.log.append(Event(BusOp(fields["op"]), self.cycle, fields))
                requested, under_way, lasts = None, True, 2 + self._some()
                if self.polls_itself and fields["op"] == BusOp.STATUS.value:
                    self._set(bus_status=self.status(Work.RESET))
            done, under_way = under_way and lasts == 0, under_way and lasts > 0
            lasts -= under_way
            takes = requested is not None and valid_for >= 2 and waits == 0
            waits -= requested is not None and waits > 0
            self._set(schedule__grant=chance(self.granted), bus__ready=takes, bus_done=done)
            if self.polls_itself:
                continue

            pause -= pause > 0
            kind = Pause(self["poller__pause"])
            if kind is not Pause.NONE:
                assert ended, f"{self.name} pauses at another time than an operation's end"
                self.log.append(Event(kind, self.cycle, {}))
                pause = PAUSE_CYCLES
            ended = done
            if self["poller__start"]:
                work = Work(self["poller__work"])
                self.log.append(Event(work, self.cycle, {}))
                polls = 2 + self._some()
                idle_in = polls + self.idle_array_after
            reports = polls == 1 and not self["poller__defer"]
            polls -= polls > 1 or reports
            idle_in -= idle_in > 0
            self._set(
                bus_status=self.status(work) if reports else random.getrandbits(8),
                poller__ready=reports,
                poller__polling=reports,
                poller__paused=pause > 0,
                poller__array_idle=idle_in == 0,
            )
