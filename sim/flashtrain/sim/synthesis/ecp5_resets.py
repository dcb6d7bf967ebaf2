"""Drivers of large reset nets, copied for each unit of the design.

A reset that thousands of registers have crosses the whole device, and so does its delay. Makers' tools copy
the look-up table or the register that drives such a net, so that each copy lies beside its loads. nextpnr
does not.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

LARGE = 1_000
"""Registers on a reset net whose driver is copied."""

_OUTPUTS = {"LUT4": "Z", "TRELLIS_FF": "Q"}


def copy_reset_drivers(module: Mapping[str, Any], unit: Callable[[str], str]) -> int:
    """Copy what drives large resets, in a module of Yosys' JSON. Returns how many copies.

    unit: the unit of the cell of that name, whose cells have a copy of their own.
    """
    cells: dict[str, Any] = module["cells"]
    drivers = {
        cell["connections"][_OUTPUTS[cell["type"]]][0]: name
        for name, cell in cells.items()
        if cell["type"] in _OUTPUTS
    }
    loads = defaultdict[int, list[tuple[str, str]]](list)
    for name, cell in cells.items():
        for pin, bits in cell["connections"].items():
            if cell["port_directions"][pin] == "input":
                for bit in bits:
                    if bit in drivers:
                        loads[bit].append((name, pin))
    free = 1 + max(bit for name in module["netnames"] for bit in _bits(module["netnames"][name]))
    copies = 0
    for bit, pins in loads.items():
        if sum(pin == "LSR" for _, pin in pins) < LARGE:
            continue
        groups = defaultdict[str, list[tuple[str, str]]](list)
        for name, pin in pins:
            groups[unit(name)].append((name, pin))
        for group, members in groups.items():
            driver = deepcopy(cells[drivers[bit]])
            output = _OUTPUTS[driver["type"]]
            driver["connections"][output] = [free]
            name = f"{group}.reset" if group else "reset"
            name += f"_{driver['type']}_{output}_{copies}"
            cells[name] = driver
            module["netnames"][name] = {"hide_name": 0, "bits": [free], "attributes": {}}
            for member, pin in members:
                connections = cells[member]["connections"]
                connections[pin] = [free if one == bit else one for one in connections[pin]]
            free += 1
            copies += 1
    return copies


def _bits(net: Mapping[str, Any]) -> list[int]:
    return [bit for bit in net["bits"] if isinstance(bit, int)] or [0]
