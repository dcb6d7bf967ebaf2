"""`Reply`: the answer to a command, before it has its place in a queue."""

from asyncio import Future
from typing import NamedTuple

from flashtrain.nvme.wire.statuses import TargetStatus


class Reply(NamedTuple):
    """A status, the result of the completion entry, and data for the host."""

    status: int = TargetStatus.SUCCESS
    result: int = 0
    data: bytes | bytearray | memoryview = b""


SUCCESS = Reply()


def reply_of(task: "Future[Reply]") -> Reply:
    """The reply of a task that has ended, whatever its end was."""
    if task.cancelled() or task.exception() is not None:
        return Reply(TargetStatus.INTERNAL_ERROR)
    return task.result()
