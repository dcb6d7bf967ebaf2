"""What a training command sequence asks of the flash: traffic per stream, as numbers and as a table."""

from dataclasses import dataclass

from flashtrain.spec.config import FmsConfig
from flashtrain.training.sequence.sequence import TrainingSequence
from flashtrain.training.sequence.steps import Append, Read, Reset, Step, StreamRole, TensorInfo


@dataclass(frozen=True)
class StreamTraffic:
    """Traffic of one stream in some steps.

    Tensors and commands are counted one by one; bytes are those of the tensors, stored bytes include the
    padding of each tensor to whole logical blocks.
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


def summarise(
    sequence: TrainingSequence, steps: tuple[Step, ...], config: FmsConfig
) -> dict[StreamRole, StreamTraffic]:
    """Traffic of `steps`, one of the phases of `sequence`, on a device of `config`, for every stream."""
    return {stream: _traffic(stream, sequence, steps, config) for stream in StreamRole}


def _traffic(
    stream: StreamRole, sequence: TrainingSequence, steps: tuple[Step, ...], config: FmsConfig
) -> StreamTraffic:
    def tensors(kind: type[Append] | type[Read]) -> list[TensorInfo]:
        named = [sequence.by_name[step.tensor] for step in steps if isinstance(step, kind)]
        return [tensor for tensor in named if tensor.stream is stream]

    def blocks(tensor: TensorInfo) -> int:
        return -(-tensor.spec.bytes // config.geometry.page_bytes)

    def commands(moved: list[TensorInfo]) -> int:
        return sum(-(-blocks(tensor) // config.max_blocks) for tensor in moved)

    appended, read = tensors(Append), tensors(Read)
    return StreamTraffic(
        stream=stream,
        appends=len(appended),
        append_commands=commands(appended),
        appended_bytes=sum(tensor.spec.bytes for tensor in appended),
        stored_bytes=sum(blocks(tensor) for tensor in appended) * config.geometry.page_bytes,
        reads=len(read),
        read_commands=commands(read),
        read_bytes=sum(tensor.spec.bytes for tensor in read),
        resets=sum(isinstance(step, Reset) and step.stream is stream for step in steps),
    )


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
    return "\n".join(lines)
