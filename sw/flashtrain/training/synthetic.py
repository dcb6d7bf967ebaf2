"""The machine of a replayed training command sequence: it makes up data, and checks it when it returns."""

from collections.abc import Sequence
from typing import NamedTuple
from zlib import crc32

import numpy as np

from flashtrain.numerics import Constants, update
from flashtrain.spec.optimizer import PROGRAMS
from flashtrain.training.arrays import FLOAT32, Array, Arrays, ArraySpec
from flashtrain.training.errors import ReplayError
from flashtrain.training.sequence import Compute, StreamRole, TrainingSequence, Update


class SyntheticMachine:
    """Gives made-up bytes, new ones each time, and checks that it takes what it gave last under a name.

    The dies update numbers, so it checks the weights against its own arithmetic.
    """

    def __init__(self, sequence: TrainingSequence) -> None:
        self._sequence = sequence
        self._versions: dict[str, int] = {}
        self._state: dict[str, _State] = {}

    def compute(self, step: Compute, tensors: Arrays) -> Arrays:
        for name, array in tensors.items():
            expected = self._current(name)
            if array.tobytes() != expected.tobytes():
                wrong = np.flatnonzero(_bytes(array) != _bytes(expected))
                raise ReplayError(
                    f"{name}, version {self._versions[name]}: {len(wrong)} of {array.nbytes} bytes came back"
                    f" wrong, the first at {wrong[0]}"
                )
        for name in step.gives:
            self._versions[name] = self._versions.get(name, -1) + 1
            self._state.pop(name, None)
        return {name: self._current(name) for name in step.gives}

    def updated(self, steps: Sequence[Update], committed: bool) -> None:
        pairs = [pair for step in steps for pair in zip(step.tensors, step.gradients, strict=True)]
        if not committed:
            names = ", ".join(name for name, _ in pairs)
            raise ReplayError(f"the update of {names} was skipped: its gradients are finite")
        assert self._sequence.state is not None
        program = PROGRAMS[self._sequence.state.program]
        words = self._current(steps[0].constants).view(np.uint32)
        constants = Constants.from_words(program.code, tuple(int(word) for word in words))
        for name, gradient in pairs:
            w = self._current(name)
            m, v = (None if output is None else np.zeros_like(w) for output in (program.m, program.v))
            state = self._state.get(name, _State(w, m, v))
            after = update(constants, self._current(gradient), state.w, state.m, state.v)
            self._state[name] = _State(after.w, after.m, after.v)
            self._versions[name] += 1

    def _current(self, name: str) -> Array:
        if name in self._state:
            return self._state[name].w
        tensor = self._sequence.by_name[name]
        numbers = tensor.stream in (StreamRole.STATE, None)
        return made_up(name, tensor.spec, self._versions[name], numbers)


class _State(NamedTuple):
    """Weights that the dies update, and what the optimizer keeps for them."""

    w: Array
    m: Array | None
    v: Array | None


def made_up(name: str, spec: ArraySpec, version: int, numbers: bool = False) -> Array:
    """Random bytes as an array of `spec`, or float32 numbers from 1/2 to 1; from `name` and `version`."""
    random = np.random.default_rng([crc32(name.encode()), version])
    if numbers and spec.dtype == FLOAT32:
        return (random.random(spec.shape, np.float32) + 1) / 2
    return np.frombuffer(random.bytes(spec.bytes), spec.numpy).reshape(spec.shape)


def _bytes(array: Array) -> Array:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
