"""Update lanes in Verilator: what computes a step in the controller (`flashtrain.perf.update_lanes`)."""

import ctypes
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.state.state_stream import TileStep
from flashtrain.perf.update_lanes import UpdatedTile
from flashtrain.rtl.die.registers.pin_lanes import LANE_BYTES
from flashtrain.rtl.update_lane import LaneOrder, LaneTask, UpdateLane
from flashtrain.sim.link.rtl_link import MemoryTiming
from flashtrain.sim.verilator.verilated import build_shared_library, exported_sources, verilate
from flashtrain.spec import FlashtrainError, FmsConfig
from flashtrain.spec.errors import require, require_range
from flashtrain.spec.update import UpdateStatistics

_HARNESS = Path(__file__).with_name("lane.cpp")
_TIMEOUT = 2000  # cycles per word of an order


class LaneError(FlashtrainError):
    """A lane did not do its order, or moved other words than those of the order."""


class RtlUpdateLane:
    """An update lane of its own; close it at the end.

    Parameters
    ----------
    config
        Of the hardware.
    latency
        Of the tensor buffer: cycles until the first word of an order comes, and after the last that goes.
    busy_percent, seed
        Share of cycles, chosen at random, in which the tensor buffer has no time for the lane, on each side.
    """

    def __init__(
        self, config: FmsConfig, latency: int = MemoryTiming.latency, busy_percent: int = 0, seed: int = 0
    ) -> None:
        require_range("lane.latency", latency, 0, 100_000)
        require_range("lane.busy_percent", busy_percent, 0, 99)
        self._config, self._latency, self._busy_percent = config, latency, busy_percent
        self._layout = LaneOrder(config)
        self._step: TileStep | None = None
        self._library = _library(config)
        self._lane = ctypes.c_void_p(self._library.flashtrain_lane_create(seed & 0xFFFF_FFFF))

    def close(self) -> None:
        """Once; nothing else afterwards."""
        self._library.flashtrain_lane_destroy(self._lane)

    def begin(self, step: TileStep) -> int:
        self._step = step
        _none, cycles = self._do(LaneTask.STEP, step.header(), 0)
        return cycles + self._latency

    def update(self, tile: NDArray[np.uint8], gradients: NDArray[np.uint8], place: int = 0) -> UpdatedTile:
        if self._step is None:
            raise LaneError("an update lane was given a tile before a step")
        shape = self._step.tile
        require(tile.nbytes == shape.geometry.page_set_bytes, "tile.nbytes", tile.nbytes,
                f"{shape.geometry.page_set_bytes}")  # fmt: skip
        gradient_words = _words(shape.parameters * shape.gradient_format.bytes)
        copy_words = _words(shape.parameters * shape.copy_format.bytes)
        data = gradients.tobytes()[: LANE_BYTES * gradient_words] + tile.tobytes()
        out, cycles = self._do(
            LaneTask.TILE, data, _words(tile.nbytes) + copy_words, gradient_words, copy_words, place
        )
        return UpdatedTile(out[: tile.nbytes], out[tile.nbytes :], cycles + 2 * self._latency)

    def statistics(self) -> bytes:
        """The `UpdateStatistics` of the step."""
        out, _cycles = self._do(LaneTask.REPORT, b"", _words(UpdateStatistics.BYTES))
        return out.tobytes()

    def _do(
        self, task: LaneTask, data: bytes, out_words: int, gradients: int = 0, copies: int = 0, place: int = 0
    ) -> tuple[NDArray[np.uint8], int]:
        """Bytes that come out, and cycles of the lane."""
        order = self._layout.const({"task": task, "gradients": gradients, "copies": copies, "place": place})
        words, out = np.frombuffer(data, np.uint64), np.empty(out_words, np.uint64)
        cycles = self._library.flashtrain_lane_do(
            self._lane, order.as_bits(), words.ctypes.data, len(words), out.ctypes.data, len(out),
            self._busy_percent, _TIMEOUT * (len(words) + len(out)),
        )  # fmt: skip
        if not cycles:
            raise LaneError(
                f"{task.name} with {len(words)} words in and {len(out)} out was not done by an update lane"
            )
        return out.view(np.uint8), cycles


@contextmanager
def update_lanes(config: FmsConfig) -> Iterator[tuple[RtlUpdateLane, ...]]:
    """As many as there are dies, which is how OptimStore compares; closed at the end."""
    dies = config.geometry.channels * config.geometry.dies
    with ExitStack() as stack:
        yield tuple(stack.enter_context(closing(RtlUpdateLane(config))) for _ in range(dies))


def _words(nbytes: int) -> int:
    return -(-nbytes // LANE_BYTES)


def _library(config: FmsConfig) -> ctypes.CDLL:
    """Built once per content."""
    sources = exported_sources(lambda: UpdateLane(config), "update_lane", repr(config))
    model = verilate(sources, "update_lane", "Vupdate_lane")
    library = ctypes.CDLL(str(build_shared_library([model], [_HARNESS], "update_lane")))
    u32, u64, pointer = ctypes.c_uint32, ctypes.c_uint64, ctypes.c_void_p
    signatures = {
        "create": (pointer, [u32]),
        "destroy": (None, [pointer]),
        "do": (u64, [pointer, u64, pointer, u64, pointer, u64, u32, u64]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, f"flashtrain_lane_{name}")
        function.restype, function.argtypes = result, arguments
    return library
