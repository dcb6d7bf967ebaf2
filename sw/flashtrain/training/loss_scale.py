"""Dynamic loss scaling: as large as gradients in 16 bits bear without overflow."""

from dataclasses import dataclass


@dataclass
class LossScale:
    """The factor of the loss (Micikevicius et al., "Mixed Precision Training", ICLR 2018, section 3.2).

    It is halved after a step that overflowed, and doubled after `interval` steps without; the defaults are
    those of `torch.amp.GradScaler`. Powers of two, so that unscaling rounds nothing.
    """

    value: float = 65536.0
    interval: int = 2000
    good_steps: int = 0

    @property
    def unscale(self) -> float:
        """The factor from gradients of the scaled loss to those of the loss."""
        return 1 / self.value

    def observe(self, overflow: bool) -> None:
        """Take note of how a step went."""
        if overflow:
            self.value /= 2
            self.good_steps = 0
            return
        self.good_steps += 1
        if self.good_steps == self.interval:
            self.value *= 2
            self.good_steps = 0
