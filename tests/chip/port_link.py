"""A Link whose command ports lead to `OnfiChip`s: the registers as the contract has them, without pins."""

from flashtrain.host import FunctionalLink, RegisterError
from flashtrain.spec import FmsConfig
from flashtrain.spec.registers import Control, Register
from tests.chip.onfi_chip import OnfiChip

NS_OF_AN_ACCESS = 50.0
MODES, KINDS = 6, 5
"""Kinds of cycles: one more with R/B#."""
PORT = (
    Register.NAND_PAUSE_LOW, Register.NAND_PAUSE_HIGH, Register.NAND_MODE, Register.NAND_CYCLE,
    Register.NAND_STATE,
)  # fmt: skip


class PortLink(FunctionalLink):
    """A cycle has ended when it was written, but for `busy_reads` reads of the state."""

    def __init__(self, config: FmsConfig, memory_bytes: int = 1 << 20):
        super().__init__(config, memory_bytes)
        g = config.geometry
        self.chips = [[OnfiChip() for _ in range(config.chip_enables)] for _ in range(g.channels)]
        self.now = 0.0
        self.pauses, self.mode, self.byte = 0, 0, 0
        self.busy_reads = self._busy = 0
        self.never_pauses = False
        self.modes_seen: set[int] = set()
        self.interface = 0
        self.kinds = KINDS + config.chips.ready_busy

    @property
    def _paused(self) -> bool:
        enabled = self.read_register(Register.CONTROL) & Control.ENABLE
        channel = self.read_register(Register.CHANNEL_SELECT)
        return bool(enabled and self.pauses >> channel & 1 and not self.never_pauses)

    def run(self, cycles: int) -> None:
        self.now += cycles * 1000 / self.config.timing.clock_mhz

    def read_register(self, address: int) -> int:
        if address not in PORT:
            return super().read_register(address)
        self.now += NS_OF_AN_ACCESS
        if address == Register.NAND_STATE:
            busy = self._busy > 0
            self._busy -= busy
            return self.byte | busy << 8 | self._paused << 9
        if address == Register.NAND_CYCLE:
            raise RegisterError("write only")
        low = address == Register.NAND_PAUSE_LOW
        pauses = self.pauses & 0xFFFF_FFFF if low else self.pauses >> 32
        return self.mode if address == Register.NAND_MODE else pauses

    def write_register(self, address: int, value: int) -> None:
        if address == Register.NAND_INTERFACE and self.config.chips.sdr:
            self.interface = value
            return
        if address not in PORT:
            super().write_register(address, value)
            return
        self.now += NS_OF_AN_ACCESS
        g = self.config.geometry
        if address == Register.NAND_CYCLE:
            byte, die, kind = value & 0xFF, value >> 8 & 7, value >> 12 & 7
            exists = die < self.config.chip_enables and kind < self.kinds and not value & ~0x77FF
            if not self._paused or self._busy or not exists:
                raise RegisterError(f"write of {value:#x} to NAND_CYCLE")
            self._cycle(kind, die, byte)
            self._busy = self.busy_reads
        elif address == Register.NAND_MODE and value < MODES:
            self.mode = value
        elif address in (Register.NAND_PAUSE_LOW, Register.NAND_PAUSE_HIGH) and not self._busy:
            shift = 32 * (address == Register.NAND_PAUSE_HIGH)
            pauses = self.pauses & ~(0xFFFF_FFFF << shift) | value << shift
            if pauses >> g.channels:
                raise RegisterError(f"write of {value:#x} to NAND_PAUSE")
            self.pauses = pauses
        else:
            raise RegisterError(f"write of {value:#x} to register {address:#x}")

    def _cycle(self, kind: int, die: int, byte: int) -> None:
        channel = self.read_register(Register.CHANNEL_SELECT)
        chip = self.chips[channel][die]
        self.modes_seen.add(self.mode)
        self.now += 500
        if kind == 0:
            chip.command(byte, self.now)
        elif kind == 1:
            chip.address(byte, self.now)
        elif kind == 2:
            chip.data_in(byte, self.now)
        elif kind == 3:
            self.byte = chip.data_out(self.now)
        elif kind == 5:
            self.byte = sum(one.take_busy(self.now) << n for n, one in enumerate(self.chips[channel]))
        else:
            self.byte = sum(one.ready(self.now) << number for number, one in enumerate(self.chips[channel]))
