"""Drivers of large reset nets, copied for each unit of the design.

A reset that thousands of registers have crosses the whole device, and so does its delay. Makers' tools copy
the look-up table that drives such a net, so that each copy lies beside its registers. nextpnr does not.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

LARGE = 1_000
"""Registers on a reset net whose driver is copied."""


def copy_reset_drivers(module: Mapping[str, Any], unit: Callable[[str], str]) -> int:
    """Copy the look-up tables that drive large resets, in a module of Yosys' JSON. Returns how many copies.

    unit: the unit of the register of that name, which has a copy of its own.
    """
    cells: dict[str, Any] = module["cells"]
    tables = {cell["connections"]["Z"][0]: name for name, cell in cells.items() if cell["type"] == "LUT4"}
    loads = defaultdict[int, list[str]](list)
    for name, cell in cells.items():
        if cell["type"] == "TRELLIS_FF":
            for bit in cell["connections"].get("LSR", ()):
                if bit in tables:
                    loads[bit].append(name)
    free = 1 + max(bit for name in module["netnames"] for bit in _bits(module["netnames"][name]))
    copies = 0
    for bit, registers in loads.items():
        if len(registers) < LARGE:
            continue
        groups = defaultdict[str, list[str]](list)
        for register in registers:
            groups[unit(register)].append(register)
        for group, members in groups.items():
            table = deepcopy(cells[tables[bit]])
            table["connections"]["Z"] = [free]
            name = f"{group}.reset_LUT4_Z" if group else "reset_LUT4_Z"
            cells[f"{name}_{copies}"] = table
            module["netnames"][f"{name}_{copies}"] = {"hide_name": 0, "bits": [free], "attributes": {}}
            for member in members:
                cells[member]["connections"]["LSR"] = [free]
            free += 1
            copies += 1
    return copies


def _bits(net: Mapping[str, Any]) -> list[int]:
    return [bit for bit in net["bits"] if isinstance(bit, int)] or [0]
