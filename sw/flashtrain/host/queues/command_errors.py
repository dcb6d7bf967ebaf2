"""Exceptions for commands that the device refused or failed to execute: one class per status."""

from flashtrain.spec import FlashtrainError, Port, Status

from .entries import Command


class CommandError(FlashtrainError):
    """The device answered a command with a status other than success.

    - status: the NVMe status; a `Status`, or a number that the contract does not define.
    - command: the command, which `port` submitted to `stream`.
    """

    def __init__(self, status: int, command: Command, port: Port, stream: str) -> None:
        self.status = status
        self.command = command
        self.port = port
        self.stream = stream
        name = status.name if isinstance(status, Status) else "unknown status"
        blocks = f" of {command.blocks} blocks" if command.blocks else ""
        super().__init__(
            f"{command.opcode.name}{blocks} at LBA {command.slba:#x} of stream {stream!r} "
            f"by port {port.name}: {name} ({status:#05x})"
        )

    @property
    def lba(self) -> int:
        """The block address that the command named."""
        return self.command.slba


class InvalidCommand(CommandError):
    """An opcode, a field or a namespace is not valid."""


class InvalidDataPointer(CommandError):
    """The data's address, length or descriptor is not valid, or lies outside the tensor buffer."""


class AccessDenied(CommandError):
    """The port may not do this to the stream."""


class LbaOutOfRange(CommandError):
    """The stream has no such block."""


class ZoneBoundaryError(CommandError):
    """The blocks do not lie in one zone."""


class ZoneFull(CommandError):
    """The zone takes no more blocks until it is reset."""


class ZoneReadOnly(CommandError):
    """The zone was retired to read-only, by a command or after a failed program."""


class ZoneOffline(CommandError):
    """The zone was retired to offline."""


class InvalidWrite(CommandError):
    """A write did not start at its zone's write pointer."""


class TooManyZones(CommandError):
    """The stream already has the maximum number of open or active zones."""


class InvalidZoneTransition(CommandError):
    """The zone's state does not allow the action."""


class UnwrittenBlock(CommandError):
    """A read reaches beyond the write pointer."""


class StreamPinned(CommandError):
    """The stream is pinned: its content cannot change until it is released."""


class StreamUncommitted(CommandError):
    """The stream is the destination of updates that were neither committed nor reset."""


class MediaError(CommandError):
    """The device failed to store or to fetch the data."""


class DataExpired(MediaError):
    """The data are past their stream's retention class, and the stream refuses such data."""


class CodedPageError(MediaError):
    """A page is not that of the array: its codec refuses it, though it was read without an error."""


class CodedStreamError(CommandError):
    """The command moves blocks as they are, and the stream has a codec."""


class StateLost(MediaError):
    """Optimizer state that cannot be read at any read level; `lost` names the tensors concerned."""

    def __init__(self, error: MediaError, lost: tuple[str, ...]) -> None:
        super().__init__(error.status, error.command, error.port, error.stream)
        self.lost = lost
        more = f" and {len(lost) - 4} more" if len(lost) > 4 else ""
        self.args = (f"{error}; pages are lost of {', '.join(lost[:4])}{more}",)


_CLASSES: dict[int, type[CommandError]] = {
    Status.INVALID_OPCODE: InvalidCommand,
    Status.INVALID_FIELD: InvalidCommand,
    Status.INVALID_NAMESPACE: InvalidCommand,
    Status.SGL_LENGTH_INVALID: InvalidDataPointer,
    Status.SGL_TYPE_INVALID: InvalidDataPointer,
    Status.SGL_GRANULARITY_INVALID: InvalidDataPointer,
    Status.DATA_TRANSFER_ERROR: InvalidDataPointer,
    Status.ACCESS_DENIED: AccessDenied,
    Status.LBA_OUT_OF_RANGE: LbaOutOfRange,
    Status.ZONE_BOUNDARY_ERROR: ZoneBoundaryError,
    Status.ZONE_IS_FULL: ZoneFull,
    Status.ZONE_IS_READ_ONLY: ZoneReadOnly,
    Status.ZONE_IS_OFFLINE: ZoneOffline,
    Status.ZONE_INVALID_WRITE: InvalidWrite,
    Status.TOO_MANY_ACTIVE_ZONES: TooManyZones,
    Status.TOO_MANY_OPEN_ZONES: TooManyZones,
    Status.INVALID_ZONE_TRANSITION: InvalidZoneTransition,
    Status.UNWRITTEN_BLOCK: UnwrittenBlock,
    Status.NAMESPACE_WRITE_PROTECTED: StreamPinned,
    Status.NAMESPACE_NOT_READY: StreamUncommitted,
    Status.WRITE_FAULT: MediaError,
    Status.UNRECOVERED_READ_ERROR: MediaError,
    Status.DATA_EXPIRED: DataExpired,
    Status.CODED_PAGE_ERROR: CodedPageError,
    Status.STREAM_IS_CODED: CodedStreamError,
}


def command_error(status: int, command: Command, port: Port, stream: str) -> CommandError:
    """The exception for `status`; a plain :class:`CommandError` if the status has no class of its own."""
    return _CLASSES.get(status, CommandError)(status, command, port, stream)
