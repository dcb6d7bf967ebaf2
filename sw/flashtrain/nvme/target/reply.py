"""`Reply`: the answer to a command, before it has its place in a queue."""

from typing import NamedTuple

from flashtrain.nvme.wire.statuses import TargetStatus


class Reply(NamedTuple):
    """A status, the result of the completion entry, and data for the host."""

    status: int = TargetStatus.SUCCESS
    result: int = 0
    data: bytes | bytearray | memoryview = b""


SUCCESS = Reply()
