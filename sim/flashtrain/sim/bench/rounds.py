"""How often the random tests of a bench repeat themselves."""

import cocotb

_ICARUS_SHARE = 3


def rounds(count: int) -> int:
    """`count` on Verilator, a third of it on Icarus.

    Icarus takes several times as long, and shows X and another order of processes, for which few rounds do.
    """
    return -(-count // _ICARUS_SHARE) if cocotb.SIM_NAME.startswith("Icarus") else count
