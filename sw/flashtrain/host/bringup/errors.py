"""Exceptions of a bring-up: each names the chip, what it did, and what was expected."""

from flashtrain.host.errors import HostError


class PortMissing(HostError):
    """The device has no command port, or its Link has no pins."""


class BringUpError(HostError):
    """Base of the failures of a chip; nothing on it was programmed or erased."""


class ChipMissing(BringUpError):
    """All that was read are the levels of pins that nobody drives."""


class ChipBusy(BringUpError):
    """A chip has not become ready in the time that ONFI, or its parameter page, gives it."""


class ReadyLineStuck(BringUpError):
    """R/B# is low for longer than any operation, while the status is ready; or it never falls in a reset."""


class DataLineDead(BringUpError):
    """A data line has one level whatever the chip sends."""


class WrongChip(BringUpError):
    """The chip is none of ONFI, or not the one that the configuration describes."""


class ParameterPageDamaged(BringUpError):
    """No copy of the parameter page has a right CRC, and neither has the majority of their bits."""


class NotDeclared(BringUpError):
    """The configuration asks for what the parameter page of a chip does not declare."""


class CalibrationFailed(BringUpError):
    """The status after a ZQ calibration has FAIL, as without a resistor at the pin ZQ."""


class FeatureRefused(BringUpError):
    """A feature does not read back as it was set."""
