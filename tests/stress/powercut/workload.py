"""What a user does while the power may fail at any time, and what he must find afterwards."""

from collections.abc import Callable
from random import Random

import numpy as np

from flashtrain.host import CodedStream, CommandError, Device, StoredArray, StreamFull, TensorGroup
from flashtrain.spec import NodeTable, Port, ZoneState
from flashtrain.spec.optimizer import Input, OptimizerCode
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.stress.powercut.under_way import judge_encoded
from flashtrain.training.optimizers import SGD

OPTIMIZER = SGD(0.5)
RETIRED = (ZoneState.READ_ONLY, ZoneState.OFFLINE)
GROUP = TensorGroup(OptimizerCode.SGD, ((700,),))
PLAIN = {"append", "append_many", "volatile", "reset", "reset_zone", "retire"}
ACTIONS = PLAIN | {"update", "renew", "pin"}


class Workload:
    """What a user does, and what he may expect to find afterwards.

    node: a table with the streams of `SINGLE_NODE`; the dies update state in `UPDATE_NODE` alone.

    kept: acknowledged arrays by stream; doubtful: those which a change that was not acknowledged has removed
    or not, all or none of them; gone: those which one has removed
    that was; begun: arrays whose append was begun since the last reset of the stream; retired: zones of
    stream `weights`, and perhaps `retiring`; weights: those the state may have.
    """

    def __init__(self, random: Random, node: NodeTable = UPDATE_NODE) -> None:
        self.random = random
        self.node = node
        self.updated = node is UPDATE_NODE
        self.kept: dict[str, list[tuple[StoredArray, np.ndarray]]] = {"inputs": [], "trained": []}
        self.doubtful: list[list[tuple[StoredArray, np.ndarray]]] = []
        self.begun: dict[str, list[np.ndarray]] = {"inputs": [], "trained": []}
        self.gone: list[tuple[StoredArray, np.ndarray]] = []
        self.retired: dict[int, ZoneState] = {}
        self.retiring: dict[int, ZoneState] = {}
        self.weights: list[np.ndarray] = []
        self.updates: list[int] = []
        self.done: dict[str, int] = {}
        self.noise = np.random.default_rng(random.randrange(1 << 32))

    def begin(self, device: Device) -> None:
        self.device = device
        if not self.updated:
            return
        self.state = device.optimizer_state([GROUP])
        w = self._vector()
        self.state.initialise([[w]])
        self.weights, self.updates = [w], [0]

    def step(self) -> None:
        shares: dict[Callable[[], None], float] = {
            self.append: 6, self.append_many: 4, self.volatile: 2, self.reset: 1, self.reset_zone: 2,
            self.update: 4, self.renew: 1, self.pin: 1, self.retire: 0.5,
        }  # fmt: skip
        if not self.updated:
            shares = {action: share for action, share in shares.items() if action.__name__ in PLAIN}
        action = self.random.choices(list(shares), list(shares.values()))[0]
        action()
        self.done[action.__name__] = self.done.get(action.__name__, 0) + 1

    def append(self) -> None:
        name = self.random.choice(list(self.kept))
        array = self._array()
        self.begun[name].append(array)
        try:
            self.kept[name].append((self._stream(name).append(array), array))
        except StreamFull:
            self.reset(name)

    def append_many(self) -> None:
        name = self.random.choice(list(self.kept))
        arrays = [self._array() for _ in range(3)]
        self.begun[name] += arrays
        try:
            pendings = [self._stream(name).append_async(array) for array in arrays]
        except StreamFull:
            return
        for pending, array in zip(pendings, arrays, strict=True):
            self.kept[name].append((pending.result(), array))

    def volatile(self) -> None:
        stream = self.device.stream("activations")
        try:
            stream.append(self._array())
        except StreamFull:
            stream.reset()

    def reset(self, name: str | None = None) -> None:
        name = name or self.random.choice(list(self.kept))
        self._doubt(name, lambda stored: True)
        if self.random.random() < 0.5:
            self._stream(name).reset()
        else:
            self._stream(name).reset_async().result()
        self.begun[name].clear()
        self._forget()

    def reset_zone(self) -> None:
        name = self.random.choice(list(self.kept))
        stream = self._stream(name)
        zone = self.random.randrange(stream.zones)
        self._doubt(name, lambda stored: any(lba // stream.zone_size == zone for lba, _ in stored.extents))
        stream.reset_zone(zone)
        self._forget()

    def update(self) -> None:
        gradient, t = self._vector(), self.updates[0] + 1
        after, _ = OPTIMIZER.step(self.weights[0], gradient, OPTIMIZER.initial_state(gradient), t)
        self.state.update([[gradient]], [OPTIMIZER.constants(t)])
        if self.random.random() < 0.3:
            self.state.skip()
            return
        self.weights.append(after)
        self.updates.append(t)
        self.state.commit()
        del self.weights[0], self.updates[0]

    def renew(self) -> None:
        self.state.renew()

    def pin(self) -> None:
        """A checkpoint, for a moment."""
        generation = self.state.pin()
        if self.random.random() < 0.5:
            self.update()
        assert self.state.read(Input.W, generation)[0][0].size
        self.state.release(generation)

    def retire(self) -> None:
        """A zone of a stream that is not used otherwise."""
        stream = self._stream("weights")
        zone, state = self.random.randrange(stream.zones), self.random.choice(RETIRED)
        if self.retired.get(zone) not in (ZoneState.OFFLINE, state):
            self.retiring = {zone: state}
            stream.retire_zone(zone, state)
            self.retired |= self.retiring
            self.retiring = {}

    def check(self, device: Device) -> None:
        """After a recovery: all is there, and then nothing is in doubt any more."""
        other, self.device = device is not self.device, device
        if other:  # it refuses the handles of the one before
            self.kept = {
                name: [(self._again(stored), array) for stored, array in arrays]
                for name, arrays in self.kept.items()
            }
        for group in self.doubtful:
            if any(self._is_there(*entry) for entry in group):
                # All have to be. The driver refuses their handles: it had begun to drop them.
                self.kept[self._name(group[0][0])] += [(self._again(s), array) for s, array in group]
                group.clear()
        self._forget()
        for name, arrays in self.kept.items():
            for stored, array in arrays:
                assert np.array_equal(self.device.stream(name).read(stored), array), (name, stored)
        for entry in self.gone:
            assert not self._is_there(*entry), entry[0]
        for name, arrays in self.begun.items():
            stream = device.stream(name)
            if isinstance(stream, CodedStream):
                judge_encoded(stream, arrays)
        activations = device.stream("activations")
        assert all(zone.room == zone.capacity for zone in activations.report())
        report = enumerate(device.stream("weights").report())
        states = {number: zone.state for number, zone in report if zone.state in RETIRED}
        assert states in (self.retired, self.retired | self.retiring), (states, self.retired)
        self.retired, self.retiring = states, {}
        if self.updated:
            self._check_state()

    def _check_state(self) -> None:
        self.state = self.device.optimizer_state([GROUP], recovered=True)
        found = self.state.read(Input.W)[0][0]
        matches = [i for i, w in enumerate(self.weights) if w.tobytes() == found.tobytes()]
        assert matches, "the weights are neither those before the step nor those after it"
        self.weights, self.updates = [self.weights[matches[-1]]], [self.updates[matches[-1]]]
        assert self.state.current.updates == self.updates[0]
        for generation in self.state.pinned:
            self.state.release(generation)

    def _is_there(self, stored: StoredArray, array: np.ndarray) -> bool:
        """Whether the device still has the array, even if the driver would refuse its handle."""
        try:
            return np.array_equal(self.device.stream(self._name(stored)).read(self._again(stored)), array)
        except CommandError:
            return False

    def _again(self, stored: StoredArray) -> StoredArray:
        """A handle of what the same blocks hold now."""
        stream = self.device.stream(self._name(stored))
        blocks = [stored.data_blocks] if stored.data_blocks else []
        return stream.stored_at(stored.extents, stored.shape, stored.dtype, *blocks)

    def _forget(self) -> None:
        """What was in doubt is gone."""
        self.gone = [*self.gone, *(entry for group in self.doubtful for entry in group)][-50:]
        self.doubtful.clear()

    def _doubt(self, name: str, concerned: Callable[[StoredArray], bool]) -> None:
        group = [entry for entry in self.kept[name] if concerned(entry[0])]
        self.kept[name] = [entry for entry in self.kept[name] if not concerned(entry[0])]
        if group:
            self.doubtful.append(group)

    def _name(self, stored: StoredArray) -> str:
        return next(stream.name for stream in self.node.streams if stream.nsid == stored.nsid)

    def _stream(self, name: str):
        return self.device.stream(name, Port.HOST if name == "inputs" else Port.CORE)

    def _array(self) -> np.ndarray:
        size = self.random.randint(20, 6 * 512)
        if self.random.random() < 0.5:
            return self.noise.standard_normal(size // 4).astype(np.float32)
        return self.noise.integers(0, 256, size, np.uint8)

    def _vector(self) -> np.ndarray:
        return self.noise.standard_normal(700).astype(np.float32)
