"""Which checkpoints are kept."""

from collections.abc import Iterable
from dataclasses import dataclass

from flashtrain.spec.errors import require_range


@dataclass(frozen=True)
class Retention:
    """Keep the last ones, and of the older ones some for good.

    - last: the number of newest checkpoints that are kept.
    - every: checkpoints of steps that are multiples of it are kept, too; 0: none.
    """

    last: int = 1
    every: int = 0

    def __post_init__(self) -> None:
        require_range("retention.last", self.last, 1, 1 << 20)
        require_range("retention.every", self.every, 0, 1 << 62)

    def kept(self, steps: Iterable[int]) -> set[int]:
        """The steps, of these, whose checkpoints are kept."""
        steps = sorted(steps)
        return set(steps[-self.last :]) | {step for step in steps if self.every and step % self.every == 0}
