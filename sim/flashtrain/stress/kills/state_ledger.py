"""The ledger of an optimizer's state on the dies: steps that were committed."""

from random import Random
from typing import Any

import numpy as np

from flashtrain.host import Device, StateMissing
from flashtrain.numerics import update
from flashtrain.stress.powercut.lost import Lost
from flashtrain.training.arrays import FloatArray
from flashtrain.training.flash_optimizer import FlashOptimizer
from flashtrain.training.optimizers import Adam

from .ledger import Note

_PARAMETERS = 100


class StateLedger:
    """Steps of Adam, each compared with NumPy's to the last bit."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._adam = Adam()
        self._steps: int | None = None  # that were acknowledged; None before the first weights were
        self._begun: int | None = None  # under way
        self._optimizer: FlashOptimizer | None = None
        w, zeros = self._random(0), np.zeros(_PARAMETERS, np.float32)
        self._expected: list[tuple[FloatArray, FloatArray, FloatArray]] = [(w, zeros, zeros)]

    def note(self, event: Any) -> None:
        match event:
            case ("stepping", steps):
                self._begun = steps
            case ("stepped", steps):
                self._steps, self._begun = steps, None

    def check(self, device: Device, note: Note) -> int:
        """The weights are those of the last step that was acknowledged, or of the one under way."""
        weights = np.zeros(_PARAMETERS, np.float32)
        try:
            self._optimizer = FlashOptimizer([weights], self._adam, device, recovered=True)
        except StateMissing as error:
            if self._steps is not None:
                raise Lost(f"the state after {self._steps} steps: {error}") from error
            return 0
        steps = self._optimizer.steps
        if steps not in (self._steps, self._begun):
            raise Lost(f"the state has {steps} steps; {self._steps} were acknowledged")
        if weights.tobytes() != self._weights(steps).tobytes():
            raise Lost(f"the weights after {steps} steps are wrong")
        note(("stepped", steps))
        return 1

    def act(self, device: Device, random: Random, note: Note) -> None:
        if self._optimizer is None:
            note(("stepping", 0))
            self._optimizer = FlashOptimizer([self._weights(0).copy()], self._adam, device)
            note(("stepped", 0))
            return
        steps = self._optimizer.steps
        note(("stepping", steps + 1))
        self._optimizer.step([self._random(steps + 1)])
        note(("stepped", steps + 1))

    def _weights(self, steps: int) -> FloatArray:
        while len(self._expected) <= steps:
            w, m, v = self._expected[-1]
            number = len(self._expected)
            after = update(self._adam.constants(number), self._random(number), w=w, m=m, v=v)
            assert after.m is not None and after.v is not None
            self._expected.append((after.w, after.m, after.v))
        return self._expected[steps][0]

    def _random(self, number: int) -> FloatArray:
        """The first weights, or the gradients of a step."""
        return np.random.default_rng([self._seed, number]).standard_normal(_PARAMETERS).astype(np.float32)
