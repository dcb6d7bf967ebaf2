"""Bring-up of NAND chips: the driver's side of the command port, and the steps to a timing mode."""

from .bring_up import ChipReport, Step, bring_up, probed
from .command_port import ChipPins, CommandPort
from .errors import (
    BringUpError,
    ChipBusy,
    ChipMissing,
    DataLineDead,
    FeatureRefused,
    ParameterPageDamaged,
    PortMissing,
    WrongChip,
)
from .parameter_page import ParameterPage

__all__ = [
    "BringUpError", "ChipBusy", "ChipMissing", "ChipPins", "ChipReport", "CommandPort", "DataLineDead",
    "FeatureRefused", "ParameterPage", "ParameterPageDamaged", "PortMissing", "Step", "WrongChip", "bring_up",
    "probed",
]  # fmt: skip
