"""Traffic of a training command sequence per stream, as numbers and as a table."""

from dataclasses import dataclass

from flashtrain.host.state.generation_places import placed_groups
from flashtrain.host.state.tensor_group import PlacedGroup, TensorGroup
from flashtrain.spec.config import FmsConfig
from flashtrain.training.sequence.loops import with_times
from flashtrain.training.sequence.sequence import TrainingSequence
from flashtrain.training.sequence.steps import (
    Append,
    Initialise,
    Read,
    Reset,
    Step,
    StreamRole,
    TensorInfo,
    Update,
)


@dataclass(frozen=True)
class StreamTraffic:
    """Traffic of one stream in some steps.

    Tensors and commands are counted one by one. Bytes are those of the tensors. Stored bytes include the
    padding of each tensor to whole logical blocks; in the state stream they include the optimizer's state.
    The dies execute the updates: gradients go in, and tiles are sensed and programmed.
    """

    stream: StreamRole
    appends: int = 0
    append_commands: int = 0
    appended_bytes: int = 0
    stored_bytes: int = 0
    reads: int = 0
    read_commands: int = 0
    read_bytes: int = 0
    resets: int = 0
    updates: int = 0
    gradient_bytes: int = 0
    tiles: int = 0


def summarise(
    sequence: TrainingSequence, steps: tuple[Step, ...], config: FmsConfig
) -> dict[StreamRole, StreamTraffic]:
    """Traffic of `steps`, one of the phases of `sequence`, on a device of `config`, for every stream."""
    traffic = {stream: _traffic(stream, sequence, steps, config) for stream in StreamRole}
    if sequence.state is None:
        return traffic
    return traffic | {StreamRole.STATE: _StateTraffic(sequence, sequence.state, config).of(steps)}


def _traffic(
    stream: StreamRole, sequence: TrainingSequence, steps: tuple[Step, ...], config: FmsConfig
) -> StreamTraffic:
    weighted = list(with_times(steps, sequence.counts))

    def tensors(kind: type[Append] | type[Read]) -> list[tuple[TensorInfo, int]]:
        named = [(sequence.by_name[step.tensor], times) for step, times in weighted if isinstance(step, kind)]
        return [(tensor, times) for tensor, times in named if tensor.stream is stream]

    def blocks(tensor: TensorInfo) -> int:
        return -(-tensor.spec.bytes // config.geometry.page_bytes)

    def commands(moved: list[tuple[TensorInfo, int]]) -> int:
        return sum(-(-blocks(tensor) // config.max_blocks) * times for tensor, times in moved)

    appended, read = tensors(Append), tensors(Read)
    return StreamTraffic(
        stream=stream,
        appends=sum(times for _, times in appended),
        append_commands=commands(appended),
        appended_bytes=sum(tensor.spec.bytes * times for tensor, times in appended),
        stored_bytes=sum(blocks(tensor) * times for tensor, times in appended) * config.geometry.page_bytes,
        reads=sum(times for _, times in read),
        read_commands=commands(read),
        read_bytes=sum(tensor.spec.bytes * times for tensor, times in read),
        resets=sum(isinstance(step, Reset) and step.stream is stream for step in steps),
    )


class _StateTraffic:
    """Traffic of the state stream: whole rows of tiles are stored and updated, and read plane by plane."""

    def __init__(self, sequence: TrainingSequence, state: Initialise, config: FmsConfig) -> None:
        self._specs = {name: sequence.by_name[name].spec for name in state.tensors}
        self._counts = sequence.counts
        self._completing = sequence.completing
        self._config = config
        group = TensorGroup(state.program, tuple(spec.shape for spec in self._specs.values()))
        self._placed: PlacedGroup = placed_groups([group], config.geometry)[0]

    def of(self, steps: tuple[Step, ...]) -> StreamTraffic:
        g, rows = self._config.geometry, self._placed.layout.rows
        initialised = sum(isinstance(step, Initialise) for step in steps)
        updates = sum(isinstance(step, Update) and step in self._completing for step in steps)
        read = [
            (step.tensor, times)
            for step, times in with_times(steps, self._counts)
            if isinstance(step, Read) and step.tensor in self._specs
        ]
        bytes_of_all = sum(spec.bytes for spec in self._specs.values())
        blocks = rows * g.channels * g.planes
        return StreamTraffic(
            stream=StreamRole.STATE,
            appends=initialised * len(self._specs),
            append_commands=initialised * self._commands(blocks),
            appended_bytes=initialised * bytes_of_all,
            stored_bytes=initialised * blocks * g.page_bytes,
            reads=sum(times for _, times in read),
            read_commands=sum(self._read_commands(name) * times for name, times in read),
            read_bytes=sum(self._specs[name].bytes * times for name, times in read),
            updates=updates,
            gradient_bytes=updates * bytes_of_all,
            tiles=updates * rows * g.channels,
        )

    def _read_commands(self, name: str) -> int:
        g, layout = self._config.geometry, self._placed.tensor(list(self._specs).index(name)).layout
        blocks = len(layout.planes_of(0)) * g.channels
        whole = blocks == g.planes * g.channels
        return self._commands(layout.rows * blocks) if whole else layout.rows * self._commands(blocks)

    def _commands(self, blocks: int) -> int:
        return -(-blocks // self._config.max_blocks)


def summary_table(sequence: TrainingSequence, config: FmsConfig) -> str:
    """The traffic of each phase as text, one line per stream that it touches."""
    lines = [
        f"{sequence.network}, batch {sequence.batch}, {sequence.optimizer}: "
        f"{len(sequence.tensors)} tensors; logical blocks of {config.geometry.page_bytes} bytes",
        f"{'phase':10} {'stream':12} {'appends':>8} {'commands':>9} {'bytes':>11} {'stored':>11}"
        f" {'reads':>8} {'commands':>9} {'bytes':>11} {'resets':>7}",
    ]
    phases = {"prologue": sequence.prologue, "iteration": sequence.iteration, "epilogue": sequence.epilogue}
    for phase, steps in phases.items():
        for stream, t in summarise(sequence, steps, config).items():
            if t == StreamTraffic(stream):
                continue
            lines.append(
                f"{phase:10} {stream:12} {t.appends:8} {t.append_commands:9} {t.appended_bytes:11,}"
                f" {t.stored_bytes:11,} {t.reads:8} {t.read_commands:9} {t.read_bytes:11,} {t.resets:7}"
            )
            if t.updates:
                lines.append(
                    f"{phase:10} {stream:12} updates on the dies: {t.updates}, {t.gradient_bytes:,} bytes of"
                    f" gradients, {t.tiles} tiles"
                )
    return "\n".join(lines)
