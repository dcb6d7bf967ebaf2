"""The ways to take an optimizer step, on the same device: on the dies, in the controller, on the host."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flashtrain.host import Device
from flashtrain.host.device import STATE_STREAMS
from flashtrain.spec import FmsConfig
from flashtrain.spec.registers import Register, State

from .array_work import ArrayKind, ArrayRecorder
from .energy import Energy, Work, energy
from .measurement import BenchmarkError, Measurement
from .update import QUICK_ROWS_PER_DIE, ROWS_PER_DIE, Case, UpdateRun, bound, run_update
from .update_elsewhere import CHUNKS_UNDER_WAY, ElsewhereRun, run_elsewhere
from .update_places import HostLink, Place

SLOPE_ERROR = 0.02  # of a rate: programs come in bursts, and the first and the last may be anywhere in one
OPTIMSTORE_ENERGY = 3.6  # OptimStore (HPCA'23), against an SSD behind a host, on average


@dataclass(frozen=True)
class Comparison:
    """The same step on the dies and at other places."""

    case: Case
    on_dies: UpdateRun
    elsewhere: Mapping[Place, ElsewhereRun]

    def speedup(self, place: Place) -> float:
        return self.on_dies.parameters_per_second / self.elsewhere[place].parameters_per_second

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
    on_dies = run_update(device, recorder, case, min(rows, room))
    elsewhere = {}
    for place in places:
        _clear(device)
        elsewhere[place] = run_elsewhere(
            device, recorder, case, min(rows + 2 * CHUNKS_UNDER_WAY, room), place
        )
    return Comparison(case, on_dies, elsewhere)


def update_speedup(
    device: Device, recorder: ArrayRecorder, case: Case, place: Place, quick: bool = False
) -> Measurement:
    """How many times faster a step is on the dies than at `place`."""
    found = compare(device, recorder, case, [place], quick)
    run = found.elsewhere[place]
    limits = {
        "the dies": (found.on_dies, bound(device.config, case.tile(device.config))),
        place.where: (run, _bound_elsewhere(device.config, case, place)),
    }
    for where, (one, limit) in limits.items():
        if one.parameters_per_second > limit * (1 + SLOPE_ERROR):
            raise BenchmarkError(
                f"{one.parameters_per_second / 1e6:,.1f} M/s {where} exceed {limit / 1e6:,.1f}"
            )
    on_dies, elsewhere = (f"{limit / 1e6:,.1f}" for _, limit in limits.values())
    return Measurement(
        value=found.speedup(place),
        unit="times",
        cycles=found.cycles,
        note=f"{found.on_dies.parameters_per_second / 1e6:,.1f} M/s on the dies,"
        f" of at most {on_dies};"
        f" {run.parameters_per_second / 1e6:,.1f} M/s {place.where},"
        f" of at most {elsewhere},"
        f" where dies {_shares(device.config, run)};"
        f" {run.computing}; OptimStore: {place.optimstore} times",
    )


def update_energy_ratio(
    device: Device, recorder: ArrayRecorder, case: Case, link: HostLink, quick: bool = False
) -> Measurement:
    """How many times more energy a step takes on the host than on the dies, by `energy.EnergyModel`."""
    found = compare(device, recorder, case, [link], quick)
    host = found.elsewhere[link]
    on_dies = energy(device.config, _work_on_dies(case, found.on_dies))
    on_host = energy(device.config, _work_on_host(case, host))
    per_parameter = (on_dies.total / found.on_dies.parameters, on_host.total / host.parameters)
    return Measurement(
        value=per_parameter[1] / per_parameter[0],
        unit="times",
        cycles=found.cycles,
        note=f"nJ per parameter on the dies: {_nanojoules(on_dies, found.on_dies)}; {link.where}:"
        f" {_nanojoules(on_host, host)}; OptimStore: {OPTIMSTORE_ENERGY} times",
    )


def _bound_elsewhere(config: FmsConfig, case: Case, place: Place) -> float:
    """Parameters per second, the least of three bounds: arrays, channels and the way to the place.

    State crosses a channel's bus twice, once each way. The arrays sense and program all tiles.
    """
    channels = config.net_channel_bytes_per_second / (2 * case.state_bytes)
    return min(bound(config, case.tile(config)), channels, place.bound(case.state_bytes, case.gradient.bytes))


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


def _work_on_dies(case: Case, run: UpdateRun) -> Work:
    return Work(
        programs=run.count(ArrayKind.PROGRAM),
        senses=run.count(ArrayKind.SENSE),
        channel_bytes=run.parameters * (case.gradient.bytes + case.copy.bytes),
        operations=run.parameters * case.operations,
    )


def _work_on_host(case: Case, run: UpdateRun) -> Work:
    return Work(
        programs=run.count(ArrayKind.PROGRAM),
        senses=run.count(ArrayKind.SENSE),
        channel_bytes=run.parameters * 2 * case.state_bytes,
        link_bytes=run.parameters * (2 * case.state_bytes + case.gradient.bytes),
        host_operations=run.parameters * case.operations,
    )


def _nanojoules(spent: Energy, run: UpdateRun) -> str:
    parts = {"array": spent.array, "channel": spent.channel, "link": spent.link, "computing": spent.computing}
    return ", ".join(f"{name} {joules / run.parameters * 1e9:.3f}" for name, joules in parts.items())


def _shares(config: FmsConfig, run: UpdateRun) -> str:
    """How busy the arrays were."""
    g, t = config.geometry, config.timing
    dies = g.channels * g.dies
    programs = run.count(ArrayKind.PROGRAM) / g.planes * t.cycles("tprog") / dies / run.cycles
    senses = run.count(ArrayKind.SENSE) / g.planes * t.cycles("tr") / dies / run.cycles
    return f"program {programs:.0%} and sense {senses:.0%} of the time"
