"""A board in Verilator behind a socket or a pseudo-terminal."""

import ctypes
import os
import shutil
import socket
import tempfile
import threading
from _ctypes import dlclose
from collections.abc import Callable, Sequence
from inspect import getsource
from pathlib import Path
from types import TracebackType
from typing import Self

from amaranth.lib import wiring

from flashtrain.sim.nand import VERILATOR_SOURCES
from flashtrain.sim.verilator.cxx import timing_object
from flashtrain.sim.verilator.verilated import (
    ModelSource,
    build_shared_library,
    exported_sources,
    verilate_all,
)
from flashtrain.spec.boards import Board
from flashtrain.spec.errors import FlashtrainError

from .simulated_board import SimulatedBoard

_HARNESS = Path(__file__).with_name("board.cpp")
_SECONDS_TO_STOP = 10
_CLOSED = -1
_OPTIMIZATION = "-Og"
"""A board waits for its line most of the time: more takes longer to compile than it saves."""


class BoardViolation(FlashtrainError):
    """The models of the dies or the checker on the pins refused what the board did."""


class BoardSimulation:
    """A board that runs in a thread while it is open; use it in a `with` statement.

    Parameters
    ----------
    design, chips
        The top, with the ports of `SimulatedBoard`, and the SystemVerilog of its chips, which has delays.
    gates
        SystemVerilog that takes the place of the design's files of the same names.

    Members
    -------
    line : the host's end of the serial line, an open socket
    terminal : the path of a pseudo-terminal in its place, for another process; None with a socket
    """

    def __init__(
        self,
        board: Board,
        *,
        terminal: bool = False,
        design: Callable[[Board], wiring.Component] = SimulatedBoard,
        chips: Sequence[Path] = (),
        gates: Sequence[Path] = (),
    ) -> None:
        self.board = board
        self.terminal: str | None = None
        self.line: socket.socket | None = None
        self._has_terminal = terminal
        self._ours = self._kept = _CLOSED
        self._stop = ctypes.c_int32(0)
        self._library = _board_library(board, design, chips, gates)
        self._library.flashtrain_board_open(board.divisor, 1_000_000_000_000 // board.clock_hz)
        self._open_line()
        self._start()

    @property
    def cycles(self) -> int:
        """Of the board's clock since it was opened."""
        return self._library.flashtrain_board_cycles()

    @property
    def violations(self) -> int:
        """Breaches of their protocol that the chips have counted."""
        return self._library.flashtrain_board_violations()

    def power_cycle(self) -> None:
        """Reset the board, as a loss of power does; the dies keep their content."""
        self._halt()
        self._library.flashtrain_board_reset()
        self._start()

    def cut_power(self, cycles: int, busy: bool = False) -> None:
        """Let the power fail so many cycles from now, in the middle of whatever the board does; 0: never.

        The line ends with it, as that of a board does that its cable supplies.

        busy: those cycles alone count in which a chip is busy.
        """
        self._library.flashtrain_board_cut(cycles, busy)

    def restore_power(self) -> None:
        """Begin anew after :meth:`cut_power`, with another `line` or `terminal`."""
        self._thread.join(timeout=_SECONDS_TO_STOP)
        if self._thread.is_alive():
            raise BoardViolation(f"the power has not failed within {_SECONDS_TO_STOP} s; expected a cut")
        self._library.flashtrain_board_reset()
        self._open_line()
        self._start()

    def fail_next(self, *, program: bool = False, erase: bool = False) -> None:
        """Let the next operation of a chip fail, if it is such a one."""
        self._library.flashtrain_board_fail(program | erase << 1)

    def check(self) -> None:
        """Raise :class:`BoardViolation` if the board has broken the protocol of its dies."""
        message = self._library.flashtrain_board_first_violation()
        if message:
            raise BoardViolation(message.decode())

    def close(self) -> None:
        if self._library is None:
            return
        self._halt()
        library, self._library = self._library, None
        library.flashtrain_board_close()
        dlclose(library._handle)  # ctypes never unmaps a library
        self._end_line()
        if self.line is not None:
            self.line.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _open_line(self) -> None:
        if self._has_terminal:
            self._ours, self._kept = os.openpty()
            self.terminal = os.ttyname(self._kept)
            return
        if self.line is not None:
            self.line.close()
        self.line, end = socket.socketpair()
        self._ours = end.detach()

    def _end_line(self) -> None:
        """The host finds its end closed."""
        for descriptor in (self._ours, self._kept):
            if descriptor != _CLOSED:
                os.close(descriptor)
        self._ours = self._kept = _CLOSED

    def _start(self) -> None:
        self._stop.value = 0
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        if self._library.flashtrain_board_serve(self._ours, ctypes.byref(self._stop)):
            self._end_line()

    def _halt(self) -> None:
        self._stop.value = 1
        self._thread.join(timeout=_SECONDS_TO_STOP)
        if self._thread.is_alive():
            raise BoardViolation(f"the simulated board does not stop within {_SECONDS_TO_STOP} s")


def _board_library(
    board: Board, design: Callable[[Board], wiring.Component], chips: Sequence[Path], gates: Sequence[Path]
) -> ctypes.CDLL:
    """A copy of the compiled board of its own: a library holds one in its static data."""
    sources = exported_sources(lambda: design(board), "board", repr((board, getsource(design))))
    names = {path.name for path in gates}
    sources = [path for path in sources if path.name not in names] + [*gates]
    own = chips or [path for path in VERILATOR_SOURCES if path.suffix == ".sv"]
    models = [] if chips else [path for path in VERILATOR_SOURCES if path.suffix != ".sv"]
    # Gates take most of the time of a simulation.
    optimization = "-O2" if gates else _OPTIMIZATION
    source = ModelSource([*sources, *own], "board", "Vboard", optimization=optimization, delays=bool(chips))
    path = build_shared_library(
        verilate_all([source], "board"),
        [_HARNESS, *models],
        "board",
        optimization="-O1",
        objects=[timing_object()] if chips else [],
    )
    with tempfile.NamedTemporaryFile(prefix="flashtrain-", suffix=".so") as copy:
        with path.open("rb") as library:
            shutil.copyfileobj(library, copy)
        copy.flush()
        loaded = ctypes.CDLL(copy.name)
    u32, u64, i32 = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int32
    signatures = {
        "open": (None, [u32, u64]),
        "reset": (None, []),
        "serve": (i32, [i32, ctypes.c_void_p]),
        "cut": (None, [u64, i32]),
        "fail": (None, [u32]),
        "cycles": (u64, []),
        "violations": (u32, []),
        "first_violation": (ctypes.c_char_p, []),
        "close": (None, []),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(loaded, f"flashtrain_board_{name}")
        function.restype, function.argtypes = result, arguments
    return loaded
