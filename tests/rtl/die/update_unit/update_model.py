"""An update unit in a shared library, and the reference that it has to equal."""

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from flashtrain.rtl.die.update_unit import UpdateUnit
from flashtrain.sim.verilator.verilated import (
    ModelSource,
    build_shared_library,
    exported_sources,
    verilate_all,
)
from flashtrain.spec.optimizer import PARTIAL_SUMS, PROGRAMS, CopyFormat, GradientFormat, OptimizerCode
from flashtrain.training.optimizers import Constants, statistics, update

HARNESS = Path(__file__).with_name("update_harness.cpp")
_ARRAYS_IN, _ARRAYS_OUT = ("w", "m", "v", "gradient"), ("new_w", "new_m", "new_v", "copy")
_DTYPES = {GradientFormat.FP32: np.float32, GradientFormat.FP16: np.float16, GradientFormat.BF16: np.uint16}


class _Sequence(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_uint32) for name in ("code", "gradient_format", "copy_format")),
        *((name, ctypes.c_uint32) for name in ("clear", "restart")),
        ("constants", ctypes.c_uint32 * 8),
        *((name, ctypes.c_uint32) for name in ("stall_percent", "gap_percent", "count", "leave_after")),
        *((name, ctypes.c_void_p) for name in (*_ARRAYS_IN, *_ARRAYS_OUT)),
        *((name, ctypes.c_uint32) for name in ("shortest", "longest", "cycles", "spurious")),
        *((name, ctypes.c_uint32) for name in ("nans", "infinities", "largest")),
        ("squares", ctypes.c_uint32 * PARTIAL_SUMS),
    ]


@dataclass(frozen=True)
class Settings:
    """What is stable during a sequence."""

    code: OptimizerCode
    gradient_format: GradientFormat = GradientFormat.FP32
    copy_format: CopyFormat = CopyFormat.NONE
    constants: tuple[int, ...] = (0,) * 8


@dataclass(frozen=True)
class Results:
    """Bits: of the new w, m, v and the copy as far as there are any; then the statistics."""

    arrays: Mapping[str, np.ndarray]
    statistics: Mapping[str, object]


@dataclass(frozen=True)
class Times:
    """In enabled cycles."""

    shortest: int
    longest: int
    total: int


class VerilatedUnit:
    """An update unit that runs sequences, one after the other."""

    def __init__(self, unit: UpdateUnit, name: str, seed: int):
        # A model per unit: the class in the library has the same name in all.
        sources = exported_sources(lambda: unit, "update_unit", name)
        source = ModelSource(sources, "update_unit", "Vupdate_unit", optimization="-Og")
        models = verilate_all([source], "update_unit")
        library = build_shared_library(models, [HARNESS], "update_unit", optimization="-Og")
        self._library = ctypes.CDLL(str(library))
        self._library.create.restype = ctypes.c_void_p
        self._bench = ctypes.c_void_p(self._library.create(seed & 0xFFFF_FFFF))

    def close(self) -> None:
        self._library.destroy(self._bench)

    def run(
        self, settings: Settings, operands: Mapping[str, np.ndarray], stall=0, gap=0, clear=True,
        restart=False,
    ) -> tuple[Results, Times]:  # fmt: skip
        """Bits in, bits out; `stall` and `gap` in percent of cycles, and of chances to enter."""
        count = len(operands["w"])
        sequence, arrays = self._run(
            settings, operands, clear, restart=restart, stall_percent=stall, gap_percent=gap
        )
        assert sequence.count == count, f"{sequence.count} results of {count}"
        program = PROGRAMS[settings.code]
        wanted = {"new_w": True, "new_m": program.m, "new_v": program.v, "copy": settings.copy_format}
        return Results(
            {name: arrays[name] for name, needed in wanted.items() if needed},
            {
                "nans": sequence.nans,
                "infinities": sequence.infinities,
                "largest": sequence.largest,
                "squares": tuple(sequence.squares),
            },
        ), Times(sequence.shortest, sequence.longest, sequence.cycles)

    def leave(self, settings: Settings, operands: Mapping[str, np.ndarray], after: int) -> None:
        """Go away when `after` parameters have entered, with some of them on their way."""
        self._run(settings, operands, clear=True, leave_after=after)

    def _run(self, settings: Settings, operands: Mapping[str, np.ndarray], clear: bool, **how: int):
        count = len(operands["w"])
        arrays = {name: np.ascontiguousarray(operands[name], np.uint32) for name in _ARRAYS_IN}
        arrays |= {name: np.zeros(count, np.uint32) for name in _ARRAYS_OUT}
        sequence = _Sequence(
            code=settings.code, gradient_format=settings.gradient_format, copy_format=settings.copy_format,
            clear=clear, constants=settings.constants, count=count, **how,
            **{name: array.ctypes.data for name, array in arrays.items()},
        )  # fmt: skip
        self._library.run(self._bench, ctypes.byref(sequence))
        assert sequence.spurious == 0, f"{sequence.spurious} results more than operands"
        return sequence, arrays


def reference(settings: Settings, operands: Mapping[str, np.ndarray]) -> Results:
    """What the unit has to deliver, by `flashtrain.training.optimizers`."""
    program = PROGRAMS[settings.code]
    constants = Constants.from_words(settings.code, settings.constants)
    w, m, v = (operands[name].view(np.float32) for name in ("w", "m", "v"))
    dtype = _DTYPES[settings.gradient_format]
    gradient = operands["gradient"].astype(f"u{np.dtype(dtype).itemsize}").view(dtype)
    after = update(constants, gradient, w, m if program.m else None, v if program.v else None,
                   settings.copy_format)  # fmt: skip
    arrays = {"new_w": after.w, "new_m": after.m, "new_v": after.v, "copy": after.copy}
    counted = statistics(gradient)
    return Results(
        {name: bits(array) for name, array in arrays.items() if array is not None},
        {
            "nans": counted.nans,
            "infinities": counted.infinities,
            "largest": int(bits(counted.largest)),
            "squares": tuple(int(bits(square)) for square in counted.squares),
        },
    )


def bits(array: np.ndarray | np.float32) -> np.ndarray:
    """The bits of numbers of 16 or 32 bits, as uint32."""
    array = np.asarray(array)
    return array.view(f"u{array.itemsize}").astype(np.uint32)
