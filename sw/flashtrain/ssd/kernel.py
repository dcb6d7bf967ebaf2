"""The simulation of the drives: C++ in `kernel/`, built once per content."""

import ctypes
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.native.library import native_library
from flashtrain.spec import FlashtrainError
from flashtrain.spec.nand import SEQUENCES, BusOp

from .config import SsdConfig

COMMAND = np.dtype([(name, "<i8") for name in ("time", "first", "count", "op", "partial", "begun", "done")])
"""A command in pages of the array. time: cycles; partial: 1 for its first page, 2 for its last.

begun and done are results, in cycles."""

_SOURCES = sorted(Path(__file__).with_name("kernel").glob("*.[ch]*"))
_POINTER, _I64, _U64 = ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint64
_FUNCTIONS = {
    "flashtrain_ssd_parameters": (ctypes.c_char_p, []),
    "flashtrain_ssd_create": (_POINTER, [_POINTER]),
    "flashtrain_ssd_destroy": (None, [_POINTER]),
    "flashtrain_ssd_run": (_I64, [_POINTER, _POINTER, _I64, _I64]),
    "flashtrain_ssd_open": (None, [_POINTER, _POINTER, _I64]),
    "flashtrain_ssd_begin": (None, [_POINTER, _I64]),
    "flashtrain_ssd_advance": (_I64, [_POINTER, _I64]),
    "flashtrain_ssd_counts": (None, [_POINTER, _POINTER]),
    "flashtrain_ssd_fill": (None, [_POINTER, _I64, _I64, _I64, _POINTER]),
    "flashtrain_ssd_overwrite": (None, [_POINTER, _I64, _I64, _U64, _POINTER]),
    "flashtrain_ssd_blocks": (None, [_POINTER, _I64, _POINTER, _POINTER, _POINTER]),
}


class Counts(NamedTuple):
    """Work of all drives (`Count` in simulation.h).

    - written, moved: pages of the host, and of the collector.
    - erased: blocks. programs: page sets.
    - senses, pages_sensed: of arrays. buffer_hits: pages read from SRAM.
    - firmware_busy, bus_busy: cycles, of all cores and all buses together.
    - host_end: cycle of the host's last completion or program. moved_by_end: pages moved until then.
    """

    written: int = 0
    moved: int = 0
    erased: int = 0
    senses: int = 0
    pages_sensed: int = 0
    buffer_hits: int = 0
    programs: int = 0
    firmware_busy: int = 0
    bus_busy: int = 0
    host_end: int = 0
    moved_by_end: int = 0


class Untimed(NamedTuple):
    """Work of writes in no time: pages written and moved, superblocks erased."""

    written: int
    moved: int
    erased: int


class Superblocks(NamedTuple):
    """Superblocks of a drive: free ones, closed ones, and valid pages of the closed ones."""

    free: int
    closed: int
    valid: int


