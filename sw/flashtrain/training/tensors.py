"""Named tensors in the streams of a device.

A stream is only appended to, so a tensor is *superseded*: its new version is appended behind everything
else, and the old one is dropped. A reset of the stream drops all tensors. Streams are rings: a zone is reset
when it is full and all in it was dropped (`DeviceStream.drop`). A step of training therefore needs one handle
per name, and no tensor is ever copied to make room.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from flashtrain.host import Device, StoredArray
from flashtrain.host.queues.command_log import labelled
from flashtrain.spec import Port
from flashtrain.spec.optimizer import OptimizerCode
from flashtrain.training.arrays import Array
from flashtrain.training.awaited import Awaited, Finished
from flashtrain.training.commits import PLAIN, Commits
from flashtrain.training.errors import TensorError
from flashtrain.training.sequence import StreamRole, TensorInfo
from flashtrain.training.state import StateStore
from flashtrain.training.traffic import Traffic, UpdateTraffic


class TensorStore:
    """The current versions of named tensors in the stream called `stream` of `device`.

    Calls return at once with something to wait for. A new version is current, and counts, from when its
    append was waited for; until then a read gives the version before. Raises what the driver raises, and
    `TensorError` for a name that is not stored.
    """

    def __init__(self, device: Device, stream: str) -> None:
        self._device = device
        self._ports = {port: device.stream(stream, port) for port in Port}
        self._name = stream
        self._versions: dict[str, StoredArray] = {}
        self._reset_before = self._ports[Port.CORE].zones_reset
        self._traffic = Traffic()

    @property
    def traffic(self) -> Traffic:
        """The traffic so far."""
        zone_resets = self._ports[Port.CORE].zones_reset - self._reset_before
        return replace(self._traffic, zone_resets=zone_resets)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the tensors that have a current version."""
        return tuple(self._versions)

    def handle(self, name: str) -> StoredArray:
        """Where the current version of the tensor lies."""
        if name not in self._versions:
            raise TensorError(f"stream {self._name}: no tensor {name} is stored")
        return self._versions[name]

    def append(self, name: str, array: Array, port: Port) -> Awaited[StoredArray, None]:
        """Append a version of the tensor, which supersedes the one before."""
        stream = self._ports[port]

        def stored(handle: StoredArray) -> None:
            self._traffic.appends += 1
            self._traffic.appended_bytes += array.nbytes
            self._traffic.stored_bytes += handle.blocks * stream.block_bytes
            superseded = self._versions.get(name)
            self._versions[name] = handle
            if superseded is not None:
                stream.drop(superseded)

        with labelled(name):
            return Awaited(self._device, stream.append_async(array), stored)

    def peek(self, name: str, port: Port = Port.CORE) -> Array:
        """The current version of the tensor; not counted as traffic."""
        return self._ports[port].read(self.handle(name))

    def read(self, name: str, port: Port) -> Awaited[Array, Array]:
        """Read the current version of the tensor into a new array."""

        def arrived(array: Array) -> Array:
            self._traffic.reads += 1
            self._traffic.read_bytes += array.nbytes
            return array

        with labelled(name):
            return Awaited(self._device, self._ports[port].read_async(self.handle(name)), arrived)

    def drop_recovered(self, port: Port) -> None:
        """Drop what a recovery has found in the stream, unless a note shows that it has another user."""
        stream = self._ports[port]
        if not stream.note:
            stream.drop_all_but(self._versions.values())

    def reset(self, port: Port) -> Finished:
        """Drop all tensors."""
        self._traffic.stream_resets += 1
        self._versions.clear()
        self._ports[port].drop_all()
        return Finished()


class DeviceStorage:
    """The storage of a training command sequence: one store per stream.

    Streams may lie on different devices (Behemoth's activation node and weight node), or all on one. The
    state stream is there when a sequence has initialised it, or when it was attached after a recovery.

    Members
    -------
    commits: how steps of the state stream end.
    host_state: gives the state of the host that belongs to the next commit.
    """

    def __init__(self, devices: Mapping[StreamRole, Device], commits: Commits = PLAIN) -> None:
        self.state: StateStore | None = None
        self.host_state: Callable[[], bytes] = bytes
        self.commits = commits
        self._state_device = devices.get(StreamRole.STATE)
        self._stores = {
            role: TensorStore(device, role.value)
            for role, device in devices.items()
            if role is not StreamRole.STATE
        }

    @classmethod
    def on(cls, device: Device, commits: Commits = PLAIN) -> "DeviceStorage":
        """All streams on one device."""
        return cls(dict.fromkeys(StreamRole, device), commits)

    def append(self, tensor: TensorInfo, array: Array, port: Port) -> Awaited[StoredArray, None]:
        return self._store(tensor.stream).append(tensor.name, array, port)

    def read(self, tensor: TensorInfo, port: Port) -> Awaited[Array, Array]:
        store = self._made_state() if tensor.stream is StreamRole.STATE else self._store(tensor.stream)
        return store.read(tensor.name, port)

    def reset(self, stream: StreamRole, port: Port) -> Finished:
        return self._store(stream).reset(port)

    def initialise(
        self, tensors: Sequence[TensorInfo], arrays: Sequence[Array], program: OptimizerCode, port: Port
    ) -> Finished:
        """Make the state stream; waits for the device."""
        self._make_state(tensors, arrays, program, port)
        return Finished()

    def attach(self, tensors: Sequence[TensorInfo], program: OptimizerCode, port: Port) -> bytes:
        """Attach the state stream to what the device has recovered; returns the state of the host.

        Inputs and trained weights of the run before are dropped, because they are appended anew.
        :class:`StateMissing` when there is no such state.
        """
        host = self._make_state(tensors, None, program, port).host
        self._store(StreamRole.INPUTS).drop_recovered(Port.HOST)
        self._store(StreamRole.TRAINED).drop_recovered(Port.CORE)
        return host

    def _make_state(
        self,
        tensors: Sequence[TensorInfo],
        arrays: Sequence[Array] | None,
        program: OptimizerCode,
        port: Port,
    ) -> StateStore:
        if self._state_device is None:
            raise TensorError(f"no device has the stream {StreamRole.STATE}")
        self.state = StateStore(self._state_device, tensors, arrays, program, port, self.commits)
        return self.state

    def update(
        self, tensors: Sequence[TensorInfo], gradients: Sequence[Array], constants: Array, port: Port
    ) -> Awaited[Any, bool | None]:
        """Update the state stream by the port that has initialised it; see `StateStore.update`."""
        return self._made_state().update(tensors, gradients, constants, self.host_state)

    def peek(self, tensor: TensorInfo) -> Array:
        """The current version of the tensor; not counted as traffic."""
        store = self._made_state() if tensor.stream is StreamRole.STATE else self._store(tensor.stream)
        return store.peek(tensor.name)

    def traffic(self) -> dict[StreamRole, Traffic]:
        """The traffic of each stream so far."""
        stores: dict[StreamRole, TensorStore | StateStore] = {**self._stores}
        if self.state is not None:
            stores[StreamRole.STATE] = self.state
        return {role: replace(stores[role].traffic) for role in StreamRole if role in stores}

    def updates(self) -> UpdateTraffic | None:
        """The updates on the dies so far; `None` when the dies update nothing."""
        return None if self.state is None else replace(self.state.updates)

    def _store(self, role: StreamRole | None) -> TensorStore:
        if role is None or role not in self._stores:
            raise TensorError(f"no device has the stream {role}")
        return self._stores[role]

    def _made_state(self) -> StateStore:
        if self.state is None:
            raise TensorError(f"the stream {StreamRole.STATE} was never initialised")
        return self.state
