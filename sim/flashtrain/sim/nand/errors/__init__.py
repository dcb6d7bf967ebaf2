"""Errors of the simulated cells: which bits a sense gets wrong, which programs and erases fail, and when a
die hangs.

`model` says how often, from wear, age and reads, and `presets` has sets of parameters; `draws` says which,
the same as `nand/array_errors.h` does for the arrays of the RTL Link (:meth:`RtlLink.set_errors`). `cut` is
what programs and erases leave that are cut short, with a model and without. `factory` says which blocks are
bad from the beginning, and `reads` what reads make of it all.
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
from .factory import FactoryMark, as_spares_last, factory_marks
from .model import Ageing, ErrorModel, Wear
from .presets import SLC, even
from .reads import PageRead, read_of
from .record import CUT_RECORD, FLIP_RECORD, ModelRecord, model_record

__all__ = [
    "CUT_RECORD",
    "FLIP_RECORD",
    "SLC",
    "Ageing",
    "ErrorModel",
    "FactoryMark",
    "ModelRecord",
    "PagePlace",
    "PageRead",
    "Wear",
    "as_spares_last",
    "cut_erase",
    "cut_program",
    "erase_fails",
    "erase_hangs",
    "even",
    "factory_marks",
    "model_record",
    "program_fails",
    "program_hangs",
    "read_of",
    "sense_hangs",
    "torn",
    "wrong_bits",
]
