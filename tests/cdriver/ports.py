"""The command port of the C driver as methods, and bring-up by it."""

import ctypes as c

from flashtrain.host.bringup import (
    CalibrationFailed,
    ChipBusy,
    ChipMissing,
    DataLineDead,
    FeatureRefused,
    NotDeclared,
    ParameterPageDamaged,
    ReadyLineStuck,
    WrongChip,
)
from flashtrain.spec.registers import CycleKind, NandCycle, Register

from .driver import CDriver
from .library import Chip, ChipOptions, CommandPort

POLLS = 500
FAILURES = (
    type(None), ChipBusy, ChipMissing, DataLineDead, WrongChip, ParameterPageDamaged, FeatureRefused,
    NotDeclared, CalibrationFailed, ReadyLineStuck,
)  # fmt: skip
"""The Python driver's, by `enum ft_chip_failure`."""


class CPort:
    """The functions of the port as methods."""

    def __init__(self, link, **options):
        self.link = link
        self.driver = CDriver(link, **options)
        self.state = CommandPort()

    def __getattr__(self, name):
        return lambda *arguments: self.driver.call(f"ft_port_{name}", self.state, *arguments)

    def begin(self, polls: int = POLLS):
        self.open(self.driver.platform, polls)
        return self

    def take(self, count: int) -> bytes:
        buffer = c.create_string_buffer(count)
        self.read(buffer, count)
        return buffer.raw


def chips_of(port: CPort, fastest: int = 5) -> list[Chip]:
    """All chips of a device, brought up by an open port."""
    g, own = port.link.config.geometry, port.link.config.chips
    options = ChipOptions(fastest, own.drive_ohms, own.zq_calibration, own.sdr, own.ready_busy, own.luns)
    chips = (Chip * (g.channels * port.link.config.chip_enables))()
    port.driver.call("ft_bring_up", port.state, options, chips, len(chips))
    return list(chips)


def recorded(link) -> list[tuple[int, int]]:
    """The writes of a Link from now on, but for looks at R/B#, whose number is a matter of time."""
    writes: list[tuple[int, int]] = []
    write = link.write_register

    def write_register(address: int, value: int) -> None:
        kind = value >> NandCycle.kind.low & (1 << NandCycle.kind.width) - 1
        if address != Register.NAND_CYCLE or kind != CycleKind.LOOK:
            writes.append((address, value))
        write(address, value)

    link.write_register = write_register
    return writes
