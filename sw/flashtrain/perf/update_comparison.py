"""The ways to take an optimizer step, on the same device: on the dies, in the controller, on the host."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flashtrain.host import Device
from flashtrain.host.device import STATE_STREAMS
from flashtrain.spec import FmsConfig
from flashtrain.spec.registers import Register, State

from .array_work import ArrayKind, ArrayRecorder
from .energy import Energy, EnergyModel, energy
from .measurement import ROUNDING, BenchmarkError, Measurement
from .update import QUICK_ROWS_PER_DIE, ROWS_PER_DIE, UpdateRun, run_update
from .update_bounds import Bound, elsewhere, on_dies
from .update_case import Case
from .update_elsewhere import CHUNKS_UNDER_WAY, ElsewhereRun, run_elsewhere
from .update_places import HostLink, Place

OPTIMSTORE_ENERGY = 3.6  # OptimStore (HPCA'23), against an SSD behind a host, on average
ASKED_OF = "optimstore"
"""The preset that has to reach the published speedups; the others are other devices."""


@dataclass(frozen=True)
class Comparison:
    """The same step on the dies and at other places, on devices of `config`."""

    config: FmsConfig
    case: Case
    on_dies: UpdateRun
    elsewhere: Mapping[Place, ElsewhereRun]

    def speedup(self, place: Place) -> float:
        return self.on_dies.parameters_per_second / self.elsewhere[place].parameters_per_second

    @property
    def bound_on_dies(self) -> Bound:
        return on_dies(self.config, self.case.tile(self.config))

    def bound(self, place: Place) -> Bound:
        tile = self.case.tile(self.config)
        return elsewhere(self.config, tile, place.limits(self.config, tile))

    def check(self) -> None:
        """Raise `BenchmarkError` if the step was faster anywhere than its bound there."""
        ways = [("on the dies", self.on_dies, self.bound_on_dies, ROUNDING)]
        ways += [
            (place.where, run, self.bound(place), run.uncertainty) for place, run in self.elsewhere.items()
        ]
        for where, run, bound, uncertainty in ways:
            if run.parameters_per_second > bound.parameters_per_second * (1 + uncertainty):
                raise BenchmarkError(f"{_rate(run)} {where} is above its {bound}")

    @property
    def cycles(self) -> int:
        return self.on_dies.cycles + sum(run.cycles for run in self.elsewhere.values())


def compare(
    device: Device, recorder: ArrayRecorder, case: Case, places: Sequence[Place], quick: bool = False
) -> Comparison:
    """Take the step on the dies, then at each of the places, with nothing else under way.

    As many rows are of the steady state in all cases, as far as there is room for them.
    """
    room = device.stream(STATE_STREAMS[0]).zones * device.config.geometry.pages
    rows = QUICK_ROWS_PER_DIE if quick else ROWS_PER_DIE
    run_on_dies = run_update(device, recorder, case, min(rows, room))
    runs = {}
    for place in places:
        _clear(device)
        runs[place] = run_elsewhere(device, recorder, case, min(rows + 2 * CHUNKS_UNDER_WAY, room), place)
    return Comparison(device.config, case, run_on_dies, runs)


def update_speedup(
    device: Device, recorder: ArrayRecorder, case: Case, place: Place, quick: bool = False
) -> Measurement:
    """How many times faster a step is on the dies than at `place`.

    Bound: what the dies can do at most, against the rate that was measured at `place`.
    """
    found = compare(device, recorder, case, [place], quick)
    found.check()
    run, speedup = found.elsewhere[place], found.speedup(place)
    asked = device.config.name == ASKED_OF
    return Measurement(
        value=speedup,
        unit="times",
        bound=found.bound_on_dies.parameters_per_second / run.parameters_per_second,
        cycles=found.cycles,
        asked=f"{place.optimstore} times, OptimStore's average; {place.assumption}" if asked else "",
        met=speedup >= place.optimstore if asked else None,
        note=f"{_rate(found.on_dies)} on the dies ({found.bound_on_dies}), {_rate(run)} {place.where}"
        f" ({found.bound(place)}), where dies {_shares(device.config, run)};"
        f" {run.computing}; OptimStore: {place.optimstore} times",
    )


def update_energy_ratio(
    device: Device, recorder: ArrayRecorder, case: Case, link: HostLink, quick: bool = False
) -> Measurement:
    """How many times more energy a step takes on the host than on the dies, by `energy.EnergyModel`."""
    found = compare(device, recorder, case, [link], quick)
    found.check()
    run, model = found.elsewhere[link], EnergyModel()
    dies_work, host_work = found.on_dies.work_as(case.work_on_dies), run.work_as(case.work_on_host)
    dies = energy(device.config, dies_work, model).per(found.on_dies.parameters)
    host = energy(device.config, host_work, model).per(run.parameters)
    link_bits = 8 * host_work.link_bytes / run.parameters
    return Measurement(
        value=host.total / dies.total,
        unit="times",
        cycles=found.cycles,
        note=f"nJ per parameter on the dies: {_nanojoules(dies)}; {link.where}: {_nanojoules(host)};"
        f" OptimStore: {OPTIMSTORE_ENERGY} times{_what_it_takes(dies, host, link_bits, model)}",
    )


def _what_it_takes(dies: Energy, host: Energy, link_bits: float, model: EnergyModel) -> str:
    """Why the published ratio is not reached, and the constant with which it would be; empty if it is."""
    if host.total >= OPTIMSTORE_ENERGY * dies.total:
        return ""
    missing = (OPTIMSTORE_ENERGY * dies.total - host.total) / link_bits
    needed, assumed = ((model.link_joules_per_bit + more) * 1e12 for more in (missing, 0))
    return (
        f", not reached: the arrays take {dies.array / dies.total:.0%} of a step on the dies, and as much on"
        f" the host; it would take {needed:.1f} pJ for a bit on the link in place of {assumed:.1f}"
    )


def _clear(device: Device) -> None:
    """Drop the state, and wait until everything is erased that was dropped."""
    for name in STATE_STREAMS:
        device.stream(name).reset()
    config = device.config
    for _ in range(4 * config.geometry.zones):
        if device.link.read_register(Register.STATE) & State.IDLE:
            return
        device.link.run(config.timing.cycles("tbers"))
    raise BenchmarkError(f"{config.name!r} does not come to rest")


def _nanojoules(spent: Energy) -> str:
    parts = {"array": spent.array, "channel": spent.channel, "link": spent.link, "computing": spent.computing}
    return ", ".join(f"{name} {joules * 1e9:.3f}" for name, joules in parts.items())


def _rate(run: UpdateRun) -> str:
    return f"{run.parameters_per_second / 1e6:,.1f} M/s"


def _shares(config: FmsConfig, run: UpdateRun) -> str:
    """How busy the arrays were."""
    g, t = config.geometry, config.timing
    dies = g.channels * g.dies
    programs = run.count(ArrayKind.PROGRAM) / g.planes * t.cycles("tprog") / dies / run.cycles
    senses = run.count(ArrayKind.SENSE) / g.planes * t.cycles("tr") / dies / run.cycles
    return f"program {programs:.0%} and sense {senses:.0%} of the time"
