"""How often the random tests of a bench repeat themselves."""

import cocotb

from flashtrain.sim.bench.parameters import is_long

_ICARUS_SHARE = 3


def rounds(count: int, usual: int | None = None) -> int:
    """`count` on Verilator, a third of it on Icarus; instead of it `usual`, if that is given, in short runs.

    Icarus takes several times as long, and shows X and another order of processes, for which few rounds do.
    """
    if usual is not None and not is_long():
        count = usual
    return -(-count // _ICARUS_SHARE) if cocotb.SIM_NAME.startswith("Icarus") else count
