"""Three ways to take an optimizer step, on the same device: on the dies, in the controller, on the host."""

from dataclasses import dataclass

from flashtrain.host import Device
from flashtrain.host.device import STATE_STREAMS
from flashtrain.spec import FmsConfig
from flashtrain.spec.optimizer import PROGRAMS, CopyFormat, Op
from flashtrain.spec.registers import Register, State

from .array_work import ArrayKind, ArrayRecorder
from .energy import Energy, Work, energy
from .measurement import BenchmarkError, Measurement
from .update import QUICK_ROWS_PER_DIE, ROWS_PER_DIE, Case, UpdateRun, run_update
from .update_elsewhere import HostLink, run_elsewhere

OPTIMSTORE_SPEEDUP = 2.8  # OptimStore (HPCA'23), against an SSD behind a host, on average
OPTIMSTORE_CONTROLLER_SPEEDUP = 1.9  # against an update in the SSD's controller
OPTIMSTORE_ENERGY = 3.6
_BINARY_OPERATIONS = (Op.MUL, Op.ADD, Op.SUB, Op.FMA, Op.DIV, Op.SQRT)


@dataclass(frozen=True)
class Ways:
    """The same step on the dies and elsewhere; `link` is the way to the host, or none to the controller."""

    case: Case
    on_dies: UpdateRun
    elsewhere: UpdateRun
    link: HostLink | None

    @property
    def speedup(self) -> float:
        return self.on_dies.parameters_per_second / self.elsewhere.parameters_per_second


def compare(device: Device, recorder: ArrayRecorder, case: Case, link: HostLink | None, quick: bool) -> Ways:
    """Take the step on the dies, then elsewhere, with nothing else under way."""
    room = device.stream(STATE_STREAMS[0]).zones * device.config.geometry.pages
    rows = min(QUICK_ROWS_PER_DIE if quick else ROWS_PER_DIE, room)
    on_dies = run_update(device, recorder, case, rows)
    for name in STATE_STREAMS:
        device.stream(name).reset()
    _settle(device)
    return Ways(case, on_dies, run_elsewhere(device, recorder, case, rows, link), link)


def update_speedup(
    device: Device, recorder: ArrayRecorder, case: Case, link: HostLink | None, quick: bool = False
) -> Measurement:
    """How many times faster a step is on the dies than in the controller, or with a `link` on the host."""
    ways = compare(device, recorder, case, link, quick)
    where, published = (
        ("controller", OPTIMSTORE_CONTROLLER_SPEEDUP) if link is None else ("host", OPTIMSTORE_SPEEDUP)
    )
    parts = [_shares(device.config, ways.elsewhere, f"in the {where}" if link is None else "on the host")]
    if link is not None:
        hertz = link.bytes_per_second / _link_bytes(case)
        parts.append(f"a link of {link.bytes_per_second / 1e9:g} GB/s allows {hertz / 1e6:,.1f} M/s")
    return Measurement(
        value=ways.speedup,
        unit="times",
        clocks=ways.on_dies.clocks + ways.elsewhere.clocks,
        note=f"{ways.on_dies.parameters_per_second / 1e6:,.1f} M/s on the dies,"
        f" {ways.elsewhere.parameters_per_second / 1e6:,.1f} M/s {'; '.join(parts)};"
        f" OptimStore: {published} times",
    )


def update_energy_ratio(
    device: Device, recorder: ArrayRecorder, case: Case, link: HostLink, quick: bool = False
) -> Measurement:
    """How many times more energy a step takes on the host than on the dies, by `energy.EnergyModel`."""
    ways = compare(device, recorder, case, link, quick)
    on_dies = energy(device.config, _work(device.config, case, ways.on_dies, None))
    on_host = energy(device.config, _work(device.config, case, ways.elsewhere, link))
    return Measurement(
        value=on_host.total / on_dies.total,
        unit="times",
        clocks=ways.on_dies.clocks + ways.elsewhere.clocks,
        note=f"nJ per parameter on the dies: {_nanojoules(on_dies, ways.on_dies)}; on the host:"
        f" {_nanojoules(on_host, ways.elsewhere)}; OptimStore: {OPTIMSTORE_ENERGY} times",
    )


def _settle(device: Device) -> None:
    """Until everything is erased that was dropped."""
    config = device.config
    for _ in range(4 * config.geometry.zones):
        if device.link.read_register(Register.STATE) & State.IDLE:
            return
        device.link.run(config.timing.clocks("tbers"))
    raise BenchmarkError(f"{config.name!r} does not come to rest")


def _link_bytes(case: Case) -> int:
    """Bytes per parameter across the link, the busier way: state and gradient there, state back."""
    return 4 * len(PROGRAMS[case.code].outputs) + case.gradient_bytes


def _work(config: FmsConfig, case: Case, run: UpdateRun, link: HostLink | None) -> Work:
    """What a run did; without a link it was on the dies."""
    state = 4 * len(PROGRAMS[case.code].outputs)
    operations = run.parameters * PROGRAMS[case.code].count(*_BINARY_OPERATIONS)
    copy = 0 if case.copy is CopyFormat.NONE else 2
    channel = case.gradient_bytes + copy if link is None else 2 * state
    crossing = 0 if link is None else 2 * state + case.gradient_bytes
    return Work(
        programs=run.count(ArrayKind.PROGRAM),
        senses=run.count(ArrayKind.SENSE),
        channel_bytes=channel * run.parameters,
        link_bytes=crossing * run.parameters,
        operations=operations if link is None else 0,
        host_operations=0 if link is None else operations,
    )


def _nanojoules(spent: Energy, run: UpdateRun) -> str:
    parts = {"array": spent.array, "channel": spent.channel, "link": spent.link, "computing": spent.computing}
    return ", ".join(f"{name} {joules / run.parameters * 1e9:.3f}" for name, joules in parts.items())


def _shares(config: FmsConfig, run: UpdateRun, where: str) -> str:
    """How busy the arrays were elsewhere."""
    g, t = config.geometry, config.timing
    dies = g.channels * g.dies
    programs = run.count(ArrayKind.PROGRAM) / g.planes * t.clocks("tprog") / dies / run.clocks
    senses = run.count(ArrayKind.SENSE) / g.planes * t.clocks("tr") / dies / run.clocks
    return f"{where}, where dies program {programs:.0%} and sense {senses:.0%} of the time"
