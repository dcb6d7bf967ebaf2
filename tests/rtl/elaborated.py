"""Tops of benches that are elaborated once for all tests and all clones: one with a die takes 8 s."""

import sys
from collections.abc import Callable
from inspect import getsource
from pathlib import Path

from amaranth.lib import wiring

from flashtrain.sim.verilator.verilated import exported_sources


def elaborated(make: Callable[[], wiring.Component], name: str, *made_of: object) -> list[Path]:
    """The SystemVerilog of the top that `make` builds, as module `name`.

    made_of: what it depends on beside the packages: the classes of the tests, and the values that they get.
    """
    texts = [
        getsource(sys.modules[one.__module__]) if isinstance(one, type) else repr(one) for one in made_of
    ]
    return exported_sources(make, name, repr(texts))
