"""A model of the front end of a drive: the BAR, queues in the host's memory, and what firmware reaches.

It has no time. I/O commands stay open until a test answers them.
"""

from collections import deque
from ctypes import CDLL
from dataclasses import dataclass, field
from types import SimpleNamespace

from flashtrain.firmware import Firmware
from flashtrain.nvme.pcie.memory import HostMemory, Unreachable, read, scatter
from flashtrain.nvme.wire.commands import COMMAND_BYTES, answer_bytes
from flashtrain.spec.pcie import (
    DOORBELLS,
    MAILBOX_PAGE_EXPONENT,
    NAMESPACES,
    PAGE_BITS,
    REQUEST_BYTES,
    VECTORS,
    WORD_BYTES,
    AdminSizes,
    Configuration,
    Mailbox,
    MailboxAnswer,
    MailboxBurst,
    MailboxChange,
    MailboxChangeKind,
    MailboxControl,
    MailboxState,
    Property,
    Ready,
    has_admin_queues,
)
from flashtrain.spec.registers import ID_VALUE, MAX_STREAMS, VERSION_VALUE, Control, Register, State

_POLLS = 64


@dataclass
class Completions:
    """A completion queue."""

    base: int
    entries: int
    vector: int = 0
    interrupts: bool = True
    tail: int = 0
    head: int = 0
    phase: int = 1
    waiting: deque[tuple[int, int, int, int, bool, int]] = field(default_factory=deque)


@dataclass
class Submissions:
    """A submission queue."""

    base: int
    entries: int
    partner: int
    head: int = 0
    tail: int = 0
    priority: int = 0


class Registers:
    """The controller's registers, as far as firmware uses them. `wear` is by physical zone."""

    def __init__(self) -> None:
        self.values = {Register.ID: ID_VALUE, Register.VERSION: VERSION_VALUE}
        self.written: list[tuple[int, int]] = []
        self.wear: dict[int, int] = {}

    def __call__(self, offset: int, value: int | None) -> int:
        if value is not None:
            self.written.append((offset, value))
            self.values[offset] = value
            return 0
        if offset == Register.STATE:
            return State.READY if self.values.get(Register.CONTROL, 0) & Control.ENABLE else 0
        if offset == Register.ZONE_WEAR:
            return self.wear.get(self.values[Register.ZONE_SELECT], 0)
        return self.values.get(offset, 0)


