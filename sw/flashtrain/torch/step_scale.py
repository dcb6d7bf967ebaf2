"""The loss scale of one step, as `torch.amp.GradScaler` gives it to an optimizer and learns of an overflow.

A scaler that finds `grad_scaler` among the arguments of `step` passes itself, and leaves all checks to the
optimizer. PyTorch has announced an end of this way. In the other way it sets `grad_scale` and `found_inf` on
the optimizer, but these have no way back: the scaler would never learn of an overflow that the dies find.
"""

import warnings
from typing import Any

import torch


def silence_warning() -> None:
    """A scaler warns at each step that it passes itself; the reason to take it is above."""
    message = "GradScaler is going to stop passing itself"
    warnings.filterwarnings("ignore", message=message, category=FutureWarning)


class StepScale:
    """The loss scale of a step of `optimizer`.

    Members
    -------
    scaler: who scales the loss: a `GradScaler`, or None without one, or if it sets `found_inf` instead.
    unscale: the factor from the gradients to those of the loss.
    overflow: an overflow was found already, so there is no step to take.
    """

    def __init__(self, optimizer: torch.optim.Optimizer, scaler: torch.amp.GradScaler | None) -> None:
        set_by_scaler = getattr(optimizer, "found_inf", None)
        # Entries are there if somebody has unscaled the gradients for this step, and checked them.
        self._found: dict[Any, torch.Tensor] = (
            {} if scaler is None else scaler._found_inf_per_device(optimizer)
        )
        self._set = set_by_scaler
        self.scaled = scaler is not None or set_by_scaler is not None
        self._scaler = scaler
        grad_scale = getattr(optimizer, "grad_scale", None)
        scale = 1.0 if scaler is None or self._found else scaler.get_scale()
        self.unscale = 1 / (scale * (1.0 if grad_scale is None else float(grad_scale)))
        checks = [*self._found.values(), *([] if set_by_scaler is None else [set_by_scaler])]
        self.overflow = any(bool(check) for check in checks)

    def report(self, overflow: bool) -> None:
        """Let the scaler know whether the dies have found an overflow."""
        if self._scaler is not None and not self._found:
            self._found[torch.device("cpu")] = torch.zeros(())
        if overflow:
            for check in [*self._found.values(), *([] if self._set is None else [self._set])]:
                check.fill_(1.0)
