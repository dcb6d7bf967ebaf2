"""A host of a simulated drive on PCI Express, and its firmware."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from flashtrain.nvme.wire.commands import AdminOpcode
from flashtrain.rtl.pcie.device_queue import queue_entries
from flashtrain.rtl.pcie.layouts import ChangeKind
from flashtrain.sim.link.pcie_link import PcieLink
from flashtrain.sim.link.pcie_model import PcieSizes
from flashtrain.spec import FlashtrainError, NodeTable, Opcode, Port, Submission
from flashtrain.spec.host_commands import HostCommands
from flashtrain.spec.nvme import Completion
from flashtrain.spec.pcie import (
    DOORBELLS,
    NAMESPACES,
    PRP_BYTES,
    VECTORS,
    Configuration,
    Mailbox,
    MailboxAnswer,
    MailboxChange,
    MailboxState,
    NamespaceWord,
    Property,
    Ready,
    Vector,
)
from flashtrain.spec.registers import (
    Control,
    PortRegister,
    Register,
    State,
    StreamRegister,
    port_register,
    stream_attributes,
    stream_register,
)

PAGE = 4096
_ADMIN_SQ, _ADMIN_CQ, _SQ, _CQ, _LISTS, DATA = 0x1000, 0x2000, 0x10000, 0x30000, 0x40000, 0x800000
_ADMIN_ENTRIES = 8
_MESSAGES = 0xFEE0_0000
_QUEUE = 1
_POLLS = 2000


class DriveError(FlashtrainError):
    """The simulated drive refused what its host or its firmware did."""


@dataclass(frozen=True)
class Answer:
    """A completion, and the cycle in which its host has seen it."""

    cid: int
    status: int
    result: int
    cycle: int


class PcieDrive:
    """A host with one pair of I/O queues, and firmware that makes them.

    Data lie from `DATA` on in the host's memory. A data pointer has a PRP and a list, in pages of 4 KiB.
    """

    def __init__(self, link: PcieLink, node: NodeTable, sizes: PcieSizes) -> None:
        self.link, self.config, self._sizes = link, link.config, sizes
        self._cid = self._tail = self._taken = self._admin = self._lists = 0
        self._start_controller(node)
        self._write_namespaces(node)
        self._enable()
        entries = sizes.entries - 1 << 16 | _QUEUE
        self._administer(AdminOpcode.CREATE_CQ, _CQ, entries, 1 | 1 << 1 | _QUEUE << 16)
        self._administer(AdminOpcode.CREATE_SQ, _SQ, entries, 1 | _QUEUE << 16)

    @property
    def cycles(self) -> int:
        return self.link.cycles

    # Firmware.

    def _start_controller(self, node: NodeTable) -> None:
        write, slots, most = self.link.write_register, self._sizes.slots, self._sizes.most_bytes
        places = slots * most
        write(Register.MEMORY_LOW, places & 0xFFFF_FFFF)
        write(Register.MEMORY_HIGH, places >> 32)
        for low, base, size in (
            (PortRegister.SQ_BASE_LOW, 0, PortRegister.SQ_SIZE),
            (PortRegister.CQ_BASE_LOW, places, PortRegister.CQ_SIZE),
        ):
            for half in range(2):
                write(port_register(Port.HOST, low) + 4 * half, base >> 32 * half & 0xFFFF_FFFF)
            write(port_register(Port.HOST, size), queue_entries(slots) - 1)
        zones = node.zones(self.config.geometry.zones)
        for stream in node.streams:
            own = zones[stream.nsid]
            write(stream_register(stream.nsid, StreamRegister.ZONES), own.start | len(own) << 16)
            write(stream_register(stream.nsid, StreamRegister.ATTRIBUTES), stream_attributes(stream))
        write(Register.CONTROL, Control.ENABLE | Control.FACTORY)
        for _ in range(_POLLS):
            if self.link.read_register(Register.STATE) & State.READY:
                return
            self.link.run(100)
        raise DriveError("the controller is not ready")

    def _write_namespaces(self, node: NodeTable) -> None:
        word = NamespaceWord
        commands = HostCommands.of(self.config, node, self._sizes.most_bytes)
        for nsid, one in commands.namespaces.items():
            value = word.zones.put(one.zones) | word.appends.put(one.appends)
            value |= word.volatile.put(one.volatile)
            self.link.access(NAMESPACES + 4 * (nsid - 1), value, firmware=True)

    def _mailbox(self, register: int, value: int | None = None) -> int:
        return self.link.access(register, value, firmware=True)

    def _answer_admin(self) -> None:
        """Make the queue that the next admin command asks for."""
        for _ in range(_POLLS):
            if self._mailbox(Mailbox.STATE) & MailboxState.WAITING:
                break
        else:
            raise DriveError("no admin command has come")
        self._mailbox(Mailbox.TAKE, 0)
        self._rest()
        words = [self._mailbox(Mailbox.ENTRY + 4 * number) for number in range(16)]
        of_completions = words[0] & 0xFF == AdminOpcode.CREATE_CQ
        for half in range(2):
            self._mailbox(Mailbox.ADDRESS + 4 * half, words[6 + half])
        self._mailbox(Mailbox.SIZE, words[10] >> 16)
        kind = ChangeKind.CREATE_COMPLETIONS if of_completions else ChangeKind.CREATE_SUBMISSIONS
        change = MailboxChange.kind.put(kind.value) | MailboxChange.queue.put(words[10] & 0xFFFF)
        change |= MailboxChange.partner.put(words[11] >> 16)
        self._mailbox(Mailbox.CHANGE, change | MailboxChange.interrupts.put(of_completions))
        self._rest()
        self._mailbox(Mailbox.ANSWER, MailboxAnswer.cid.put(words[0] >> 16))
        self._rest()

    def _rest(self) -> None:
        for _ in range(_POLLS):
            if not self._mailbox(Mailbox.STATE) & MailboxState.BUSY:
                return
        raise DriveError("the mailbox stays busy")

    # The host.

    def _enable(self) -> None:
        access = self.link.access
        for vector in range(self._sizes.queues + 1):
            for dword, value in enumerate((_MESSAGES + 4 * vector, 0, vector, 0)):
                access(VECTORS + Vector.BYTES * vector + 4 * dword, value)
        access(Property.ADMIN_SIZES, (_ADMIN_ENTRIES - 1) << 16 | _ADMIN_ENTRIES - 1)
        for register, base in (
            (Property.ADMIN_SUBMISSIONS, _ADMIN_SQ), (Property.ADMIN_COMPLETIONS, _ADMIN_CQ),
        ):  # fmt: skip
            access(register, base)
            access(register + 4, 0)
        fields = Configuration
        access(
            Property.CONFIGURATION,
            fields.enable.put(1) | fields.submission_exponent.put(6) | fields.completion_exponent.put(4),
        )
        for _ in range(_POLLS):
            if access(Property.STATUS) == Ready.READY:
                return
        raise DriveError("CSTS.RDY stays 0")

    def _put(self, address: int, data: bytes) -> None:
        self.link.memory[address : address + len(data)] = np.frombuffer(data, np.uint8)

    def _administer(self, opcode: AdminOpcode, base: int, dword_10: int, dword_11: int) -> None:
        raw = bytearray(Submission.BYTES)
        raw[0], raw[2] = opcode, self._admin
        raw[24:32] = base.to_bytes(8, "little")
        raw[40:48] = (dword_10 | dword_11 << 32).to_bytes(8, "little")
        self._put(_ADMIN_SQ + Submission.BYTES * self._admin, bytes(raw))
        self._admin += 1
        self.link.access(DOORBELLS, self._admin)
        self._answer_admin()
        end = _ADMIN_CQ + Completion.BYTES * self._admin
        for _ in range(_POLLS):
            entry = int.from_bytes(self.link.memory[end - Completion.BYTES : end].tobytes(), "little")
            if Completion.phase.get(entry):
                break
            self.link.run(10)
        if not Completion.phase.get(entry) or Completion.status.get(entry):
            raise DriveError(f"{opcode.name} was answered {entry:#x}")

    def submit(self, opcode: Opcode, nsid: int, slba: int, blocks: int, address: int) -> int:
        """Put a command into the queue, without its doorbell; its CID."""
        self._cid = (self._cid + 1) % (1 << 16)
        second, left = 0, blocks * self.config.geometry.page_bytes - PAGE
        pages = [address + PAGE * number for number in range(1, -(-left // PAGE) + 1)] if left > 0 else []
        if len(pages) == 1:
            second = pages[0]
        elif pages:
            second = self._put_list(pages)
        raw = bytearray(Submission.BYTES)
        raw[0], raw[2:4], raw[4:8] = opcode, self._cid.to_bytes(2, "little"), nsid.to_bytes(4, "little")
        if blocks:
            raw[24:40] = address.to_bytes(8, "little") + second.to_bytes(8, "little")
            raw[40:48], raw[48:52] = slba.to_bytes(8, "little"), (blocks - 1).to_bytes(4, "little")
        self._put(_SQ + Submission.BYTES * self._tail, bytes(raw))
        self._tail = (self._tail + 1) % self._sizes.entries
        return self._cid

    def _put_list(self, pages: list[int]) -> int:
        """A list within a page, in the ring of lists."""
        if len(pages) > PAGE // PRP_BYTES:
            raise DriveError(f"{len(pages)} pages are more than a list has")
        address = _LISTS + PAGE * self._lists
        self._lists = (self._lists + 1) % ((DATA - _LISTS) // PAGE)
        self._put(address, b"".join(page.to_bytes(PRP_BYTES, "little") for page in pages))
        return address

    def ring(self) -> None:
        """Submit what was put into the queue."""
        self.link.access(DOORBELLS + 8 * _QUEUE, self._tail)

    def take(self, release: bool = True) -> list[Answer]:
        """The completions that have come; each must be a success."""
        found = []
        while True:
            place, turn = self._taken % self._sizes.entries, self._taken // self._sizes.entries
            at = _CQ + Completion.BYTES * place
            entry = int.from_bytes(self.link.memory[at : at + Completion.BYTES].tobytes(), "little")
            if Completion.phase.get(entry) == turn % 2:
                break
            fields = Completion
            answer = Answer(
                fields.cid.get(entry), fields.status.get(entry), fields.result.get(entry), self.cycles
            )
            if answer.status:
                raise DriveError(f"a command was answered {answer.status:#x}")
            found.append(answer)
            self._taken += 1
        if found and release:
            self.link.access(DOORBELLS + 8 * _QUEUE + 4, self._taken % self._sizes.entries)
        return found

    def wait(self, count: int, most_cycles: int, step: int = 20) -> list[Answer]:
        """`count` completions."""
        end, found = self.cycles + most_cycles, []
        while len(found) < count:
            if self.cycles > end:
                raise DriveError(f"{len(found)} of {count} commands were answered in {most_cycles} cycles")
            self.link.run(step)
            found += self.take()
        return found

    def do(self, commands: Iterable[tuple[Opcode, int, int, int, int]], most_cycles: int) -> list[Answer]:
        """Submit all commands at once, and take their completions."""
        count = len([self.submit(*command) for command in commands])
        self.ring()
        return self.wait(count, most_cycles)
