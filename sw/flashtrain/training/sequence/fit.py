"""A dry run of a training command sequence: whether its tensors fit into the streams of a device.

It takes milliseconds and needs no device, so it comes before a simulator is built.
"""

from flashtrain.host.errors import StreamFull
from flashtrain.host.memory.arrays import blocks_of
from flashtrain.host.state.tensor_group import TensorGroup, place
from flashtrain.host.streams.generations import StreamGenerations
from flashtrain.host.streams.stored import Extent
from flashtrain.host.streams.stream_ring import StreamRing
from flashtrain.host.streams.stream_space import StreamSpace
from flashtrain.spec import FmsConfig, Geometry, NodeTable
from flashtrain.training.errors import SequenceError
from flashtrain.training.sequence.sequence import TrainingSequence
from flashtrain.training.sequence.steps import Append, Initialise, Reset, Step, StreamRole

_ITERATIONS = 64
"""Iterations of a dry run at most: zones are reused long before."""


def require_fit(sequence: TrainingSequence, iterations: int, config: FmsConfig, node: NodeTable) -> None:
    """:class:`SequenceError` for the first step whose tensors do not fit into their stream."""
    _DryRun(sequence.unrolled(), config, node).run(min(iterations, _ITERATIONS))


class _DryRun:
    def __init__(self, sequence: TrainingSequence, config: FmsConfig, node: NodeTable) -> None:
        g, zones = config.geometry, node.zones(config.geometry.zones)
        self._sequence = sequence
        self._config = config
        self._node = node
        self._zones = {stream.name: len(zones[stream.nsid]) for stream in node.streams}
        self._streams = {
            role: _StreamFill(role.value, self._zones[role.value], g)
            for role in StreamRole
            if role is not StreamRole.STATE and role.value in self._zones
        }

    def run(self, iterations: int) -> None:
        phases = (("prologue", 1), ("iteration", iterations), ("epilogue", 1))
        for phase, passes in phases:
            for _ in range(passes):
                for index, step in enumerate(getattr(self._sequence, phase)):
                    try:
                        self._step(step)
                    except StreamFull as error:
                        raise SequenceError(
                            f"{phase}[{index}]: {self._sequence.network} with batch {self._sequence.batch} "
                            f"does not fit on {self._config.name!r}: {error}"
                        ) from error

    def _step(self, step: Step) -> None:
        match step:
            case Append():
                tensor = self._sequence.by_name[step.tensor]
                if tensor.stream is not None:
                    blocks = blocks_of(tensor.spec.bytes, self._config.geometry.page_bytes)
                    self._stream(tensor.stream).append(tensor.name, blocks)
            case Reset():
                self._stream(step.stream).reset()
            case Initialise():
                self._initialise(step)
            case _:
                pass

    def _initialise(self, step: Initialise) -> None:
        g = self._config.geometry
        shapes = tuple(self._sequence.by_name[name].spec.shape for name in step.tensors)
        needed = place([TensorGroup(step.program, shapes)], g)[0].layout.rows
        for name in StreamRole.STATE.streams:
            room = self._zones.get(name, 0) * g.dies * g.pages
            if needed > room:
                raise StreamFull(f"stream {name!r} has room for {room} rows of tiles; {needed} are needed")

    def _stream(self, role: StreamRole) -> "_StreamFill":
        if role not in self._streams:
            raise SequenceError(f"node {self._node.name!r} has no stream {role}")
        return self._streams[role]


class _StreamFill:
    """Tensors of one stream: superseded versions leave zones that are reset once they are full."""

    def __init__(self, name: str, zones: int, geometry: Geometry) -> None:
        space = StreamSpace(name, zones, geometry.zone_size, geometry.zone_capacity)
        self._ring = StreamRing(space, StreamGenerations())
        self._versions: dict[str, list[Extent]] = {}

    def append(self, name: str, blocks: int) -> None:
        self._empty(self._ring.spent_for(blocks))
        extents = self._ring.space.reserve(blocks)
        superseded = self._versions.get(name)
        self._versions[name] = extents
        if superseded is not None:
            self._ring.drop(superseded)
            self._empty(self._ring.spent())

    def reset(self) -> None:
        self._versions.clear()
        self._ring.release()
        self._empty(self._ring.spent())

    def _empty(self, zones: list[int]) -> None:
        for zone in zones:
            self._ring.empty(zone)
