"""Exceptions of the target and the client."""

from flashtrain.spec import FlashtrainError


class NvmeError(FlashtrainError):
    """Base of the exceptions of this package."""


class ServeError(NvmeError):
    """The target cannot be started as asked for."""


class ProtocolError(NvmeError):
    """The other side ended the connection, or sent bytes that are no PDU of the transport."""


class DeviceStopped(NvmeError):
    """The controller reports a fatal status (CSTS.CFS): its device has stopped."""


class CommandFailed(NvmeError):
    """The controller answered a command with another status than success."""

    def __init__(self, what: str, status: int, do_not_retry: bool, result: int) -> None:
        super().__init__(f"{what}: status {status:#05x}{', do not retry' if do_not_retry else ''}")
        self.status, self.do_not_retry, self.result = status, do_not_retry, result