def parameters(config: SsdConfig) -> dict[str, int]:
    """The kernel's parameters by name: pages, and cycles of the NAND clock."""
    g, t = config.geometry, config.timing
    superpages = config.buffer_bytes // (g.superpage * g.page_bytes)
    times = ("tccs", "tadl", "tdbsy", "tchz", "trhw", "twb", "trr", "tr", "tcbsy", "tprog", "tbers", "tsusp",
             "tres", "tadv")  # fmt: skip
    return {
        "drives": config.drives, "stripe": config.stripe_pages, "channels": g.channels, "dies": g.dies,
        "planes": g.planes, "blocks": g.blocks, "pages": g.pages, "user_pages": config.user_pages,
        "gc_start": config.gc_start, "gc_critical": config.gc_critical,
        "buffer": (superpages - config.gc_superpages) * g.superpage,
        "gc_buffer": config.gc_superpages * g.superpage,
        "cores": config.firmware_cores, "write_time": config.firmware_cycles(config.write_ns),
        "move_time": config.firmware_cycles(config.move_ns), "read_time": config.cycles(config.read_ns),
        "link": config.firmware_cycles(config.link_ns),
        "suspend": int(config.suspended_reads),
        "sense_command": command_cycles(config, BusOp.READ_MORE),
        "erase_command": command_cycles(config, BusOp.ERASE_MORE),
        "select": command_cycles(config, BusOp.SELECT),
        "address": command_cycles(config, BusOp.PROGRAM_PAGE),
        "confirm": command_cycles(config, BusOp.PROGRAM_LAST),
        # The status byte comes one cycle after tWHR.
        "status": command_cycles(config, BusOp.STATUS) + t.cycles("twhr") + 1,
        "data": -(-config.bus_page_bytes // 2),
        **{name: t.cycles(name) for name in times},
    }  # fmt: skip


def command_cycles(config: SsdConfig, op: BusOp) -> int:
    """Cycles of the command and address bytes of a bus operation (`flashtrain.spec.nand.SEQUENCES`)."""
    sequence = SEQUENCES[op]
    commands = sum(command is not None for command in (sequence.first, sequence.second, sequence.third))
    return (commands + int(sequence.address)) * config.timing.cycles("twc")


class SsdHang(FlashtrainError):
    """Commands of the host never end."""


class Kernel:
    """The drives of a configuration; close it at the end."""

    def __init__(self, config: SsdConfig) -> None:
        self._library = library = load_kernel()
        known = parameters(config)
        names = library.flashtrain_ssd_parameters().decode().split()
        values = np.array([known[name] for name in names], np.int64)
        self._simulation = ctypes.c_void_p(library.flashtrain_ssd_create(values.ctypes.data))

    def close(self) -> None:
        """Free the simulation. It is the last call, and comes once."""
        self._library.flashtrain_ssd_destroy(self._simulation)

    def run(self, commands: NDArray[np.void], depth: int) -> None:
        """Play `COMMAND`[n], and set their results. depth: commands in flight; 0: each at its time.

        :class:`SsdHang` if some never end.
        """
        assert commands.dtype == COMMAND and commands.flags.c_contiguous
        left = self._library.flashtrain_ssd_run(self._simulation, commands.ctypes.data, len(commands), depth)
        if left:
            raise SsdHang(f"no event is left, and {left} of {len(commands)} commands have not ended")

    def open(self, slots: NDArray[np.void]) -> None:
        """Take commands one by one: :meth:`begin` submits one of these, which the caller keeps alive."""
        self._library.flashtrain_ssd_open(self._simulation, slots.ctypes.data, len(slots))

    def begin(self, slot: int) -> None:
        """Submit the command in a slot, at the present cycle."""
        self._library.flashtrain_ssd_begin(self._simulation, slot)

    def advance(self, until: int) -> int:
        """Go on until a command is done, or to the cycle `until`; returns the present cycle."""
        return self._library.flashtrain_ssd_advance(self._simulation, until)

    def counts(self) -> Counts:
        values = np.zeros(len(Counts._fields), np.int64)
        self._library.flashtrain_ssd_counts(self._simulation, values.ctypes.data)
        return Counts(*values.tolist())

    def fill(self, drive: int, first: int, count: int) -> Untimed:
        """Write logical pages of a drive in their order, in no time."""
        values = np.zeros(3, np.int64)
        self._library.flashtrain_ssd_fill(self._simulation, drive, first, count, values.ctypes.data)
        return Untimed(*values.tolist())

    def overwrite(self, drive: int, count: int, seed: int) -> Untimed:
        """Write `count` logical pages of a drive, each chosen at random, in no time."""
        values = np.zeros(3, np.int64)
        self._library.flashtrain_ssd_overwrite(self._simulation, drive, count, seed, values.ctypes.data)
        return Untimed(*values.tolist())

    def superblocks(self, drive: int) -> Superblocks:
        values = np.zeros(3, np.int64)
        at = [values.ctypes.data + 8 * index for index in range(3)]
        self._library.flashtrain_ssd_blocks(self._simulation, drive, *at)
        return Superblocks(*values.tolist())


@cache
def load_kernel() -> ctypes.CDLL:
    """The library of this model, compiled unless the user's cache has it."""
    return native_library("flashtrain_ssd", _SOURCES, _FUNCTIONS)
