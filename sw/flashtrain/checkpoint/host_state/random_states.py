"""States of the random numbers of Python and NumPy, as parts of a :class:`HostState`."""

import random
from typing import Any

import numpy as np


class PythonRandom:
    """The state of `generator`, by default that of the functions of the module `random`."""

    def __init__(self, generator: random.Random | None = None) -> None:
        self._generator = random if generator is None else generator

    def state_dict(self) -> dict[str, Any]:
        version, words, gauss = self._generator.getstate()
        return {"version": version, "words": np.array(words, np.uint32), "gauss": gauss}

    def load_state_dict(self, state_dict: dict[str, Any], /) -> None:
        words = tuple(state_dict["words"].tolist())
        self._generator.setstate((state_dict["version"], words, state_dict["gauss"]))


class NumpyRandom:
    """The state of `generator`, by default that of the functions of the module `numpy.random`."""

    def __init__(self, generator: np.random.Generator | np.random.RandomState | None = None) -> None:
        self._generator = generator

    def state_dict(self) -> dict[str, Any]:
        if isinstance(self._generator, np.random.Generator):
            return dict(self._generator.bit_generator.state)
        state = (self._generator or np.random).get_state(legacy=False)
        assert isinstance(state, dict)
        return state

    def load_state_dict(self, state_dict: dict[str, Any], /) -> None:
        if isinstance(self._generator, np.random.Generator):
            self._generator.bit_generator.state = state_dict
        else:
            (self._generator or np.random).set_state(state_dict)
