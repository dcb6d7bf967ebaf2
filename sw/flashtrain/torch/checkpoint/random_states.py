"""The state of the random numbers of PyTorch, as a part of a :class:`HostState`."""

from typing import Any

import numpy as np
import torch


class TorchRandom:
    """The state of `generator`, by default that of all functions of PyTorch on the CPU, such as dropout."""

    def __init__(self, generator: torch.Generator = torch.default_generator) -> None:
        self._generator = generator

    def state_dict(self) -> dict[str, Any]:
        # Of its words of 64 bits half are zeros: by significance of the bytes these are runs.
        state = self._generator.get_state().numpy()
        return {"state": np.ascontiguousarray(state.reshape(-1, 8).T)}

    def load_state_dict(self, state_dict: dict[str, Any], /) -> None:
        state = np.ascontiguousarray(state_dict["state"].T).reshape(-1)
        self._generator.set_state(torch.from_numpy(state))
