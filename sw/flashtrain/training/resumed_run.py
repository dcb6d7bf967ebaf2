"""Steps and running arrays of a run as the note of a commit has them, and back."""

from dataclasses import replace

import numpy as np

from flashtrain.training.arrays import pack, unpack
from flashtrain.training.errors import PositionError
from flashtrain.training.networks import Network, Parameters
from flashtrain.training.run_identity import RunIdentity
from flashtrain.training.run_position import RunPosition
from flashtrain.training.step_policy import RunSteps


def position_of(run: RunIdentity, iterations: int, steps: RunSteps, running: Parameters) -> RunPosition:
    """The position of `run` after `iterations`."""
    arrays = [pack(own, {key: array.shape for key, array in own.items()}) for own in running.values()]
    scale = steps.scale
    return RunPosition(
        iterations, steps.committed, scale.value, scale.good_steps,
        running=b"".join(array.tobytes() for array in arrays), run=run,
    )  # fmt: skip


def resumed_steps(first: RunSteps, position: RunPosition) -> RunSteps:
    """The steps at the position; those before the first one if no iteration was complete."""
    if not position.iterations:
        return first
    scale = replace(first.scale, value=position.loss_scale, good_steps=position.good_steps)
    return replace(first, committed=position.committed, scale=scale)


def resumed_running(network: Network, position: RunPosition) -> Parameters:
    """The running arrays at the position; :class:`PositionError` if they are of another network."""
    running = network.first_running()
    if not position.iterations:
        return running
    sizes = {name: sum(array.nbytes for array in own.values()) for name, own in running.items()}
    if len(position.running) != sum(sizes.values()):
        raise PositionError(
            f"the note of the state has {len(position.running)} bytes of running arrays; expected the"
            f" {sum(sizes.values())} of network {network.name}"
        )
    start = 0
    for name, own in running.items():
        vector = np.frombuffer(position.running, np.float32, sizes[name] // 4, start).copy()
        running[name] = unpack(vector, {key: array.shape for key, array in own.items()})
        start += sizes[name]
    return running