class FrontEnd:
    """The front end with a host's memory; `open` has the I/O commands of each queue that are not answered.

    `settings` has what firmware has set for interrupts and arbitration, in its order.
    """

    def __init__(self, memory: HostMemory) -> None:
        self._memory = memory
        self._properties: dict[int, int] = {}
        self._ready = Ready(0)
        self._started = False
        self._state = MailboxState(0)
        self._registers: dict[int, int] = {}
        self._waiting: deque[bytes] = deque()
        self._open_admin = 0
        self.submissions: dict[int, Submissions] = {}
        self.completions: dict[int, Completions] = {}
        self._deleted: dict[int, Submissions] = {}
        self.open: dict[int, list[int]] = {}
        self.namespaces = [0] * MAX_STREAMS
        self.messages: list[int] = []
        self.settings: list[tuple[Mailbox, int]] = []

    # The host.

    @property
    def enabled(self) -> bool:
        return self._started and bool(self._properties.get(Property.CONFIGURATION, 0) & 1)

    def read(self, offset: int, length: int = 4) -> int:
        if offset == Property.STATUS:
            return int(self._ready)
        return self._properties.get(offset, 0)

    def write(self, offset: int, value: int, length: int = 4) -> None:
        if DOORBELLS <= offset < VECTORS:
            number = (offset - DOORBELLS) // 4
            if self.enabled:
                self._ring(number >> 1, bool(number & 1), value)
            return
        was = self._properties.get(offset, 0)
        self._properties[offset] = value
        if offset != Property.CONFIGURATION:
            return
        if was & 1 and not value & 1:
            self._stop()
        if Configuration.shutdown.get(value) and not Configuration.shutdown.get(was):
            self._state |= MailboxState.SHUT_DOWN
            self._ready = self._ready & ~Ready.SHUTDOWN_DONE | Ready.SHUTDOWN_BUSY
        self._settle()

    def answer_io(self, queue: int) -> None:
        """Answer all open commands of a queue."""
        for cid in self.open.pop(queue, []):
            self._complete(queue, cid, 0, False, 0)
        self._settle()

    def reset(self) -> None:
        """A function level reset without a request under way."""
        self._properties.clear()
        self._ready = Ready(0)
        self.open.clear()
        if self._started:
            self._stop()
        self._settle()

    def _stop(self) -> None:
        self._started = False
        self._waiting.clear()
        self.submissions.clear()
        self._deleted.clear()
        self.completions.clear()
        self._state |= MailboxState.STOPPED

    def _settle(self) -> None:
        enable = self._properties.get(Property.CONFIGURATION, 0) & 1
        if self._open_admin or any(self.open.values()):
            return
        if not enable:
            self._ready &= ~Ready.READY
        elif not self._started and not self._ready & Ready.READY:
            sizes = self._properties[Property.ADMIN_SIZES]
            sq, cq = (
                self._properties[Property.ADMIN_SUBMISSIONS],
                self._properties[Property.ADMIN_COMPLETIONS],
            )
            assert has_admin_queues(sizes, sq, cq, self._page_bytes)
            self.submissions[0] = Submissions(sq, AdminSizes.submissions.get(sizes) + 1, 0)
            self.completions[0] = Completions(cq, AdminSizes.completions.get(sizes) + 1)
            self._started, self._ready = True, Ready.READY

    @property
    def _exponent(self) -> int:
        return Configuration.page_exponent.get(self._properties.get(Property.CONFIGURATION, 0))

    @property
    def _page_bytes(self) -> int:
        return 1 << PAGE_BITS + self._exponent

    def _ring(self, number: int, of_completions: bool, value: int) -> None:
        queue = (self.completions if of_completions else self.submissions).get(number)
        if queue is None:
            self._state |= MailboxState.WRONG_QUEUE
            return
        if isinstance(queue, Completions):
            most, added = (queue.tail - queue.head) % queue.entries, (value - queue.head) % queue.entries
        else:
            there = (queue.tail - queue.head) % queue.entries
            most, added = queue.entries - 1 - there, (value - queue.tail) % queue.entries
        if value >= queue.entries or not 0 < added <= most:
            self._state |= MailboxState.WRONG_VALUE
        elif isinstance(queue, Completions):
            queue.head = value
            self._post(queue)
        else:
            queue.tail = value
            self._fetch(number, queue)

    def _fetch(self, number: int, queue: Submissions) -> None:
        while queue.head != queue.tail:
            raw = read(self._memory, queue.base + COMMAND_BYTES * queue.head, COMMAND_BYTES)
            queue.head = (queue.head + 1) % queue.entries
            if number:
                self.open.setdefault(number, []).append(int.from_bytes(raw[2:4], "little"))
            else:
                self._waiting.append(raw)

    def _complete(self, number: int, cid: int, status: int, final: bool, result: int) -> None:
        queue = self.submissions.get(number) or self._deleted.get(number)
        if queue is not None:
            completions = self.completions[queue.partner]
            completions.waiting.append((result, queue.head, cid, status, final, number))
            self._post(completions)

    def _post(self, queue: Completions) -> None:
        while queue.waiting and (queue.tail + 1) % queue.entries != queue.head:
            result, head, cid, status, final, number = queue.waiting.popleft()
            raw = answer_bytes(result, head, cid, status, final, number, queue.phase)
            scatter(raw, self._memory.views(queue.base + 16 * queue.tail, len(raw)))
            queue.tail = (queue.tail + 1) % queue.entries
            queue.phase ^= queue.tail == 0
            if queue.interrupts:
                self.messages.append(queue.vector)

    # Firmware.

    @property
    def state(self) -> MailboxState:
        found = self._state
        found |= MailboxState.ENABLED if self.enabled else MailboxState(0)
        return found | (MailboxState.WAITING if self.enabled and self._waiting else MailboxState(0))

    @property
    def attention(self) -> bool:
        wanted = MailboxControl.FORGET | MailboxState.SHUT_DOWN | MailboxState.WAITING
        return bool(self.state & wanted)

    def access(self, offset: int, value: int | None) -> int:
        """An access of firmware; without a value a read."""
        place = (offset - NAMESPACES) // 4
        if 0 <= place < MAX_STREAMS:
            found = self.namespaces[place]
            self.namespaces[place] = found if value is None else value
            return found
        if value is not None:
            self._registers[offset] = value
            self._write_mailbox(offset, value)
            self._settle()
            return 0
        if offset == Mailbox.STATE:
            return self.state | MAILBOX_PAGE_EXPONENT.put(self._exponent)
        if offset == Mailbox.OPEN:
            return len(self.open.get(self._registers[Mailbox.OPEN], []))
        return self._registers.get(offset, 0)

    def _write_mailbox(self, offset: int, value: int) -> None:
        match offset:
            case Mailbox.TAKE:
                self._take()
            case Mailbox.CONTROL:
                self._state &= ~MailboxState(value & MailboxControl.FORGET)
                if value & MailboxControl.FAIL:
                    self._ready |= Ready.FATAL
                if value & MailboxControl.ENDED and self._state & MailboxState.SHUT_DOWN:
                    self._state &= ~MailboxState.SHUT_DOWN
                    self._ready = self._ready & ~Ready.SHUTDOWN_BUSY | Ready.SHUTDOWN_DONE
            case Mailbox.ANSWER if self._open_admin:
                self._open_admin -= 1
                field = MailboxAnswer
                result = self._registers[Mailbox.RESULT] | self._registers[Mailbox.RESULT + 4] << 32
                if self._started:
                    cid, status = field.cid.get(value), field.status.get(value)
                    self._complete(0, cid, status, bool(field.do_not_retry.get(value)), result)
            case Mailbox.CHANGE if self.enabled:
                self._change(value)
            case Mailbox.AGGREGATION | Mailbox.VECTOR | Mailbox.ARBITRATION:
                self.settings.append((Mailbox(offset), value))
            case Mailbox.BURST:
                fields = MailboxBurst
                self._burst(
                    fields.beats.get(value) + 1, bool(fields.write.get(value)), fields.kept.get(value)
                )

    def _take(self) -> None:
        self._state &= ~MailboxState.TAKEN
        if self.enabled and self._waiting:
            raw = self._waiting.popleft()
            self._state |= MailboxState.TAKEN
            self._open_admin += 1
            for place in range(0, len(raw), 4):
                self._registers[Mailbox.ENTRY + place] = int.from_bytes(raw[place : place + 4], "little")

    @property
    def _address(self) -> int:
        return self._registers[Mailbox.ADDRESS] | self._registers[Mailbox.ADDRESS + 4] << 32

    def _change(self, word: int) -> None:
        fields = MailboxChange
        number, partner = fields.queue.get(word), fields.partner.get(word)
        match fields.kind.get(word):
            case MailboxChangeKind.CREATE_COMPLETIONS:
                size, interrupts = self._registers[Mailbox.SIZE] + 1, bool(fields.interrupts.get(word))
                self.completions[number] = Completions(self._address, size, partner, interrupts)
            case MailboxChangeKind.CREATE_SUBMISSIONS:
                size = self._registers[Mailbox.SIZE] + 1
                priority = fields.priority.get(word)
                self.submissions[number] = Submissions(self._address, size, partner, priority=priority)
            case MailboxChangeKind.DELETE_COMPLETIONS:
                del self.completions[number]
            case MailboxChangeKind.DELETE_SUBMISSIONS:
                # Commands that were fetched are answered behind it.
                self._deleted[number] = self.submissions.pop(number)

    def _burst(self, beats: int, to_host: bool, kept: int) -> None:
        self._state |= MailboxState.FAILED
        address, length = self._address, beats * WORD_BYTES
        assert not address % WORD_BYTES and address % 4096 + length <= 4096 and length <= REQUEST_BYTES
        if not self._open_admin:
            return
        try:
            if to_host:
                assert not kept or (beats == 1 and kept != 3)
                dwords = [at for at in range(0, length, 4) if not kept >> at // 4 & 1]
                words = (self._registers.get(Mailbox.BUFFER + at, 0) for at in dwords)
                data = b"".join(word.to_bytes(4, "little") for word in words)
                scatter(data, self._memory.views(address + dwords[0], len(data)))
            else:
                raw = read(self._memory, address, length)
                for at in range(0, length, 4):
                    self._registers[Mailbox.BUFFER + at] = int.from_bytes(raw[at : at + 4], "little")
        except Unreachable:
            return
        self._state &= ~MailboxState.FAILED


class FirmwareFunction:
    """Front end and firmware with the port of `nvme.pcie.Function`: firmware works behind each access."""

    def __init__(self, memory: HostMemory, tables: bytes, library: CDLL | None = None) -> None:
        self.front_end, self.registers = FrontEnd(memory), Registers()
        self.firmware = Firmware(
            lambda offset, value: self.front_end.access(offset, value),
            self.registers,
            tables,
            library=library,
        )
        self.firmware.start()
        self.configuration = SimpleNamespace(write=lambda *_: None)

    def write(self, offset: int, value: int, length: int = 4) -> None:
        self.front_end.write(offset, value, length)
        self.work()

    def read(self, offset: int, length: int = 4) -> int:
        return self.front_end.read(offset, length)

    def work(self) -> bool:
        """Let the firmware work; whether it waits for something."""
        for _ in range(_POLLS):
            if not self.firmware.poll() and not self.front_end.attention:
                return False
        return True
