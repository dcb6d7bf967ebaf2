"""The RTL Link with waves of all signals, in a window of cycles."""

import ctypes
from pathlib import Path

from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.sim.trace.window import NoTrace
from flashtrain.sim.verilator.cxx import WaveFormat
from flashtrain.sim.waves.lz4_header import require_lz4
from flashtrain.sim.waves.whole import build_whole
from flashtrain.spec import FlashtrainError, FmsConfig
from flashtrain.writing import write_text

MOST_CYCLES = 100_000
"""Of a window. A cycle of `tiny` takes 0.9 KB as VCD."""


class WaveError(FlashtrainError):
    """Waves cannot be written."""


class WaveLink(RtlLink):
    """An `RtlLink` to the system as one model, with the same values in the same cycles.

    Its signals are those of the exported SystemVerilog, all of them. It is slower than the system in parts,
    and slower still within the window (docs/tracing.md). A recording of it has no seams.

    format: of the waves.
    """

    def __init__(self, config: FmsConfig, memory_bytes: int, format: WaveFormat) -> None:
        self._format = format
        self._path: Path | None = None
        super().__init__(config, memory_bytes)
        text, number = ctypes.c_char_p, ctypes.c_uint64
        self._library.declare("waves", None, [text, number, number, number])
        self._library.declare("end_waves", number, [])

    def _build(self, config: FmsConfig) -> Path:
        if self._format is WaveFormat.FST:
            require_lz4()
        return build_whole(config, self._format)

    @property
    def most_cycles(self) -> int:
        """Cycles that a file of waves has at most."""
        return MOST_CYCLES

    def wave(self, path: Path, begin: int = 0, end: int | None = None) -> None:
        """Write the waves of cycles `begin` to before `end` into `path`, once on each Link.

        At most `MOST_CYCLES`, and at most until :meth:`end_waves`. :class:`OutputError` for a file that
        cannot be written.
        """
        if self._path is not None:
            raise WaveError(f"{path}: this Link has written {self._path}; expected one file of waves")
        write_text(path, "")  # new, for the simulator to write
        self._path = path
        begin = max(begin, self.cycles)
        last = begin + MOST_CYCLES if end is None else min(end, begin + MOST_CYCLES)
        mhz = self._config.timing.clock_mhz
        self._library.waves(str(path).encode(), begin, last, mhz)

    def end_waves(self) -> int:
        """End the file; the number of its cycles. `NoTrace` if the window has not begun."""
        cycles = self._library.end_waves()
        if self._path is not None and not cycles:
            raise NoTrace(f"{self._path} is empty: the run has ended at cycle {self.cycles:,}")
        return cycles
