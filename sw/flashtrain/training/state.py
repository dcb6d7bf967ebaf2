"""Weights of a training command sequence that live on the dies, with their optimizer state."""

from collections.abc import Callable, Sequence, Set
from typing import Any

import numpy as np

from flashtrain.host import Device, StateUpdate, TensorGroup
from flashtrain.host.queues.command_log import labelled
from flashtrain.host.queues.pending import Pending
from flashtrain.host.state.state_update import GroupCopies
from flashtrain.numerics import Constants
from flashtrain.spec import Port
from flashtrain.spec.optimizer import GradientFormat, Input, OptimizerCode
from flashtrain.training.arrays import Array, FloatArray
from flashtrain.training.awaited import Awaited
from flashtrain.training.commits import PLAIN, Commits
from flashtrain.training.errors import TensorError
from flashtrain.training.sequence import StreamRole, TensorInfo
from flashtrain.training.traffic import Traffic, UpdateTraffic


class StateStore:
    """The state stream of a training command sequence, on `device`: all its tensors are one group.

    Made of the weights of `tensors`, with state that is zeros; or attached to what the device has recovered,
    if `arrays` is None. Raises what the driver raises, and `TensorError` for tensors that are not there.
    """

    def __init__(
        self, device: Device, tensors: Sequence[TensorInfo], arrays: Sequence[Array] | None,
        program: OptimizerCode, port: Port, commits: Commits = PLAIN,
    ) -> None:  # fmt: skip
        if program is OptimizerCode.ADAMW_SCHEDULE_FREE and arrays is not None:
            raise TensorError(f"state of {program.name} begins with the weights; expected a program of zeros")
        geometry = device.config.geometry
        group = TensorGroup(program, tuple(tensor.spec.shape for tensor in tensors))
        self._device = device
        self._program = program
        self._numbers = {tensor.name: number for number, tensor in enumerate(tensors)}
        self._layout = group.layout(geometry)
        self._commits = commits
        self._under_way: StateUpdate | None = None
        self._missing: Set[str] = set()  # in the update under way
        self._started = 0
        recovered = arrays is None
        self._state = device.optimizer_state([group], StreamRole.STATE.streams, port, recovered)
        self._tiles = self._state.rows(0) * geometry.channels
        self.updates = UpdateTraffic.on(device.config, self._layout.tile)
        self.traffic = Traffic()
        if arrays is not None:
            self._state.initialise([arrays])
            self.traffic = Traffic(
                appends=len(tensors),
                appended_bytes=sum(array.nbytes for array in arrays),
                stored_bytes=self._tiles * geometry.page_set_bytes,
            )

    @property
    def committed(self) -> int:
        """Steps that were committed."""
        return self._state.current.updates

    @property
    def host(self) -> bytes:
        """The state of the host of the current generation."""
        return self._commits.host(self._state)

    def read(self, name: str, port: Port) -> Awaited[Array, Array]:
        """Read the current weights called `name` into a new array."""

        def arrived(array: Array) -> Array:
            self.traffic.reads += 1
            self.traffic.read_bytes += array.nbytes
            return array

        return Awaited(self._device, self._read(name, Input.W, port), arrived)

    def peek(self, name: str, array: Input = Input.W, port: Port = Port.CORE) -> FloatArray:
        """The current weights called `name`, or what the optimizer keeps for them; not counted as traffic."""
        return self._read(name, array, port).result()

    def update(
        self,
        tensors: Sequence[TensorInfo],
        gradients: Sequence[Array],
        constants: Array,
        host: Callable[[], bytes] = bytes,
    ) -> Awaited[Any, bool | None]:
        """Update tensors by these gradients, without waiting; the result is whether that was committed.

        Of some tensors it begins an update, or goes on with it, and the result is None. With the last ones
        that update ends. host: gives the state of the host after a commit.

        The step is skipped when a gradient has a NaN or an infinity; the dies have counted them. (Sums of
        squares that are infinite are no reason: nobody asks for the norm.)
        """
        given = {tensor.name: gradient for tensor, gradient in zip(tensors, gradients, strict=True)}
        missing = self._missing or self._numbers.keys()
        if not given or not given.keys() <= missing:
            raise TensorError(f"update of {', '.join(given)}; expected {', '.join(missing)}")
        words = Constants.from_words(self._program, tuple(int(word) for word in constants.view(np.uint32)))
        with labelled(" ".join(given)):
            if self._under_way is None:
                self._started = self._device.cycles
                if given.keys() == missing:
                    every = [given[name] for name in self._numbers]
                    self._under_way = self._state.update_async([every], [words])
                else:
                    self._under_way = self._state.begin([words])
            if given.keys() < self._numbers.keys():
                for name, gradient in given.items():
                    self._under_way.give(0, self._numbers[name], gradient)
        under_way, self._missing = self._under_way, missing - given.keys()
        if self._missing:
            return Awaited(self._device, _Sent(under_way.sent), lambda _: None)
        self._under_way = None

        def finish(copies: list[GroupCopies]) -> bool:
            overflow = any(die.nans + die.infinities for dies in self._state.statistics for die in dies)
            if overflow:
                self._state.skip()
            else:
                self._commits.commit(self._state, host())
            updates = self.updates
            updates.updates += 1
            updates.skips += overflow
            updates.parameters += self._layout.parameters
            updates.tiles += self._tiles
            updates.gradient_bytes += self._layout.parameters * GradientFormat.FP32.bytes
            updates.copy_bytes += sum(copy.nbytes for group in copies if group for copy in group)
            updates.cycles += self._device.cycles - self._started
            return not overflow

        return Awaited(self._device, under_way, finish)

    def _read(self, name: str, array: Input, port: Port) -> Awaited[Array, FloatArray]:
        if name not in self._numbers:
            raise TensorError(f"stream {StreamRole.STATE}: no tensor {name} is stored")
        stored = self._state.locate(array, 0, self._numbers[name])
        with labelled(name):
            reading = self._device.stream(stored.stream, port).read_async(stored.pages)
        return Awaited(self._device, reading, stored.array)


class _Sent:
    """Commands of an update that goes on after them."""

    def __init__(self, pendings: Sequence[Pending[Any]]) -> None:
        self._pendings = pendings

    @property
    def done(self) -> bool:
        return all(pending.done for pending in self._pendings)

    def result(self) -> None:
        """Nothing: failures are those of the whole update."""
