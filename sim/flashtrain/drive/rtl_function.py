"""`RtlFunction`: the drive in RTL where a host of PCI Express reaches it."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from flashtrain.host.errors import DeviceHang
from flashtrain.nvme.pcie.configuration import ConfigurationSpace
from flashtrain.nvme.pcie.memory import SharedMemory
from flashtrain.nvme.pcie.msix import ENABLE, FUNCTION_MASK
from flashtrain.nvme.subsystem.command_trace import CommandTrace
from flashtrain.sim.link.pcie_link import PcieLink, Served
from flashtrain.spec import FlashtrainError
from flashtrain.spec.nvme import Completion, Submission
from flashtrain.spec.pcie import (
    BAR_BYTES,
    VECTORS,
    AdminSizes,
    Configuration,
    Mailbox,
    MailboxAggregation,
    MailboxChange,
    MailboxChangeKind,
    Property,
    Vector,
    aggregation_cycles,
)
from flashtrain.spec.registers import Register, State

from .command_log import CommandLog

TURN_CYCLES = 400
"""Simulated in one turn of the event loop: an access of the host waits no longer."""
QUIET_CYCLES, OPEN_CYCLES = 300, 5000
"""Without a request, after which the controller is asked whether it is idle.

The second value is for as long as a command is open: the pages of a long one are kept before the controller
has it.
"""
PAUSE_CYCLES = 20
"""Between two polls of firmware."""
MOST_CYCLES_TO_END = 100_000_000
_MASKED = 1
_ALL_ONES = 0xFFFF_FFFF_FFFF_FFFF

Access = Callable[[int, int | None], int]


class DriveFirmware(Protocol):
    """`flashtrain.firmware.Firmware`, or another one."""

    def start(self) -> None: ...

    def poll(self) -> bool: ...


class RtlFunction:
    """The function of a drive in RTL, as `flashtrain.nvme.pcie.Function`. Its firmware has been started.

    Simulated time passes at accesses, and in turns of the event loop while something is under way: a request,
    work of firmware, or of the controller and its dies. An idle drive takes no time, whatever the host polls.

    The configuration space is software. A function level reset ends the commands under way without a byte for
    the host. Then the registers of the RTL get their values after a reset.

    - make_firmware: of the accesses of the mailbox, those of the controller's registers, and a pause.
    - on_failure: gets the first error of the simulation. The host then reads ones.
    - trace: has each I/O command as it ends, if it is there.
    """

    def __init__(
        self,
        link: PcieLink,
        memory: SharedMemory,
        make_firmware: Callable[[Access, Access, Callable[[], object]], DriveFirmware],
        on_failure: Callable[[FlashtrainError], object],
        trace: CommandTrace | None = None,
    ) -> None:
        self._link, self._memory, self._on_failure = link, memory, on_failure
        self.log = CommandLog(trace=trace)
        self._vectors = link.sizes.queues + 1
        self.configuration = ConfigurationSpace(self._vectors, self.reset_controller, self._control_msix)
        self._queue = {Mailbox.ADDRESS: 0, Mailbox.ADDRESS + 4: 0, Mailbox.SIZE: 0}
        self._enabled = self._awake = self._failed = False
        self._interrupt_cycles = 0
        self._polls = False
        memory.watch(link.map)
        self._firmware = make_firmware(self._mailbox, self._register, self._pause)
        self._firmware.start()

    def close(self) -> None:
        """Simulate no more, whatever the event loop still calls."""
        self._failed = True

    @property
    def cycles(self) -> int:
        return self._link.cycles

    # The BAR.

    def read(self, offset: int, length: int) -> int:
        """Bytes of the BAR, the first one in bits 7:0."""
        place, found = offset & ~3, 0
        for number, at in enumerate(range(place, offset + length, 4)):
            found |= self._guarded(lambda at=at: self._access(at)) << 32 * number
        return found >> 8 * (offset - place) & (1 << 8 * length) - 1

    def write(self, offset: int, value: int, length: int) -> None:
        """Write one or two whole dwords; other accesses are ignored, as the standard allows."""
        if offset % 4 or length not in (4, 8):
            return
        for at in range(0, length, 4):
            self._guarded(lambda at=at: self._write_dword((offset + at) % BAR_BYTES, value >> 8 * at))
        self._wake()

    def reset(self) -> None:
        """A conventional reset: the configuration space, and all that a function level reset resets."""
        self.reset_controller()

    def reset_controller(self) -> None:
        """A function level reset."""
        self._guarded(self._end)
        self.configuration.reset()

    def _guarded(self, action: Callable[[], int]) -> int:
        """The value of an action; all ones behind an error of the simulation."""
        if self._failed:
            return _ALL_ONES
        try:
            return action()
        except FlashtrainError as error:
            self._failed = True
            self._on_failure(error)
            return _ALL_ONES

    def _access(self, offset: int, value: int | None = None) -> int:
        self._permit()
        return self._link.access(offset % BAR_BYTES, value)

    def _write_dword(self, offset: int, value: int) -> int:
        value &= 0xFFFF_FFFF
        if offset == Property.CONFIGURATION:
            self._note_enable(bool(Configuration.enable.get(value)))
        return self._access(offset, value)

    def _permit(self) -> None:
        """A function that is no bus master has no answers to its reads, and its writes go nowhere."""
        masters = self.configuration.masters
        self._link.permit(masters, masters)

    def _control_msix(self, value: int) -> None:
        self._link.set_vectors(bool(value & ENABLE), bool(value & FUNCTION_MASK))
        self._wake()

    # Simulated time.

    def _wake(self) -> None:
        if not self._awake and not self._failed:
            self._awake = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        self._awake = False
        if self._guarded(self._work):
            self._wake()

    def _work(self) -> bool:
        """Simulate a turn; whether something is under way behind it."""
        self._permit()
        is_open = self.log.open_commands or (not self._enabled and self._link.running)
        quiet = self._interrupt_cycles + (OPEN_CYCLES if is_open else QUIET_CYCLES)
        reason = self._link.serve(TURN_CYCLES, quiet)
        for message in self._link.take_messages():
            self._memory.message(*message)
        self.log.take(self._link.take_traffic())
        # A step of firmware may begin what the next turn simulates.
        polls = self._polls or reason is Served.ATTENTION
        self._polls = polls and self._firmware.poll()
        if polls or reason is not Served.QUIET:
            return True
        return not self._link.read_register(Register.STATE) & State.IDLE

    def _end(self) -> int:
        """End the commands under way, and give all registers of the BAR their values after a reset."""
        link, end = self._link, self._link.cycles + MOST_CYCLES_TO_END
        link.permit(reads=True, writes=False)
        self._note_enable(False)
        link.access(Property.CONFIGURATION, 0)
        while link.running:
            link.serve(TURN_CYCLES, QUIET_CYCLES)
            self._firmware.poll()
            if link.cycles > end:
                raise DeviceHang(f"the function is not idle {MOST_CYCLES_TO_END} cycles after its reset")
        for register in (Property.ADMIN_SIZES, Property.ADMIN_SUBMISSIONS, Property.ADMIN_COMPLETIONS):
            link.access(register, 0)
            if register != Property.ADMIN_SIZES:
                link.access(register + 4, 0)
        link.access(Property.MASK_CLEAR, 0xFFFF_FFFF)
        # Messages that are pending go nowhere.
        link.set_vectors(enable=True, mask=False)
        for control in (0, _MASKED):
            for place in range(VECTORS, VECTORS + Vector.BYTES * self._vectors, Vector.BYTES):
                for dword, value in enumerate((0, 0, 0, control)):
                    link.access(place + 4 * dword, value)
            link.run(QUIET_CYCLES)
        link.set_vectors(enable=False, mask=False)
        link.take_messages()
        link.take_traffic()
        return 0

    # Firmware.

    def _mailbox(self, offset: int, value: int | None) -> int:
        if value is not None:
            self._note_queue(offset, value)
        return self._link.access(offset, value, firmware=True)

    def _register(self, address: int, value: int | None) -> int:
        if value is None:
            return self._link.read_register(address)
        self._link.write_register(address, value)
        return 0

    def _pause(self) -> None:
        self._link.run(PAUSE_CYCLES)

    # Queues that the log has.

    def _note_enable(self, enable: bool) -> None:
        if enable == self._enabled:
            return
        self._enabled = enable
        self.log.take(self._link.take_traffic())
        self.log.forget()
        sizes = self._link.access(Property.ADMIN_SIZES)
        for field, base, entry_bytes in (
            (AdminSizes.submissions, Property.ADMIN_SUBMISSIONS, Submission.BYTES),
            (AdminSizes.completions, Property.ADMIN_COMPLETIONS, Completion.BYTES),
        ):
            address = self._link.access(base) | self._link.access(base + 4) << 32
            self._link.watch(0, address, (field.get(sizes) + 1) * entry_bytes if enable else 0, entry_bytes)
            for queue in range(1, self._vectors):
                self._link.watch(queue, 0, 0, entry_bytes)

    def _note_queue(self, offset: int, value: int) -> None:
        """Firmware makes or deletes a queue, or lets interrupts wait."""
        if offset in self._queue:
            self._queue[offset] = value
        if offset == Mailbox.AGGREGATION:
            unit = aggregation_cycles(self._link.config.timing.clock_hz)
            self._interrupt_cycles = MailboxAggregation.time.get(value) * unit
        if offset != Mailbox.CHANGE:
            return
        kind, queue = MailboxChangeKind(MailboxChange.kind.get(value)), MailboxChange.queue.get(value)
        of_submissions = kind in (MailboxChangeKind.CREATE_SUBMISSIONS, MailboxChangeKind.DELETE_SUBMISSIONS)
        entry_bytes = Submission.BYTES if of_submissions else Completion.BYTES
        made = kind in (MailboxChangeKind.CREATE_SUBMISSIONS, MailboxChangeKind.CREATE_COMPLETIONS)
        address = self._queue[Mailbox.ADDRESS] | self._queue[Mailbox.ADDRESS + 4] << 32
        length = (self._queue[Mailbox.SIZE] + 1) * entry_bytes
        self._link.watch(queue, address, length if made else 0, entry_bytes)
