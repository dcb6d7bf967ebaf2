"""The time of a commit that pins its generation and releases the older one, beside that of a plain commit."""

from collections.abc import Callable

import numpy as np

from flashtrain.checkpoint import PinnedCheckpoints
from flashtrain.host import Device, OptimizerState, TensorGroup
from flashtrain.spec.optimizer import OptimizerCode
from flashtrain.training.optimizers import Adam

from .measurement import Measurement

PARAMETERS = 100_000
QUICK_PARAMETERS = 500
ASKED_US = 1.0
STEPS = 4
"""Pairs of commits; the first pin has nothing to release and is not counted."""
HOST = bytes(20)
"""The state of the host of each commit."""


def checkpoint_pin(device: Device, quick: bool = False) -> Measurement:
    """Microseconds by which a commit with a pin takes longer, on an idle device."""
    parameters = QUICK_PARAMETERS if quick else PARAMETERS
    state = device.optimizer_state([TensorGroup(OptimizerCode.ADAM, ((parameters,),))])
    state.initialise([[np.ones(parameters, np.float32)]])
    pins = PinnedCheckpoints(state)
    begin = device.cycles
    pinned, plain = [], []
    for _ in range(STEPS + 1):
        _update(device, state, parameters)
        pinned.append(_timed(device, lambda: pins.commit(str(state.current.updates), HOST)))
        _update(device, state, parameters)
        plain.append(_timed(device, lambda: state.commit(HOST)))
    extra, each = np.mean(pinned[1:]) - np.mean(plain[1:]), np.mean(plain[1:])
    clock_mhz = device.config.timing.clock_mhz
    return Measurement(
        value=float(extra / clock_mhz),
        unit="us",
        cycles=device.cycles - begin,
        asked=f"at most {ASKED_US} us",
        met=bool(extra / clock_mhz <= ASKED_US),
        note=f"{extra:,.0f} cycles to pin a generation of {parameters:,} parameters and to release the older"
        f" one; a commit and its journal record take {each:,.0f}",
    )


def _update(device: Device, state: OptimizerState, parameters: int) -> None:
    """An update, after which the device is idle."""
    gradients = np.full(parameters, 0.5, np.float32)
    state.update([[gradients]], [Adam().constants(state.current.updates + 1)])
    device.link.run(8 * device.config.timing.cycles("tbers"))


def _timed(device: Device, commit: Callable[[], object]) -> int:
    begin = device.cycles
    commit()
    return device.cycles - begin
