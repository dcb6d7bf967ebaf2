"""The link between ranks, and the time of collectives in a ring."""

from dataclasses import dataclass
from math import inf

from flashtrain.platform.errors import PlatformError


@dataclass(frozen=True)
class RankLink:
    """The link of each rank to the next one of a ring, full duplex.

    Collectives of a ring have p - 1 rounds among p ranks. In each round every rank sends a p-th of the bytes.
    So have it Thakur, Rabenseifner and Gropp: "Optimization of Collective Communication Operations in MPICH",
    Int. Journal of High Performance Computing Applications 19(1), 2005. Sums take no time.

    - `bytes_per_second`: each way. The default is an assumption, that of `Node`.
    - `seconds`: the latency of a round. The default is an assumption.
    """

    bytes_per_second: float = 100e9
    seconds: float = 5e-6

    def __post_init__(self) -> None:
        if not 0 < self.bytes_per_second < inf:
            raise PlatformError(
                f"link: bytes_per_second is {self.bytes_per_second}; expected a finite number above 0"
            )
        if not 0 <= self.seconds < inf:
            raise PlatformError(f"link: seconds is {self.seconds}; expected a finite number of at least 0")

    def ring(self, ranks: int, count: float) -> float:
        """Seconds of an all-gather, or of a reduce-scatter, of `count` bytes over all ranks together."""
        return (ranks - 1) * (self.seconds + count / ranks / self.bytes_per_second)

    def all_reduce(self, ranks: int, count: float) -> float:
        """Seconds of an all-reduce of `count` bytes: a reduce-scatter and an all-gather."""
        return 2 * self.ring(ranks, count)
