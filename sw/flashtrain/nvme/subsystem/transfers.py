"""Read, write, append and flush as steps on the device."""

from flashtrain.host.queues.entries import Command
from flashtrain.spec import Opcode, Status

from .jobs import HostData, Space, Steps
from .namespaces import Namespace
from .reply import Reply

FORCE_UNIT_ACCESS = 1 << 30


def read(
    namespace: Namespace, lba: int, blocks: int, fails_on_unwritten: bool, space: Space, host: HostData
) -> Steps:
    """Read blocks. Blocks that were never written are zeros, unless the host asked for an error (DULBE)."""
    length = blocks * namespace.block_bytes
    completion = yield _move(Opcode.READ, namespace, lba, blocks, space)
    if completion.status == Status.SUCCESS:
        return Reply(Status.SUCCESS, data=host.take(space.view[:length]))
    if completion.status != Status.UNWRITTEN_BLOCK or fails_on_unwritten:
        return Reply(completion.status)
    return (yield from _read_written(namespace, lba, blocks, space, host))


def _read_written(namespace: Namespace, lba: int, blocks: int, space: Space, host: HostData) -> Steps:
    """Read the written blocks, found by bisection: all in front of the write pointer, and no others."""
    written, unwritten = 0, blocks
    while unwritten > written:
        middle = (written + unwritten) // 2
        completion = yield _move(Opcode.READ, namespace, lba + middle, 1, space)
        if completion.status == Status.UNWRITTEN_BLOCK:
            unwritten = middle
        else:
            written = middle + 1
    if written:
        completion = yield _move(Opcode.READ, namespace, lba, written, space)
        if completion.status != Status.SUCCESS:
            return Reply(completion.status)
    end = written * namespace.block_bytes
    space.view[end : blocks * namespace.block_bytes] = 0
    return Reply(Status.SUCCESS, data=host.take(space.view[: blocks * namespace.block_bytes]))


def write(opcode: Opcode, namespace: Namespace, lba: int, blocks: int, durable: bool, space: Space) -> Steps:
    """Write or append the blocks in `space`.

    durable: complete when the data survive a loss of power (FUA); those of a non-volatile stream always do.
    """
    completion = yield _move(opcode, namespace, lba, blocks, space)
    if completion.status == Status.SUCCESS and durable and namespace.volatile:
        flushed = yield Command(Opcode.FLUSH, namespace.nsid)
        if flushed.status != Status.SUCCESS:
            return Reply(flushed.status)
    return Reply(completion.status, completion.result if opcode is Opcode.ZONE_APPEND else 0)


def flush(namespaces: list[Namespace]) -> Steps:
    for namespace in namespaces:
        completion = yield Command(Opcode.FLUSH, namespace.nsid)
        if completion.status != Status.SUCCESS:
            return Reply(completion.status)
    return Reply(Status.SUCCESS)


def _move(opcode: Opcode, namespace: Namespace, lba: int, blocks: int, space: Space) -> Command:
    return Command(opcode, namespace.nsid, lba, blocks, space.address, blocks * namespace.block_bytes)
