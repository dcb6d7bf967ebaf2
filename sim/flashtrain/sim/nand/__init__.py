"""The NAND side of a simulation: dies, models of their arrays, and the checker on the pins.

`NandChannel` puts them together; its docstring shows how. A simulator gets the exported files of the design
and `ICARUS_SOURCES` or `VERILATOR_SOURCES`. With Verilator, somebody must define two functions; `QUIET_HOST`
is a file in which they do nothing:

    void flashtrain_violation(const char* message);
    void flashtrain_trace(int kind, int channel, int die, long long start, long long stop, int detail);
"""

from pathlib import Path

from .channel import DiePins, NandChannel, pins_of_dies
from .die_unit import DieUnit
from .pin_checker import PinChecker

__all__ = [
    "ICARUS_SOURCES",
    "QUIET_HOST",
    "VERILATOR_SOURCES",
    "DiePins",
    "DieUnit",
    "NandChannel",
    "PinChecker",
    "pins_of_dies",
]

_FOLDER = Path(__file__).parent

ICARUS_SOURCES = (_FOLDER / "array.sv", _FOLDER / "checker.sv", _FOLDER / "sca_checker.sv")
VERILATOR_SOURCES = (
    *ICARUS_SOURCES,
    *(
        _FOLDER / name
        for name in (
            "array_store.cpp",
            "array_log.cpp",
            "array_store.h",
            "array_image.h",
            "array_errors.h",
            "array_cut.h",
        )
    ),
)
QUIET_HOST = _FOLDER / "quiet_host.cpp"
