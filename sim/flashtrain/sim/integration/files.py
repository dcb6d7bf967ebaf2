"""The files of an export, each with its role; the order is that in which a tool reads them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum


class Role(Enum):
    """The set that a file belongs to."""

    RTL = "rtl"
    """The controller with its wrapper, for synthesis and simulation."""
    DIE = "die"
    """The logic of a NAND die."""
    MODEL = "simulation"
    """NAND packages, their arrays and checkers, `flashtrain_sim`."""
    BENCH = "testbench"
    """A test in SystemVerilog alone."""
    DPI = "dpi"
    """C++ behind the arrays, for Verilator; other simulators keep them in SystemVerilog memories."""
    CONSTRAINTS = "constraints"
    DIE_CONSTRAINTS = "die_constraints"
    WAIVERS = "waivers"
    """Classes of Verilator's warnings that the text does not avoid."""


SIMULATED = (Role.RTL, Role.DIE, Role.MODEL, Role.BENCH)
"""In their order."""


@dataclass(frozen=True)
class File:
    """`path` is relative to the folder of the export, with slashes."""

    path: str
    role: Role
    text: str


def of_role(files: Iterable[File], *roles: Role) -> Iterator[File]:
    """The files of these roles, in the order of the roles."""
    files = list(files)
    for role in roles:
        yield from (file for file in files if file.role is role)
