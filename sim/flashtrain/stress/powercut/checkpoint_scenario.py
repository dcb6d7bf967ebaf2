"""Checkpoints that are saved, restored and deleted, as a scenario.

A small optimizer state on the dies is updated step after step. Each step is pinned as a checkpoint, or only
committed; now and then an older one is restored. Beside it, checkpoints of the same arrays are appended to a
stream, in the background of the steps. Their names have their step, from which their content follows.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from random import Random

import numpy as np

from flashtrain.checkpoint import AppendedCheckpoints, PinnedCheckpoints, arrays_of, load
from flashtrain.host import Device, OptimizerState, StateMissing, TensorGroup
from flashtrain.spec import FmsConfig, NodeTable
from flashtrain.spec.optimizer import OptimizerCode
from flashtrain.stress.workload import node_of
from flashtrain.training.arrays import FloatArray
from flashtrain.training.optimizers import Adam

from .lost import Lost
from .survival import Survival

SIZES = ((40,), (9, 13))
OPTIMIZER = Adam(0.01)
GROUP = TensorGroup(OptimizerCode.ADAM, SIZES)
Contents = Mapping[str, FloatArray]


class CheckpointScenario:
    """Steps of training with checkpoints; a step is one iteration.

    The run notes what is acknowledged before and after each operation. A loss of power in the midst of one
    leaves what was before it, or what is after it.
    """

    def __init__(self, seed: int, iterations: int) -> None:
        self.on_append: Callable[[], None] = lambda: None
        self._seed = seed
        self._iterations = iterations
        self._contents = [_initial(seed)]
        self._current: list[int | None] = [None]  # steps of the current generation that may be found
        self._pinned: list[frozenset[str]] = [frozenset()]  # sets of names that may be found
        self._stored: list[frozenset[str]] = [frozenset()]

    def node(self, config: FmsConfig) -> NodeTable:
        return node_of(config)

    def run(self, device: Device) -> None:
        random = Random(f"{self._seed}/operations")
        state = device.optimizer_state([GROUP])
        with self._current_becomes(0):
            _initialise(state, self._content(0))
        pins, stored = PinnedCheckpoints(state), AppendedCheckpoints(device)
        for number in range(self._iterations):
            self._step(random, state, pins, stored)
            self._save(random, number, state, stored)
            if random.random() < 0.3:
                self._restore(random, pins)
        with self._stored_becomes(self._stored[-1]):
            stored.wait()

    def judge(self, device: Device, survival: Survival) -> None:
        stored = AppendedCheckpoints(device)
        self._judge_stored(stored, survival)
        state = self._judge_state(device, survival)
        # It works on.
        stored.reclaim()
        step = state.current.updates
        _update(state, self._seed, step)
        pins = PinnedCheckpoints(state)
        pins.commit("again")
        self._compare(pins.load("again"), step + 1, "a step after the recovery")
        for one in stored.checkpoints:
            stored.delete(one.name)
        stored.save_async("again", step, dict(self._content(step))).result()
        self._compare(load(stored, "again"), step, "a checkpoint saved after the recovery")

    # The run.

    def _step(
        self, random: Random, state: OptimizerState, pins: PinnedCheckpoints, stored: AppendedCheckpoints
    ) -> None:
        step = state.current.updates
        _update(state, self._seed, step)
        stored.advance()
        self.on_append()
        if random.random() < 0.7:
            name = self._name(step + 1)
            before = [one.name for one in pins.checkpoints]
            kept = before[1:] if len(before) >= pins.most else before
            with self._current_becomes(step + 1), self._pinned_becomes({*kept, name}):
                pins.commit(name, _host(name))
        else:
            with self._current_becomes(step + 1):
                state.commit(_host(self._name(step + 1)))
        stored.advance()

    def _save(self, random: Random, number: int, state: OptimizerState, stored: AppendedCheckpoints) -> None:
        """Now and then begin to save a checkpoint; the one before is deleted when the next one is due."""
        if random.random() < 0.5:
            return
        stored.wait()
        self._stored = self._stored[-1:]
        for one in stored.checkpoints[:-1]:
            with self._stored_becomes(self._stored[-1] - {one.name}):
                stored.delete(one.name)
        step = state.current.updates
        name = f"{number} {self._name(step)}"
        self.on_append()
        # It may be there from now on, and is for certain when it was waited for.
        self._stored = [*self._stored, self._stored[-1] | {name}]
        saving = stored.save_async(name, step, dict(self._content(step)), _host(name))
        if random.random() < 0.4:
            saving.result()
            self._stored = self._stored[-1:]

    def _restore(self, random: Random, pins: PinnedCheckpoints) -> None:
        chosen = random.choice(pins.checkpoints) if pins.checkpoints else None
        if chosen is None:
            return
        with self._current_becomes(chosen.step):
            pins.restore(chosen.name)

    @contextmanager
    def _current_becomes(self, step: int) -> Iterator[None]:
        self._current = [*self._current[-1:], step]
        yield
        self._current = [step]

    @contextmanager
    def _pinned_becomes(self, names: set[str]) -> Iterator[None]:
        self._pinned = [*self._pinned[-1:], frozenset(names)]
        yield
        self._pinned = self._pinned[-1:]

    @contextmanager
    def _stored_becomes(self, names: frozenset[str]) -> Iterator[None]:
        self._stored = [*self._stored, names]
        yield
        self._stored = [names]

    # The judgement.

    def _judge_stored(self, stored: AppendedCheckpoints, survival: Survival) -> None:
        names = frozenset(one.name for one in stored.checkpoints)
        if names not in self._stored:
            raise Lost(f"checkpoints in the stream: {_shown([names])}; expected {_shown(self._stored)}")
        for name in names:
            if stored.manifest(name).host != _host(name):
                raise Lost(f"checkpoint {name!r} in the stream: its host state is wrong")
            self._compare(load(stored, name), _number(name), f"checkpoint {name!r} in the stream")
            survival.checkpoints += 1

    def _judge_state(self, device: Device, survival: Survival) -> OptimizerState:
        try:
            state = device.optimizer_state([GROUP], recovered=True)
        except StateMissing:
            if None not in self._current:
                raise Lost(f"the state is missing; expected that of step {self._current}") from None
            survival.none += 1
            state = device.optimizer_state([GROUP])
            _initialise(state, self._content(0))
            return state
        step = state.current.updates
        if step not in self._current:
            raise Lost(f"the state is that of step {step}; expected one of {self._current}")
        self._compare(arrays_of(state), step, "the current generation")
        pins = PinnedCheckpoints(state)
        names = frozenset(one.name for one in pins.checkpoints)
        if names not in self._pinned:
            raise Lost(f"pinned checkpoints: {_shown([names])}; expected {_shown(self._pinned)}")
        for one in pins.checkpoints:
            if one.step != _number(one.name) or pins.host(one.name) != _host(one.name):
                raise Lost(f"pinned checkpoint {one.name!r}: step {one.step}, or its host state, is wrong")
            self._compare(pins.load(one.name), one.step, f"pinned checkpoint {one.name!r}")
            survival.checkpoints += 1
        survival.after += step == self._current[-1]
        survival.before += step != self._current[-1]
        return state

    def _compare(self, found: Contents, step: int, what: str) -> None:
        expected = self._content(step)
        if found.keys() != expected.keys():
            raise Lost(f"{what} has {list(found)}; expected {list(expected)}")
        for name, array in expected.items():
            if found[name].tobytes() != array.tobytes():
                raise Lost(f"{what}: array {name} is not that of step {step}")

    # The contents.

    def _name(self, step: int) -> str:
        return f"step {step}"

    def _content(self, step: int) -> Contents:
        """Weights and state after so many steps, by plain NumPy."""
        while len(self._contents) <= step:
            self._contents.append(_stepped(self._contents[-1], self._seed, len(self._contents) - 1))
        return self._contents[step]


def _initial(seed: int) -> Contents:
    random = np.random.default_rng(seed)
    weights = [random.standard_normal(size).astype(np.float32) for size in SIZES]
    zeros = [np.zeros_like(w) for w in weights]
    return {
        f"0/{number}/{array}": values
        for array, tensors in (("w", weights), ("m", zeros), ("v", zeros))
        for number, values in enumerate(tensors)
    }


def _gradients(seed: int, step: int) -> list[FloatArray]:
    random = np.random.default_rng((seed, step))
    return [random.standard_normal(size).astype(np.float32) for size in SIZES]


def _stepped(before: Contents, seed: int, step: int) -> Contents:
    after = {}
    for number, gradient in enumerate(_gradients(seed, step)):
        w, m, v = (before[f"0/{number}/{array}"].reshape(-1) for array in "wmv")
        w, state = OPTIMIZER.step(w, gradient.reshape(-1), {"m": m, "v": v}, step + 1)
        for array, values in (("w", w), ("m", state["m"]), ("v", state["v"])):
            after[f"0/{number}/{array}"] = values.reshape(gradient.shape)
    return {name: after[name] for name in before}


def _initialise(state: OptimizerState, content: Contents) -> None:
    state.initialise([[content[f"0/{number}/w"] for number in range(len(SIZES))]])


def _update(state: OptimizerState, seed: int, step: int) -> None:
    state.update([_gradients(seed, step)], [OPTIMIZER.constants(step + 1)])


def _host(name: str) -> bytes:
    """The state of the host that belongs to a checkpoint."""
    return f"host of {name}".encode() * 20


def _number(name: str) -> int:
    """The step in a name."""
    return int(name.split()[-1])


def _shown(sets: list[frozenset[str]]) -> str:
    return " or ".join(str(sorted(one)) for one in sets)
