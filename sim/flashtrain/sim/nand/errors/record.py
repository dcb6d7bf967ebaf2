"""Model and wrong bits as the arrays have them: `Model` in array_errors.h, `Flip` and `CutShort` in
array_store.cpp."""

import ctypes

import numpy as np

from .model import ErrorModel

FLIP_RECORD = np.dtype([
    ("channel", np.uint16), ("die", np.uint16), ("plane", np.uint16), ("block", np.uint16),
    ("page", np.uint32), ("sense", np.uint32), ("bit", np.uint32),
])  # fmt: skip
"""A bit that a sense got wrong. sense: how often the page had been sensed since its block was erased."""

CUT_RECORD = np.dtype([
    (name, np.uint32) for name in ("erase", "channel", "die", "plane", "block", "page", "left")
])  # fmt: skip
"""A program (or if `erase` an erase) on a plane that was cut short. page: of an erase how many the block had;
left: zeros that are missing, or of an erase still there."""

_NUMBERS = 21


class ModelRecord(ctypes.Structure):
    """`Model`: a seed, and numbers."""

    _fields_ = [("seed", ctypes.c_uint64), ("numbers", ctypes.c_double * _NUMBERS)]


def model_record(model: ErrorModel) -> ModelRecord:
    def ageing(name: str) -> tuple[float, ...]:
        part = getattr(model, name)
        return part.rate, part.amount, part.wear_exponent, part.exponent

    numbers = (
        *(model.rated_cycles, model.cycles_before, model.fresh),
        *(model.wear.rate, model.wear.exponent),
        *ageing("retention"),
        *ageing("disturb"),
        *(model.transient, model.level_factor),
        *(model.program_failure.rate, model.program_failure.exponent),
        *(model.erase_failure.rate, model.erase_failure.exponent),
        *(model.hang.rate, model.hang.exponent),
    )
    return ModelRecord(model.seed, (ctypes.c_double * _NUMBERS)(*numbers))
