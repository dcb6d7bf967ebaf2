"""Errors of the client of objects, as `OSError` has them, so that users of file systems know them."""

import errno

from flashtrain.nvme.errors import CommandFailed
from flashtrain.spec import FlashtrainError, Status


class ObjectsError(FlashtrainError, OSError):
    """Base of the errors that only this client has."""


class StreamRefused(ObjectsError):
    """The device answered a command to a stream with another status than success. `status` is NVMe's."""

    def __init__(self, number: int, text: str, status: int) -> None:
        super().__init__(number, text)
        self.status = status


class ObjectReplaced(ObjectsError):
    """The object of an open file was replaced or deleted, and its zones have been emptied since."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.ESTALE, f"{path}: the object was replaced or deleted while it was open")


class ClaimLost(ObjectsError):
    """Another client took the zones of data that had no name yet."""

    def __init__(self, path: str, lease: float) -> None:
        why = f"no byte was written for {lease:g} s, or the connection broke"
        text = f"{path}: {why}, and another client took its zones"
        super().__init__(errno.ESTALE, text)


class NamesDamaged(ObjectsError):
    """The stream for names has other data than names."""

    def __init__(self, text: str) -> None:
        super().__init__(errno.EIO, text)


_NUMBERS: dict[int, int] = {
    Status.ZONE_IS_FULL: errno.ENOSPC,
    Status.ZONE_BOUNDARY_ERROR: errno.ENOSPC,
    Status.TOO_MANY_ACTIVE_ZONES: errno.EBUSY,
    Status.TOO_MANY_OPEN_ZONES: errno.EBUSY,
    Status.ZONE_IS_READ_ONLY: errno.EROFS,
    Status.NAMESPACE_WRITE_PROTECTED: errno.EROFS,
}


def refusal(stream: str, action: str, failed: CommandFailed) -> OSError:
    """The error of a command that a stream has refused."""
    if failed.status == Status.ACCESS_DENIED:
        return PermissionError(errno.EACCES, f"this host may not {action} stream {stream!r}")
    known = {status.value: status.name.lower().replace("_", " ") for status in Status}
    name = known.get(failed.status, "unknown")
    text = f"stream {stream!r}: {action} failed with status {failed.status:#05x}, {name}"
    return StreamRefused(_NUMBERS.get(failed.status, errno.EIO), text, failed.status)
