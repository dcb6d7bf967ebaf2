"""The job of several ranks: layers with their parameters, saved activations and FLOPs."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from flashtrain.platform.errors import PlatformError
from flashtrain.platform.workloads import Workload
from flashtrain.spec.update import WORD_BYTES

Shape = tuple[int, ...]


@dataclass(frozen=True)
class RankLayer:
    """A unit of FSDP2: parameters that are gathered together.

    - `name`: of the layer.
    - `shapes`: of its parameters; none for what only saves activations.
    - `saved`: bytes of each storage that a rank saves for the backward pass, for a micro-batch.
    - `flops`: of a rank and a micro-batch, in both passes, a third of them in the forward pass.
    """

    name: str
    shapes: tuple[Shape, ...]
    saved: tuple[int, ...]
    flops: int = 0

    def shard(self, rank: int, ranks: int) -> int:
        """Parameters of a rank, without padding: FSDP2 divides the first dimension as `torch.chunk` does."""
        return sum(_rows(shape[0], rank, ranks) * prod(shape[1:]) for shape in self.shapes)

    def padded(self, ranks: int) -> int:
        """Parameters of a rank as they are sent: FSDP2 pads the shards of each parameter to the largest."""
        return sum(-(-shape[0] // ranks) * prod(shape[1:]) for shape in self.shapes)


@dataclass(frozen=True)
class RankJob:
    """An iteration of several ranks, which all do the same with batches of their own.

    - `micro_batches`: parts of the batch of a rank. Each layer computes all of them one after the other.
    - `number_bytes`: bytes of a gathered weight.
    - `gradient_bytes`: bytes of a gradient that is scattered; the dies take it in float32.
    """

    name: str
    layers: tuple[RankLayer, ...]
    ranks: int
    micro_batches: int = 1
    number_bytes: int = WORD_BYTES
    gradient_bytes: int = WORD_BYTES

    def __post_init__(self) -> None:
        for name in ("ranks", "micro_batches", "number_bytes", "gradient_bytes"):
            if getattr(self, name) < 1:
                raise PlatformError(f"{self.name}: {name} is {getattr(self, name)}; expected at least 1")
        for rank in range(self.ranks):
            if not self.shard(rank):
                raise PlatformError(
                    f"{self.name}: rank {rank} of {self.ranks} has no parameters; expected fewer ranks, or"
                    " longer first dimensions"
                )

    def shard(self, rank: int) -> int:
        """Parameters of a rank."""
        return sum(layer.shard(rank, self.ranks) for layer in self.layers)

    def gathered_bytes(self, layer: RankLayer) -> int:
        """Bytes of an all-gather, of all ranks together."""
        return self.ranks * layer.padded(self.ranks) * self.number_bytes

    def scattered_bytes(self, layer: RankLayer) -> int:
        """Bytes of a reduce-scatter, of all ranks together."""
        return self.ranks * layer.padded(self.ranks) * self.gradient_bytes

    @property
    def saved_bytes(self) -> int:
        """Bytes of activations that a rank stores in an iteration."""
        return self.micro_batches * sum(sum(layer.saved) for layer in self.layers)

    @property
    def sharded_layers(self) -> Sequence[RankLayer]:
        """The layers with parameters."""
        return [layer for layer in self.layers if layer.shapes]


def workload_job(workload: Workload, ranks: int) -> RankJob:
    """A workload whose micro-batches the ranks divide evenly; `PlatformError` if they cannot.

    The parameters of a layer are one vector, and so are its activations of a micro-batch.
    """
    if ranks < 1:
        raise PlatformError(f"{workload.name}: ranks is {ranks}; expected at least 1")
    if workload.micro_batches % ranks:
        raise PlatformError(
            f"{ranks} ranks for {workload.micro_batches} micro-batches of {workload.name}; expected a divisor"
        )
    layer = RankLayer(
        "",
        ((workload.parameters,),),
        (workload.stored_activation_bytes,),
        max(1, workload.flops // workload.micro_batches),
    )
    layers = tuple(RankLayer(str(n), layer.shapes, layer.saved, layer.flops) for n in range(workload.layers))
    own = workload.micro_batches // ranks
    return RankJob(workload.name, layers, ranks, own, workload.number_bytes)


def network_job(width: int, layers: int, batch: int, ranks: int) -> RankJob:
    """The network that `flashtrain platform compare` trains, in float32.

    A layer is a linear one of `width` to 4 `width` numbers, GELU, and a linear one back. It saves its input,
    and the input and the output of GELU. The mean of squares behind the last layer saves its input.
    """
    inner = 4 * width
    shapes: tuple[Shape, ...] = ((inner, width), (inner,), (width, inner), (width,))
    row = batch * WORD_BYTES
    flops = 3 * 2 * batch * 2 * width * inner
    found = [
        RankLayer(str(number), shapes, (width * row, inner * row, inner * row), flops)
        for number in range(layers)
    ]
    return RankJob(
        f"{layers} layers of width {width}", (*found, RankLayer("loss", (), (width * row,))), ranks
    )


def _rows(rows: int, rank: int, ranks: int) -> int:
    """The rows of a rank of `torch.chunk`."""
    each = -(-rows // ranks)
    return max(0, min(rows - rank * each, each))
