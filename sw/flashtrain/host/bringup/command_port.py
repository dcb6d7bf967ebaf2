"""The command port as the driver uses it: asynchronous cycles on the pins of one chip."""

from types import TracebackType
from typing import Self

from flashtrain.host.arguments import whole
from flashtrain.host.controller import Controller
from flashtrain.host.errors import DeviceHang, RegisterError
from flashtrain.host.link import Link
from flashtrain.spec.geometry import ROW_ADDRESS_BITS
from flashtrain.spec.nand import DieCommand, DieStatus
from flashtrain.spec.registers import Control, CycleKind, NandCycle, NandState, Register
from flashtrain.spec.sdr import SDR_MODES

from .errors import ChipBusy, PortMissing, ReadyLineStuck

_FLOATING = 0xFF
"""A byte that no chip drives."""
_POLLS = 64
"""Of each wait."""


class CommandPort:
    """The command ports of a device, all of whose engines are paused meanwhile.

    A disabled controller is enabled with RECOVER for the time, so that it erases nothing. Its engines are
    paused before that, so the chips get no cycle but those of the caller. An enabled one is paused when it is
    idle, and goes on afterwards.

        with CommandPort(link) as port:
            chip = port.chip(channel=0, die=0)
            chip.command(0x90)
            chip.address(0x20)
            assert chip.read(4) == b"ONFI"

    :class:`PortMissing` for a device without a port; :class:`DeviceHang` if an engine does not pause.
    """

    def __init__(self, link: Link) -> None:
        self.link = link
        config = link.config
        if not config.command_port:
            raise PortMissing(
                f"{config.name!r} has no command port; expected command_port = true in its configuration"
            )
        turn = config.port_modes[0].turn
        self._poll_cycles = max(1, turn // 8)
        # An operation of the engine is a page at most, and what comes before it.
        self._pause_cycles = turn + config.bus_page_bytes // _POLLS
        self._controller = Controller(link)
        self._enabled_here = False

    def __enter__(self) -> Self:
        try:
            enabled = self._controller.enabled
            if enabled:
                self._controller.settle()
            self._pause(True)
        except RegisterError as error:
            link = type(self.link).__name__
            raise PortMissing(f"{link} has no pins for a command port; expected a Link with pins") from error
        self._enabled_here = not enabled
        if self._enabled_here:
            self.link.write_register(Register.CONTROL, Control.ENABLE | Control.RECOVER)
        self.set_mode(0)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._enabled_here:
            # Disabled before the pause ends: the engines send nothing.
            self._controller.disable()
        self._pause(False)

    def set_mode(self, mode: int) -> None:
        """The SDR timing mode of all cycles from now on: 0 to 5."""
        whole("mode", mode, 0, len(SDR_MODES) - 1)
        self.link.write_register(Register.NAND_MODE, mode)

    def chip(self, channel: int, die: int) -> "ChipPins":
        """The pins of one chip; its channel is paused when this returns."""
        g = self.link.config.geometry
        whole("channel", channel, 0, g.channels - 1)
        whole("die", die, 0, self.link.config.chip_enables - 1)
        self.link.write_register(Register.CHANNEL_SELECT, channel)
        for _ in range(_POLLS):
            if _field(self._state(), NandState.paused):
                return ChipPins(self, channel, die)
            self.link.run(self._pause_cycles)
        raise DeviceHang(f"the engine of channel {channel} does not pause")

    def cycle(self, kind: CycleKind, die: int, byte: int = 0) -> int:
        """One cycle on the selected channel; what it has read."""
        word = (
            kind << NandCycle.kind.low
            | die << NandCycle.die.low
            | whole("byte", byte, 0, 0xFF) << NandCycle.byte.low
        )
        self.link.write_register(Register.NAND_CYCLE, word)
        for _ in range(_POLLS):
            state = self._state()
            if not _field(state, NandState.busy):
                return _field(state, NandState.byte)
            self.link.run(self._poll_cycles)
        raise DeviceHang(f"a cycle {kind.name} of die {die} does not end")

    def _state(self) -> int:
        return self.link.read_register(Register.NAND_STATE)

    def _pause(self, pause: bool) -> None:
        channels = (1 << self.link.config.geometry.channels) - 1 if pause else 0
        self.link.write_register(Register.NAND_PAUSE_LOW, channels & 0xFFFF_FFFF)
        self.link.write_register(Register.NAND_PAUSE_HIGH, channels >> 32)


class ChipPins:
    """Cycles on one chip. Commands are bytes of ONFI; all times but those of the array are kept."""

    def __init__(self, port: CommandPort, channel: int, die: int) -> None:
        self.port, self.channel, self.die = port, channel, die

    def __str__(self) -> str:
        return f"the chip of channel {self.channel}, die {self.die}"

    def command(self, byte: int) -> None:
        self.port.cycle(CycleKind.COMMAND, self.die, byte)

    def address(self, byte: int) -> None:
        self.port.cycle(CycleKind.ADDRESS, self.die, byte)

    def write(self, data: bytes) -> None:
        """Data to the chip."""
        for byte in data:
            self.port.cycle(CycleKind.DATA_IN, self.die, byte)

    def read(self, count: int) -> bytes:
        """Data from the chip."""
        return bytes(self.port.cycle(CycleKind.DATA_OUT, self.die) for _ in range(count))

    @property
    def ready(self) -> bool:
        """R/B# of the chip; True where it is not wired."""
        return bool(self.port.cycle(CycleKind.LOOK, self.die) >> self.die & 1)

    @property
    def was_busy(self) -> bool:
        """Whether R/B# has been low since this was read last; with `chips.ready_busy`."""
        return bool(self.port.cycle(CycleKind.WAS_BUSY, self.die) >> self.die & 1)

    def status(self, lun: int = 0) -> DieStatus:
        """The byte of READ STATUS; the next data out are status bytes until another command.

        Several LUNs would answer all at once: READ STATUS ENHANCED asks one of them.
        """
        config = self.port.link.config
        if config.chips.luns == 1:
            self.command(DieCommand.READ_STATUS)
        else:
            self.command(DieCommand.READ_STATUS_ENHANCED)
            row = config.row_address(lun, 0, 0, 0)
            for byte in row.to_bytes(ROW_ADDRESS_BITS // 8, "little"):
                self.address(byte)
        return DieStatus(self.read(1)[0])

    def becomes_ready(self, most_us: int) -> bool:
        """Wait until R/B# is high, at most so long; whether it is."""
        step_us = max(1, most_us // 200)
        for _ in range(most_us // step_us + 1):
            if self.ready:
                return True
            self.pass_time(step_us)
        return False

    def pass_time(self, time_us: int) -> None:
        link = self.port.link
        link.run(time_us * link.config.timing.clock_mhz)

    def wait_ready(self, most_us: int, what: str) -> None:
        """Wait until R/B# is high, at most so long.

        :class:`ChipBusy` names `what` was awaited, :class:`ReadyLineStuck` a chip whose status is ready.
        """
        if self.becomes_ready(most_us):
            return
        status = self.status()
        if status & DieStatus.RDY and status != _FLOATING:
            raise ReadyLineStuck(
                f"{self}: R/B# is low for more than {most_us:,} µs of {what}, while the status is ready"
                f" ({status:02X}h); is the line shorted, without a pull-up, or of a busy chip?"
            )
        raise ChipBusy(f"{self} is busy with {what} for more than {most_us:,} µs")


def _field(word: int, field) -> int:
    return word >> field.low & (1 << field.width) - 1
