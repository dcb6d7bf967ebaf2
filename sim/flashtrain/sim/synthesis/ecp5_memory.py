"""Output registers of an ECP5's block memories, which Yosys leaves beside them.

A block memory takes nearly 6 ns to output a word, and has output registers of its own. A design that
registers all bits of a word can use them. Vendors' tools do so; Yosys does not.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

Cell = dict[str, Any]
_MEMORY, _REGISTER = "DP16KD", "TRELLIS_FF"


def absorb_registers(module: Mapping[str, Any]) -> int:
    """Move registers into the memories before them, in a module of Yosys' JSON. Returns how many."""
    cells: dict[str, Cell] = module["cells"]
    loads = Counter(bit for bit in _loads(cells, module["ports"]) if isinstance(bit, int))
    registers = {
        cell["connections"]["DI"][0]: name
        for name, cell in cells.items()
        if cell["type"] == _REGISTER and "DI" in cell["connections"]
    }
    absorbed = 0
    for memory in [cell for cell in cells.values() if cell["type"] == _MEMORY]:
        for port in "AB":
            outputs = _outputs(memory, port, loads)
            names = [registers[bit] for bit in outputs.values() if loads[bit] == 1 and bit in registers]
            if not names or len(names) < len(outputs):
                continue
            found = [cells[name] for name in names]
            enables = {_enable(cell) for cell in found}
            if len(enables) > 1 or not all(_is_plain(cell, memory, port) for cell in found):
                continue
            memory["parameters"][f"REGMODE_{port}"] = "OUTREG"
            memory["connections"][f"OCE{port}"] = [enables.pop()]
            for pin, name in zip(outputs, names, strict=True):
                memory["connections"][pin] = cells.pop(name)["connections"]["Q"]
            absorbed += len(found)
    return absorbed


def _loads(cells: Mapping[str, Cell], ports: Mapping[str, Any]) -> Iterator[int | str]:
    for cell in cells.values():
        for pin, bits in cell["connections"].items():
            if cell["port_directions"][pin] == "input":
                yield from bits
    for port in ports.values():
        if port["direction"] == "output":
            yield from port["bits"]


def _outputs(memory: Cell, port: str, loads: Counter[int]) -> dict[str, int]:
    """Pins of this port whose bits somebody uses."""
    pins = {
        pin: bits[0] for pin, bits in memory["connections"].items() if pin.startswith(f"DO{port}") and bits
    }
    return {pin: bit for pin, bit in pins.items() if isinstance(bit, int) and loads[bit]}


def _enable(register: Cell) -> int | str:
    if register["parameters"].get("CEMUX") == "CE":
        return register["connections"]["CE"][0]
    return "1"


def _is_plain(register: Cell, memory: Cell, port: str) -> bool:
    """It has the memory's clock, no reset, and begins with 0."""
    pins, parameters = register["connections"], register["parameters"]
    same_clock = pins["CLK"] == memory["connections"][f"CLK{port}"]
    return (
        same_clock
        and pins.get("LSR", ["0"])[0] == "0"
        and parameters.get("CLKMUX", "CLK") == "CLK"
        and parameters.get("REGSET") == "RESET"
    )
