"""Errors of the simulated cells: which bits a sense gets wrong, which programs and erases fail, and when a
die hangs.

`model` says how often, from wear, age and reads, and `presets` has sets of parameters; `draws` says which,
the same as `nand/array_errors.h` does for the arrays of the RTL Link (:meth:`RtlLink.set_errors`). `cut` is
what programs and erases leave that are cut short, with a model and without.
"""

from .cut import cut_erase, cut_program
from .draws import (
    PagePlace,
    erase_fails,
    erase_hangs,
    program_fails,
    program_hangs,
    sense_hangs,
    torn,
    wrong_bits,
)
from .model import Ageing, ErrorModel, Wear
from .presets import SLC, even
from .record import CUT_RECORD, FLIP_RECORD, ModelRecord, model_record

__all__ = [
    "CUT_RECORD",
    "FLIP_RECORD",
    "SLC",
    "Ageing",
    "ErrorModel",
    "ModelRecord",
    "PagePlace",
    "Wear",
    "cut_erase",
    "cut_program",
    "erase_fails",
    "erase_hangs",
    "even",
    "model_record",
    "program_fails",
    "program_hangs",
    "sense_hangs",
    "torn",
    "wrong_bits",
]
