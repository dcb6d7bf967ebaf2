"""The loss scale of one step, as `torch.amp.GradScaler` gives it to an optimizer and learns of an overflow.

A scaler that finds `grad_scaler` among the arguments of `step` passes itself, and leaves all checks to the
optimizer. PyTorch intends to end this way. In the other way a scaler sets `grad_scale` and `found_inf` on the
optimizer. These have no way back, and the scaler would never learn of an overflow that the dies find.
"""

import warnings
from typing import Any

import torch


def silence_warning() -> None:
    """A scaler warns at each step that it passes itself; the reason to take it is above."""
    message = "GradScaler is going to stop passing itself"
    warnings.filterwarnings("ignore", message=message, category=FutureWarning)


class StepScale:
    """The loss scale of a step of `optimizer`, with a scaler that passed itself, or none.

    Members
    -------
    scaled: there is a scaler, so overflows are expected.
    unscale: the factor from the gradients to those of the loss.
    overflow: an overflow was found already, so there is no step to take.
    """

    def __init__(self, optimizer: torch.optim.Optimizer, scaler: torch.amp.GradScaler | None) -> None:
        grad_scale, found_inf = (getattr(optimizer, name, None) for name in ("grad_scale", "found_inf"))
        # Checks of this optimizer by device. There are some if its gradients were unscaled for this step.
        self._found: dict[Any, torch.Tensor] | None = None
        self._checks: list[torch.Tensor] = [] if found_inf is None else [found_inf]
        scale = 1.0 if grad_scale is None else float(grad_scale)
        if scaler is not None:
            self._found = scaler._found_inf_per_device(optimizer)
            self._checks += self._found.values()
            scale *= 1.0 if self._found else scaler.get_scale()
        self.scaled = scaler is not None or found_inf is not None
        self.unscale = 1 / scale
        self.overflow = any(bool(check) for check in self._checks)

    def report(self, overflow: bool) -> None:
        """Let the scaler know whether the dies have found an overflow."""
        if self._found is not None and not self._found:
            check = self._found[torch.device("cpu")] = torch.zeros(())
            self._checks.append(check)
        if overflow:
            for check in self._checks:
                check.fill_(1.0)
