"""What texts of modules do."""

import ctypes
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest

from flashtrain.native.user_cache import UserCache
from flashtrain.sim.verilator.verilated import build_shared_library, verilate

_HARNESS = Path(__file__).with_name("mixture_harness.cpp")


@pytest.fixture
def behaviour(tmp_path) -> Callable[[str, np.ndarray], np.ndarray]:
    """Runs a text with top module `mixture`: a port `term` of 32 bits in, a port `total` of 64 out.

    Returns the totals of these terms.
    """

    def run(text: str, terms: np.ndarray) -> np.ndarray:
        path = Path(mkdtemp(dir=tmp_path)) / "mixture.sv"
        path.write_text(text, encoding="utf-8")
        cache = UserCache(tmp_path / "cache")
        model = verilate([path], "mixture", "Vmixture", cache)
        library = ctypes.CDLL(str(build_shared_library([model], [_HARNESS], "mixture", cache)))
        totals = np.zeros(len(terms), np.uint64)
        library.run(terms.ctypes.data_as(ctypes.c_void_p), totals.ctypes.data_as(ctypes.c_void_p), len(terms))
        return totals

    return run
