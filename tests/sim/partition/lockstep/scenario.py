"""The same commands for two Links in turn, and the comparison of all that their hardware did."""

from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from flashtrain.host import StreamFull, TensorGroup, open_device
from flashtrain.host.queues.command_errors import MediaError
from flashtrain.sim.link.pins import pin_names
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec.optimizer import Input, OptimizerCode
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.training.optimizers import Adam

LOST = 0, 0
"""The channel and the die that goes offline."""


class Difference(AssertionError):
    """Two simulations differ; the message names the pin or the record and the first cycle."""


def scenario(link: RtlLink, seed: int) -> Iterator[str]:
    """Appends, reads, updates, resets, a loss of power and a die that goes offline; yields after each."""
    rng = np.random.default_rng(seed)
    geometry = link.config.geometry

    def content(blocks: int) -> np.ndarray:
        return rng.integers(0, 256, (blocks, geometry.page_bytes), np.uint8)

    device = open_device(link=link, node=UPDATE_NODE, factory=True)
    yield "enable"
    trained, activations = device.stream("trained"), device.stream("activations")
    stored = [trained.append(content(blocks)) for blocks in (1, 9)]
    held = activations.append(content(12))
    yield "appends"
    for array in stored:
        trained.read(array)
    activations.read(held)
    yield "reads"
    adam, shape = Adam(0.01), (geometry.page_bytes // 4,)
    state = device.optimizer_state([TensorGroup(OptimizerCode.ADAM, (shape,))])
    state.initialise([[rng.standard_normal(shape).astype(np.float32)]])
    for step in (1, 2):
        state.update([[rng.standard_normal(shape).astype(np.float32)]], [adam.constants(step)])
        state.commit()
    state.read(Input.W)
    yield "updates"
    activations.reset()
    activations.append(content(3))
    yield "reset"
    device.channel_counters()
    device.counters()
    yield "counters"
    trained.append_async(content(7))
    link.run(1_500)
    link.power_cycle()
    yield "loss of power"
    device = open_device(link=link, node=UPDATE_NODE, recover=True)
    yield "recovery"
    device.disable()
    device = open_device(link=link, node=UPDATE_NODE, factory=False)
    stream = device.stream("activations")
    held = stream.append(content(4))
    stream.flush()
    link.hang_die(*LOST)
    # A read first: its polls follow each other faster than those of a program.
    with suppress(MediaError):
        stream.read(held)
    with suppress(MediaError, StreamFull):
        stream.append(content(8))
        stream.flush()
    device.channel_counters()
    yield "die offline"


def compare(link: RtlLink, other: RtlLink, seed: int) -> dict[str, int]:
    """Run the scenario on both, step by step; the cycles of each step. Raises `Difference`."""
    names, cycles = pin_names(link.config), dict[str, int]()
    links = (link, other)
    for side in links:
        side.log_pins(True)
        side.set_tracing(True)
    runs = [scenario(side, seed) for side in links]
    while True:
        before, outcomes = link.cycles, [_next(run) for run in runs]
        _compare_logs(*links, names)
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                raise outcome
        if outcomes[0] is None:
            return cycles
        cycles[outcomes[0]] = link.cycles - before


def _next(run: Iterator[str]) -> str | Exception | None:
    """The step that ended, or the error that ended it: logs tell more of a difference."""
    try:
        return next(run, None)
    except Exception as error:
        return error


def _compare_logs(link: RtlLink, other: RtlLink, names: list[str]) -> None:
    ours, theirs = link.take_pin_changes(), other.take_pin_changes()
    common = min(len(ours), len(theirs))
    unequal = np.flatnonzero(ours[:common] != theirs[:common])
    if len(unequal) or len(ours) != len(theirs):
        at = int(unequal[0]) if len(unequal) else common
        first = min((log[at] for log in (ours, theirs) if at < len(log)), key=lambda change: change["clock"])
        clock = int(first["clock"])
        pins = {int(p) for log in (ours, theirs) for p in log[at:]["pin"][log[at:]["clock"] == clock]}
        different = sorted(pin for pin in pins if _value(ours, pin, clock) != _value(theirs, pin, clock))
        said = ", ".join(names[pin] for pin in different[:8])
        raise Difference(f"cycle {clock}: {said} differ between the parts and the whole")
    # Within a cycle the models have no order.
    records = [
        np.sort(side.take_trace(), order=["end", "start", "kind", "channel"]) for side in (link, other)
    ]
    for record, of_other in zip(*records, strict=False):
        if record != of_other:
            raise Difference(f"the trace has {record} in the parts and {of_other} in the whole")
    if len(records[0]) != len(records[1]):
        raise Difference(f"the trace has {len(records[0])} records, and {len(records[1])} in the whole")
    if link.cycles != other.cycles:
        raise Difference(f"the parts are at cycle {link.cycles}, the whole at {other.cycles}")
    wrong = np.flatnonzero(link.memory != other.memory)
    if len(wrong):
        raise Difference(f"cycle {link.cycles}: the tensor buffer differs at byte {wrong[0]}")


def _value(log: np.ndarray, pin: int, clock: int) -> int | None:
    """The pin's last change up to this cycle."""
    changes = log[(log["pin"] == pin) & (log["clock"] <= clock)]
    return int(changes[-1]["value"]) if len(changes) else None
