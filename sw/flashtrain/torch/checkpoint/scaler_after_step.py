"""A loss scale as a part of the :class:`HostState` of a commit."""

from typing import Any

import numpy as np
import torch


class ScalerAfterStep:
    """The state that `scaler` has after its `update()` behind a step without an overflow.

    The scaler has one optimizer. A commit is within `scaler.step(optimizer)`. An overflow commits nothing, so
    `update()` is to come for a step that had none. A recovered run does not repeat it, because a scaler
    updates only after a step.
    """

    def __init__(self, scaler: torch.amp.GradScaler) -> None:
        self._scaler = scaler

    def state_dict(self) -> dict[str, Any]:
        state = self._scaler.state_dict()
        if state:
            state["_growth_tracker"] += 1
            if state["_growth_tracker"] == state["growth_interval"]:
                state["_growth_tracker"] = 0
                # As PyTorch's kernel: a product in double precision, and the scale stays finite.
                with np.errstate(over="ignore"):
                    grown = float(np.float32(state["scale"] * state["growth_factor"]))
                state["scale"] = grown if np.isfinite(grown) else state["scale"]
        return state

    def load_state_dict(self, state_dict: dict[str, Any], /) -> None:
        if state_dict:
            self._scaler.load_state_dict(state_dict)
