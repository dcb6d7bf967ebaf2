"""`Function`: an NVMe controller as its host reaches it through PCI Express."""

import asyncio

from flashtrain.nvme.subsystem.controller import Controller
from flashtrain.nvme.subsystem.profile import PCIE
from flashtrain.nvme.subsystem.subsystem import Subsystem
from flashtrain.spec.pcie import (
    BAR_BYTES,
    DOORBELL_BYTES,
    DOORBELLS,
    PAGE_BITS,
    PENDING,
    VECTORS,
    AdminSizes,
    Configuration,
    Property,
    Ready,
)

from .commands import Commands
from .configuration import ConfigurationSpace
from .memory import HostMemory, Unreachable
from .msix import Msix

_ADDRESS = 0xFFFF_FFFF_FFFF_F000
_HOST = "pcie"


class _FunctionController(Controller):
    """The controller of a function: it is ready, and not ready, when its queues are."""

    function: "Function"

    def _start(self) -> None:
        self.function.start_queues()

    def _reset(self) -> None:
        was = self._ready & Ready.READY
        self.function.commands.stop()
        super()._reset()
        self._ready = was
        self.function.commands.when_idle(self._stand_still)

    def _stand_still(self) -> None:
        self._ready &= ~Ready.READY

    def start(self) -> None:
        self._ready |= Ready.READY

    def forget(self) -> None:
        """A reset of the function: all properties are those after power on."""
        self._configuration, self._ready, self._refused = 0, Ready(0), False
        self.events.drop()
        self.features.reset()


class _Gate:
    """The host's memory as the function may use it: not at all while it is no bus master."""

    def __init__(self, memory: HostMemory, configuration: ConfigurationSpace) -> None:
        self._memory, self._configuration = memory, configuration

    def views(self, address: int, length: int) -> list[memoryview]:
        if not self._configuration.masters:
            raise Unreachable(f"{address:#x}, and the function is no bus master")
        return self._memory.views(address, length)

    def message(self, address: int, data: int) -> None:
        if self._configuration.masters:
            self._memory.message(address, data)


class Function:
    """An NVMe I/O controller with its configuration space and its BAR of `BAR_BYTES`.

    All methods are called in the event loop. Accesses have 1, 2, 4 or 8 bytes.
    """

    def __init__(self, subsystem: Subsystem, memory: HostMemory) -> None:
        self._subsystem = subsystem
        vectors = subsystem.settings.queues + 1
        self.configuration = ConfigurationSpace(vectors, self.reset_controller, self._control_msix)
        gate = _Gate(memory, self.configuration)
        self.msix = Msix(vectors, gate.message)
        self.controller = subsystem.open_controller(_HOST, PCIE, kind=_FunctionController)
        self.controller.function = self
        self.commands = Commands(subsystem, self.controller, gate, self.msix.fire)
        self._mask = 0
        self._sizes = self._submissions = self._completions = 0

    # Resets.

    def reset(self) -> None:
        """A conventional reset: the configuration space, and all that a function level reset resets."""
        self.configuration.reset()
        self.reset_controller()

    def reset_controller(self) -> None:
        """A function level reset. The device goes on with what it has begun, and no byte goes to the host."""
        self.commands.stop()
        self.commands.when_idle(lambda: None)
        self.controller.forget()
        self.configuration.reset()
        self.msix.reset()
        self._mask = self._sizes = self._submissions = self._completions = 0

    def lose_power(self) -> "asyncio.Future[None]":
        """The power of function and device fails, and is back at once; the future ends with the recovery.

        The host may enable the controller meanwhile. It is ready behind the recovery.
        """
        self.reset()
        recovered = asyncio.wrap_future(self._subsystem.thread.lose_power())
        self.commands.wait_for(recovered)
        return recovered

    def start_queues(self) -> None:
        """CC.EN = 1: the controller is ready when the device has ended all earlier commands."""
        page_bytes = 1 << PAGE_BITS + Configuration.page_exponent.get(self.controller.configuration)
        if self.commands.start(page_bytes, self._sizes, self._submissions, self._completions):
            self.commands.when_idle(self.controller.start)
        else:
            self.controller.fail()

    def _control_msix(self, value: int) -> None:
        self.msix.control(value)

    # The BAR.

    def read(self, offset: int, length: int) -> int:
        """Bytes of the BAR, the first one in bits 7:0."""
        place, found = offset & ~3, 0
        for number, at in enumerate(range(place, offset + length, 4)):
            found |= self._read_dword(at % BAR_BYTES) << 32 * number
        return found >> 8 * (offset - place) & (1 << 8 * length) - 1

    def write(self, offset: int, value: int, length: int) -> None:
        """Write one or two whole dwords; other accesses are ignored, as the standard allows."""
        if offset % 4 or length not in (4, 8):
            return
        for at in range(0, length, 4):
            self._write_dword((offset + at) % BAR_BYTES, value >> 8 * at & 0xFFFF_FFFF)

    def _read_dword(self, offset: int) -> int:
        if VECTORS <= offset < PENDING:
            return self.msix.read_table(offset - VECTORS)
        if offset >= PENDING:
            return self.msix.read_pending(offset - PENDING)
        match offset:
            case Property.MASK_SET | Property.MASK_CLEAR:
                return self._mask
            case Property.ADMIN_SIZES:
                return self._sizes
        if offset & ~4 == Property.CAPABILITIES:
            return self.controller.capabilities >> 8 * (offset & 4) & 0xFFFF_FFFF
        if offset & ~4 == Property.ADMIN_SUBMISSIONS:
            return self._submissions >> 8 * (offset & 4) & 0xFFFF_FFFF
        if offset & ~4 == Property.ADMIN_COMPLETIONS:
            return self._completions >> 8 * (offset & 4) & 0xFFFF_FFFF
        return (self.controller.get(offset) or 0) & 0xFFFF_FFFF

    def _write_dword(self, offset: int, value: int) -> None:
        if DOORBELLS <= offset < VECTORS:
            number = (offset - DOORBELLS) // DOORBELL_BYTES
            if self.controller.enabled:
                self.commands.doorbell(number >> 1, bool(number & 1), value & 0xFFFF)
        elif VECTORS <= offset < PENDING:
            self.msix.write_table(offset - VECTORS, value)
        elif offset == Property.CONFIGURATION:
            self.controller.set(offset, value)
        elif offset == Property.MASK_SET:
            self._mask |= value
        elif offset == Property.MASK_CLEAR:
            self._mask &= ~value
        elif not self.controller.configuration & 1:
            self._write_admin_queue(offset, value)

    def _write_admin_queue(self, offset: int, value: int) -> None:
        """AQA, ASQ and ACQ, which a host changes while the controller is disabled."""
        if offset == Property.ADMIN_SIZES:
            self._sizes = value & AdminSizes.MASK
        elif offset & ~4 == Property.ADMIN_SUBMISSIONS:
            self._submissions = _with_dword(self._submissions, offset & 4, value)
        elif offset & ~4 == Property.ADMIN_COMPLETIONS:
            self._completions = _with_dword(self._completions, offset & 4, value)


def _with_dword(address: int, at: int, value: int) -> int:
    """An address with four of its bytes replaced. The offset in a page of 4 KiB is reserved."""
    mask = 0xFFFF_FFFF << 8 * at
    return (address & ~mask | value << 8 * at) & _ADDRESS
