"""I/O commands of hosts: the checks of the standard that are the target's, and jobs for the device."""

from collections.abc import Callable
from typing import NamedTuple

from flashtrain.host import Device, DeviceStream
from flashtrain.nvme.wire.commands import Entry
from flashtrain.nvme.wire.statuses import TargetStatus
from flashtrain.spec import Access, Opcode, Port
from flashtrain.spec.host_commands import EVERY_NAMESPACE, HOST_OPCODES
from flashtrain.spec.nvme import ReportFilter

from . import transfers, zone_commands
from .jobs import Effect, HostData, Job, Space
from .namespaces import Namespace, refusal_of
from .reply import Reply
from .zone_reports import report_blocks

_TO_DEVICE = (Opcode.WRITE, Opcode.ZONE_APPEND)


class Transfer(NamedTuple):
    """Bytes that a command moves: to the device, to the host, or none."""

    to_device: int = 0
    to_host: int = 0


class Refusal(Exception):
    """A command that the target refuses by itself."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class IoCommands:
    """Makes jobs of I/O commands. The device refuses all that only it can judge.

    The namespaces are those of `namespaces`; `most_bytes` is the limit of a transfer.
    """

    def __init__(self, device: Device, namespaces: dict[int, Namespace], most_bytes: int) -> None:
        self._namespaces = namespaces
        self._most_bytes = most_bytes
        self._appendable = [
            one for one in namespaces.values() if Access.APPEND in one.stream.access(Port.HOST)
        ]
        self._streams: dict[int, DeviceStream] = {
            nsid: device.stream(one.stream.name, Port.HOST) for nsid, one in namespaces.items()
        }

    def transfer(self, entry: Entry) -> Transfer:
        """The data of a command; :class:`Refusal` for one that cannot be executed."""
        if entry.opcode not in HOST_OPCODES:
            raise Refusal(TargetStatus.INVALID_OPCODE)
        if entry.flags & 0x3:
            raise Refusal(TargetStatus.INVALID_FIELD)
        if entry.opcode == Opcode.FLUSH and entry.nsid == EVERY_NAMESPACE:
            return Transfer()
        namespace = self.namespace(entry.nsid)
        if entry.opcode in _TO_DEVICE:
            return Transfer(to_device=self._length(namespace, entry))
        if entry.opcode == Opcode.READ:
            return Transfer(to_host=self._length(namespace, entry))
        if entry.opcode == Opcode.ZONE_MANAGEMENT_RECEIVE:
            return Transfer(to_host=self._report_length(entry))
        return Transfer()

    def namespace(self, nsid: int) -> Namespace:
        """The namespace of a number; :class:`Refusal` for a number of none."""
        if nsid not in self._namespaces:
            raise Refusal(refusal_of(nsid, self._namespaces))
        return self._namespaces[nsid]

    def job(self, entry: Entry, data: HostData, dulbe: bool, done: Callable[[Reply], None]) -> Job:
        """The job of a command whose :meth:`transfer` was accepted."""
        if entry.opcode == Opcode.FLUSH:
            every = entry.nsid == EVERY_NAMESPACE
            some = self._appendable if every else [self._namespaces[entry.nsid]]
            return Job(0, Effect.READS, lambda space: transfers.flush(some), done)
        namespace = self._namespaces[entry.nsid]
        if entry.opcode == Opcode.READ:
            return Job(
                entry.blocks, Effect.READS,
                lambda space: transfers.read(namespace, entry.slba, entry.blocks, dulbe, space, data), done,
            )  # fmt: skip
        if entry.opcode in _TO_DEVICE:
            return self._write(namespace, entry, data, done)
        if entry.opcode == Opcode.ZONE_MANAGEMENT_SEND:
            return self._send(namespace, entry, done)
        option, partial = entry.dword_13 >> 8 & 0xFF, bool(entry.dword_13 >> 16 & 1)
        length = self._report_length(entry)
        return Job(
            report_blocks(namespace), Effect.READS,
            lambda space: zone_commands.receive(namespace, entry.slba, option, partial, length, space), done,
        )  # fmt: skip

    def _write(
        self, namespace: Namespace, entry: Entry, data: HostData, done: Callable[[Reply], None]
    ) -> Job:
        durable = bool(entry.dword_12 & transfers.FORCE_UNIT_ACCESS)
        blocks, opcode = entry.blocks, Opcode(entry.opcode)

        def start(space: Space):
            data.fill(space.view)
            return transfers.write(opcode, namespace, entry.slba, blocks, durable, space)

        return Job(blocks, Effect.CHANGES, start, done)

    def _send(self, namespace: Namespace, entry: Entry, done: Callable[[Reply], None]) -> Job:
        action, every = entry.dword_13 & 0xFF, bool(entry.dword_13 >> 8 & 1)
        stream = self._streams[namespace.nsid]
        return Job(
            0, Effect.CHANGES,
            lambda space: zone_commands.send(namespace, stream, entry.slba, action, every), done,
        )  # fmt: skip

    def _length(self, namespace: Namespace, entry: Entry) -> int:
        length = entry.blocks * namespace.block_bytes
        if length > self._most_bytes:
            raise Refusal(TargetStatus.INVALID_FIELD)
        if entry.slba + entry.blocks > namespace.blocks:
            raise Refusal(TargetStatus.LBA_OUT_OF_RANGE)
        return length

    def _report_length(self, entry: Entry) -> int:
        length = (entry.dword_12 + 1) * 4
        action, option = entry.dword_13 & 0xFF, entry.dword_13 >> 8 & 0xFF
        if length > self._most_bytes or action != 0 or option > max(ReportFilter):
            raise Refusal(TargetStatus.INVALID_FIELD)
        if entry.slba >= self.namespace(entry.nsid).blocks:
            raise Refusal(TargetStatus.LBA_OUT_OF_RANGE)
        return length
