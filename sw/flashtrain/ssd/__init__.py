"""A conventional SSD: page-mapped, with garbage collection and firmware, alone or in RAID 0.

config.py    its parameters
kernel.py    the simulation, in C++ (`kernel/`)
pcie.py      links to the host: what their framing leaves for data
sheet.py     data sheets with their sources (`sheets/`)
fit.py       drives fitted to a data sheet, and the residuals
array.py     drives that take commands
commands.py  block traces as commands
fill.py      what the drives hold before a trace
bounds.py    the bandwidths that firmware, arrays and buses allow
greedy.py    the write amplification of greedy collection, in closed form
bench.py     measured beside the bounds
"""

from .array import CommandList, SsdArray, SsdRun
from .bounds import SsdBounds, bounds
from .config import SsdConfig

__all__ = ["CommandList", "SsdArray", "SsdBounds", "SsdConfig", "SsdRun", "bounds"]
