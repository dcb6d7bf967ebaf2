"""A host of a simulated drive on PCI Express, whose firmware is that in C."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from flashtrain.firmware import Firmware, firmware_tables
from flashtrain.nvme.subsystem.settings import SubsystemSettings
from flashtrain.nvme.wire.commands import AdminOpcode
from flashtrain.sim.link.pcie_link import PcieLink
from flashtrain.sim.link.pcie_model import PcieSizes
from flashtrain.spec import FlashtrainError, FmsConfig, NodeTable, Opcode, Submission
from flashtrain.spec.nvme import Completion
from flashtrain.spec.pcie import (
    DOORBELLS,
    PRP_BYTES,
    VECTORS,
    Configuration,
    Property,
    Ready,
    Vector,
)

PAGE = 4096
_ADMIN_SQ, _ADMIN_CQ, _SQ, _CQ, _LISTS, DATA = 0x1000, 0x2000, 0x10000, 0x30000, 0x40000, 0x800000
_ADMIN_ENTRIES = 8
_MESSAGES = 0xFEE0_0000
_QUEUE = 1
SERIAL = "simulated"
_POLLS = 2000


_REST = 10
"""Cycles between two looks of firmware at a register."""


class DriveError(FlashtrainError):
    """The simulated drive refused what its host or its firmware did."""


@dataclass(frozen=True)
class Answer:
    """A completion, and the cycle in which its host has seen it."""

    cid: int
    status: int
    result: int
    cycle: int


def drive_tables(config: FmsConfig, node: NodeTable, sizes: PcieSizes) -> bytes:
    """The tables of the firmware of a drive."""
    settings = SubsystemSettings(queues=sizes.queues, entries=sizes.entries)
    return firmware_tables(config, node, sizes.slots, sizes.most_bytes, settings, SERIAL)


def _register(link: PcieLink, offset: int, value: int | None) -> int:
    """An access of firmware to the controller's registers."""
    if value is None:
        return link.read_register(offset)
    link.write_register(offset, value)
    return 0


class PcieDrive:
    """A host with one pair of I/O queues, and the firmware that makes them.

    Data lie from `DATA` on in the host's memory. A data pointer has a PRP and a list, in pages of 4 KiB.
    """

    def __init__(self, link: PcieLink, node: NodeTable, sizes: PcieSizes) -> None:
        self.link, self.config, self._sizes = link, link.config, sizes
        self._cid = self._tail = self._taken = self._admin = self._lists = 0
        self.firmware = Firmware(
            lambda offset, value: link.access(offset, value, firmware=True),
            lambda offset, value: _register(link, offset, value),
            drive_tables(link.config, node, sizes),
            lambda: link.run(_REST),
        )
        self.firmware.start()
        self._enable()
        self._create(AdminOpcode.CREATE_CQ, _CQ, 1 | 1 << 1 | _QUEUE << 16)
        self._create(AdminOpcode.CREATE_SQ, _SQ, 1 | _QUEUE << 16)

    @property
    def cycles(self) -> int:
        return self.link.cycles

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

    def administer(
        self, opcode: AdminOpcode, address: int = 0, dword_10: int = 0, dword_11: int = 0, nsid: int = 0
    ) -> Answer:
        """The answer to an admin command, whose data have a page at most."""
        place, turn = self._admin % _ADMIN_ENTRIES, self._admin // _ADMIN_ENTRIES
        raw = bytearray(Submission.BYTES)
        raw[0], raw[2:4], raw[4:8] = opcode, self._admin.to_bytes(2, "little"), nsid.to_bytes(4, "little")
        raw[24:32] = address.to_bytes(8, "little")
        raw[40:48] = (dword_10 | dword_11 << 32).to_bytes(8, "little")
        self._put(_ADMIN_SQ + Submission.BYTES * place, bytes(raw))
        self._admin += 1
        self.link.access(DOORBELLS, self._admin % _ADMIN_ENTRIES)
        at = _ADMIN_CQ + Completion.BYTES * place
        for _ in range(_POLLS):
            entry = int.from_bytes(self.link.memory[at : at + Completion.BYTES].tobytes(), "little")
            if Completion.phase.get(entry) != turn % 2:
                break
            if not self.firmware.poll():
                self.link.run(_REST)
        else:
            raise DriveError(f"{opcode.name} is not answered")
        self.link.access(DOORBELLS + 4, self._admin % _ADMIN_ENTRIES)
        fields = Completion
        return Answer(fields.cid.get(entry), fields.status.get(entry), fields.result.get(entry), self.cycles)

    def _create(self, opcode: AdminOpcode, address: int, flags: int) -> None:
        answer = self.administer(opcode, address, self._sizes.entries - 1 << 16 | _QUEUE, flags)
        if answer.status:
            raise DriveError(f"{opcode.name} was answered {answer.status:#x}")

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
