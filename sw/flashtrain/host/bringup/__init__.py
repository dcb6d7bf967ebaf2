"""Bring-up of NAND chips: the driver's side of the command port, and the steps to a timing mode."""

from .bring_up import ChipReport, Step, bring_up, calibrate, probed
from .command_port import ChipPins, CommandPort
from .errors import (
    BringUpError,
    CalibrationFailed,
    ChipBusy,
    ChipMissing,
    DataLineDead,
    FeatureRefused,
    NotDeclared,
    ParameterPageDamaged,
    PortMissing,
    ReadyLineStuck,
    WrongChip,
)
from .parameter_page import ParameterPage

__all__ = [
    "BringUpError", "CalibrationFailed", "ChipBusy", "ChipMissing", "ChipPins", "ChipReport", "CommandPort",
    "DataLineDead", "FeatureRefused", "NotDeclared", "ParameterPage", "ParameterPageDamaged", "PortMissing",
    "ReadyLineStuck", "Step", "WrongChip", "bring_up", "calibrate", "probed",
]  # fmt: skip
