"""Exceptions of the host: mistakes in the use of the driver, and a device that does not answer.

Commands that the device refuses are in `command_errors`.
"""

from flashtrain.spec import FlashtrainError


class HostError(FlashtrainError):
    """Base of the host's own errors."""


class RegisterError(HostError):
    """The device refused an access to a register (AXI: SLVERR); the message has the address."""


class DeviceHang(HostError):
    """The device did not do what it must within the time it has for it."""


class DeviceMismatch(HostError):
    """The device behind the Link is not the one that was asked for."""


class DeviceClosed(HostError):
    """The device was closed or disabled before this could be done."""


class RecoveryError(HostError):
    """What the flash holds cannot be recovered; nothing of it was changed."""


class JournalDamaged(RecoveryError):
    """The newest record of the journal is whole, but not what was written."""


class ForeignContent(RecoveryError):
    """The flash was written with another table of streams."""


class DeviceEnabled(HostError):
    """The controller is enabled; this can be done only while it is not."""


class ArrayError(HostError, ValueError):
    """An array, a dtype or a range of blocks cannot be stored, or does not match what is stored."""


class ForeignHandle(ArrayError):
    """A handle belongs to another device or to another stream."""


class ForeignPending(HostError, ValueError):
    """An operation belongs to another device."""


class StaleHandle(ArrayError):
    """A handle belongs to content that was reset, formatted away, or lost with the power."""


class TensorMismatch(ArrayError):
    """Tensors do not have the number, the shapes or the dtype of those that are stored."""


class BufferFull(HostError, MemoryError):
    """The tensor buffer has no room for this."""


class StreamFull(HostError):
    """The stream's zones have no room for this; nothing was appended."""


class UpdateError(HostError):
    """Base of what stands against an optimizer step on the dies. Nothing was changed."""


class StateMissing(UpdateError):
    """The optimizer state was never initialised."""


class NothingToCommit(UpdateError):
    """There is no update that could be committed or skipped."""


class UpdatePending(UpdateError):
    """An update has neither been committed nor skipped."""


class GenerationPinned(UpdateError):
    """Every stream that the next generation could go to is pinned."""


class ForeignGeneration(UpdateError):
    """A stream does not hold the generation that was expected: it was reset, or has another user."""
