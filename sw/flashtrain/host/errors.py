"""Exceptions of the host: misuse of the driver, and a device that does not answer.

Exceptions for commands that the device refuses are in `command_errors`.
"""

from flashtrain.spec import FlashtrainError


class HostError(FlashtrainError):
    """Base of the host's own errors."""


class RegisterError(HostError):
    """The device refused a register access (AXI: SLVERR); the message has the address."""


class DeviceHang(HostError):
    """The device did not answer or change its state within the time limit."""


class DeviceMismatch(HostError):
    """The device behind the Link is not of this driver's version, or not of the requested configuration."""


class DeviceClosed(HostError):
    """The device was closed or disabled before the operation could finish."""


class ForeignProcess(HostError):
    """A device, its image or a connection is used by another process than the one that opened it."""


class RecoveryError(HostError):
    """The content of the flash cannot be recovered; recovery has changed nothing."""


class JournalDamaged(RecoveryError):
    """The newest record of the journal has all its pages, but its content is corrupt."""


class ForeignContent(RecoveryError):
    """The flash was written with another table of streams."""


class DeviceEnabled(HostError):
    """The controller is enabled, and the operation is valid only while it is disabled."""


class ArgumentError(HostError, ValueError):
    """An argument is not of the kind, or not in the range, that a method expects."""


class ArrayError(ArgumentError):
    """An array, a dtype or a range of blocks cannot be stored, or does not match the stored array."""


class ForeignHandle(ArrayError):
    """A handle belongs to another device or to another stream."""


class ForeignPending(HostError, ValueError):
    """An operation belongs to another device."""


class StaleHandle(ArrayError):
    """A handle belongs to content that a reset, a format or a loss of power has removed."""


class TensorMismatch(ArrayError):
    """Tensors do not have the number, the shapes or the dtype of the stored ones."""


class BufferFull(HostError, MemoryError):
    """The tensor buffer has no free run of blocks that is long enough."""


class StreamFull(HostError):
    """The stream's zones have no room for the array; nothing was appended."""


class WearBudgetExceeded(HostError):
    """At the present rate the flash wears out before the days of its `WearBudget` are over.

    No command was sent: everything that was stored can be read, and the operation may be called again.
    """


class NoteTooLong(HostError, ValueError):
    """The notes of all streams are too long for a record of the journal; nothing was changed."""


class JournalMissing(HostError):
    """A note needs a journal, and the node has none, or does not record the stream."""


class UpdateError(HostError):
    """Base of the errors that prevent an optimizer step on the dies; the state is unchanged."""


class StateMissing(UpdateError):
    """The optimizer state was never initialised."""


class NothingToCommit(UpdateError):
    """No update could be committed or skipped."""


class UpdatePending(UpdateError):
    """An update has neither been committed nor skipped."""


class GenerationPinned(UpdateError):
    """Every stream that could hold the next generation is pinned."""


class ForeignGeneration(UpdateError):
    """A stream does not hold the expected generation: it was reset, or has another user."""


class ImageError(HostError):
    """The image of a flash cannot be used; the message names the file and what was expected."""


class ImageLocked(ImageError):
    """Another device has the image open."""


class ImageMismatch(ImageError):
    """The image is of another configuration, or of a newer version of the format."""


class ImageDamaged(ImageError):
    """The file is no image, or is truncated, or a record of it has a wrong checksum."""
