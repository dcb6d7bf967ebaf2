"""cocotb tests of the request mux: which source has the die next, how long the die is left alone, latency."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.layouts import BusKind, BusRequest
from flashtrain.sim.bench.streams import pack, start, unpack
from flashtrain.spec.nand import SEQUENCES, BusOp, DataPhase
from tests.rtl.channel.die_agent.agent_units import CONFIG, agent_units
from tests.rtl.channel.die_agent.unit_surroundings import chance

IDLE_INPUTS = agent_units().idle_inputs()
BUS_REQUEST, KIND = BusRequest(CONFIG), BusKind()
TWB = CONFIG.timing.cycles("twb")
SOURCES = ("unit", "reader")
SELECTS = {BusOp.SELECT, BusOp.SELECT_COPY, BusOp.SELECT_STATISTICS, BusOp.STATUS_PLANE}
LIKE_PAGES = {BusOp.SET_TIMING_MODE, BusOp.SET_READ_LEVEL, BusOp.COPYBACK_READ, BusOp.COPYBACK_PROGRAM}
"""These move no page, and 78h selects none, but the arbiter treats them alike (`BusOp`)."""
LATENCY = 3
"""From a request to `bus.valid`, if the source stays (`RequestMux`)."""


def a_request() -> dict[str, int]:
    return {
        name: random.getrandbits(field.width)
        for name, field in BUS_REQUEST
        if name not in ("op", "kind")
    } | {"op": random.choice(list(BusOp)).value, "kind": 0}  # fmt: skip


def kind_of(op: BusOp) -> dict[str, int]:
    data = SEQUENCES[op].data
    pages = data in (DataPhase.IN, DataPhase.OUT) and op is not BusOp.IDENTITY_OUT
    return {
        "moves_page": int(pages or op in LIKE_PAGES),
        "gives_page": int(data is DataPhase.OUT),
        "selects": int(op in SELECTS),
    }


class Mux:
    """Plays both sources and the bus. `share`: of the idle cycles in which a source gets a request."""

    def __init__(self, dut, share: float):
        self.dut, self.share = dut, share
        self.requests: dict[str, dict[str, int] | None] = dict.fromkeys(SOURCES)
        self.since = dict.fromkeys(SOURCES, 0)  # the first cycle of each request
        self.taken: list[str] = []
        self.changes = self.kept_by_lock = self.kept_by_urgency = 0

    def _get(self, name: str) -> int:
        return int(getattr(self.dut, f"mux__{name}").value)

    def _set(self, **values: int) -> None:
        for name, value in values.items():
            getattr(self.dut, f"mux__{name}").value = value

    async def run(self, cycles: int) -> None:
        owner: str | None = None  # of the operation under way
        last, ended, lock, urgent = "unit", -TWB, False, False
        waits = lasts = 0
        on_bus = ending = answered = False  # `bus_done` in this cycle; in the one before
        for cycle in range(cycles):
            await RisingEdge(self.dut.clk)
            for source in SOURCES:
                if not self._get(f"{source}__ready"):
                    continue
                request = self.requests[source]
                assert request is not None and owner is None, "a source is taken during an operation"
                self._judge(source, last, lock, urgent, cycle)
                owner, self.requests[source] = source, None
                self.taken.append(source)
                expected = request
                earliest = ended + TWB if source != last else 0
                on_bus, waits = False, random.randint(0, 4)
            if self._get("bus__valid") and not on_bus:
                on_bus = True
                assert owner is not None and cycle >= earliest, "the die is not left alone for tWB"
                fields = unpack(BUS_REQUEST, self._get("bus__payload"))
                assert unpack(KIND, fields.pop("kind")) == kind_of(BusOp(fields["op"]))
                assert fields == {name: value for name, value in expected.items() if name != "kind"}
                if owner == last:
                    assert cycle - max(self.since[owner], ended + 1) <= LATENCY, "a lone request waits"
                lasts = random.randint(3, 9)
            for source in SOURCES:
                assert self._get(f"{source}_done") == (answered and source == last)
            answered, ending = ending, False
            ready, done = False, False
            if on_bus and owner is not None:
                if waits >= 0:
                    ready, waits = waits == 0, waits - 1
                elif lasts > 0:
                    lasts -= 1
                    if lasts == 3:
                        lock, urgent = chance(0.3), chance(0.3)
                else:
                    done, ending = True, True
                    last, ended, owner, on_bus = owner, cycle + 1, None, False
            self._set(bus__ready=ready, bus_done=done, lock=lock, urgent=urgent)
            for source in SOURCES:
                if self.requests[source] is None and chance(self.share):
                    self.requests[source], self.since[source] = a_request(), cycle + 1
                request = self.requests[source]
                self._set(**{f"{source}__valid": request is not None})
                if request is not None:
                    self._set(**{f"{source}__payload": pack(BUS_REQUEST, **request)})

    def _judge(self, source: str, last: str, lock: bool, urgent: bool, cycle: int) -> None:
        """The other source is taken unless it has no request, the lock keeps it out, or the reader is urgent.

        A request of the last two cycles may not have been seen.
        """
        other = SOURCES[source == SOURCES[0]]
        seen = self.requests[other] is not None and cycle - self.since[other] > 3
        if source == last and seen:
            held = lock or (last == "reader" and urgent)
            assert held, f"the {source} is taken twice while the other waits"
            self.kept_by_lock += lock
            self.kept_by_urgency += not lock
        if source != last:
            self.changes += 1
            assert not lock, f"the {source} is taken though the lock keeps it out"


@cocotb.test()
@cocotb.parametrize(share=[1.0, 0.1])
async def sources_alternate(dut, share):
    await start(dut, **IDLE_INPUTS)
    mux = Mux(dut, share)
    await mux.run(12_000)
    assert min(mux.taken.count(source) for source in SOURCES) > 60 and mux.changes > 40
    if share == 1:
        assert mux.kept_by_lock > 10 and mux.kept_by_urgency > 5
