"""The registers that hold a written value, and the constant ones."""

from typing import NamedTuple

from flashtrain.host.errors import RegisterError
from flashtrain.spec import FmsConfig
from flashtrain.spec.registers import (
    ID_VALUE,
    MAX_STREAMS,
    PORTS,
    VERSION_VALUE,
    PortRegister,
    Register,
    StreamRegister,
    port_register,
    stream_register,
)

_MEMORY_BITS = 48


class Setting(NamedTuple):
    """Values from `least` to `limit` - 1, multiples of `step`; `locked` while the controller is enabled."""

    limit: int
    locked: bool = True
    step: int = 1
    least: int = 0


class RegisterFile:
    """Settings and constants by address; :class:`RegisterError` where AXI would answer with SLVERR."""

    def __init__(self, config: FmsConfig) -> None:
        self._settings = _settings(config)
        self._values = dict.fromkeys(self._settings, 0)
        self._constants = _constants(config)

    def __getitem__(self, address: int) -> int:
        if address in self._values:
            return self._values[address]
        if address in self._constants:
            return self._constants[address]
        raise RegisterError(f"read of register {address:#06x}: there is none")

    def write(self, address: int, value: int, enabled: bool) -> None:
        setting = self._settings.get(address)
        if setting is None:
            raise RegisterError(f"write of register {address:#06x}: there is none that can be written")
        if setting.locked and enabled:
            raise RegisterError(f"write of register {address:#06x} while the controller is enabled")
        if not setting.least <= value < setting.limit or value % setting.step:
            raise RegisterError(
                f"write of {value:#x} to register {address:#06x}: "
                f"expected a multiple of {setting.step} from {setting.least} on, below {setting.limit:#x}"
            )
        self._values[address] = value

    def long(self, low: int) -> int:
        """A setting of 64 bits at two addresses."""
        return self[low] | self[low + 4] << 32


def _settings(config: FmsConfig) -> dict[int, Setting]:
    settings = {
        **_long_setting(Register.MEMORY_LOW, _MEMORY_BITS),
        Register.INTERRUPT_MASK: Setting(1 << PORTS, locked=False),
        Register.TIME: Setting(1 << 32, locked=False),
        Register.CHANNEL_SELECT: Setting(config.geometry.channels, locked=False),
        Register.ZONE_SELECT: Setting(config.geometry.zones, locked=False),
    }
    for port in range(PORTS):
        for base, size in (
            (PortRegister.SQ_BASE_LOW, PortRegister.SQ_SIZE),
            (PortRegister.CQ_BASE_LOW, PortRegister.CQ_SIZE),
        ):
            settings |= _long_setting(port_register(port, base), config.address_bits, step=64)
            settings[port_register(port, size)] = Setting(1 << 16, least=1)
    for nsid in range(1, MAX_STREAMS + 1):
        settings[stream_register(nsid, StreamRegister.ZONES)] = Setting(1 << 32)
        settings[stream_register(nsid, StreamRegister.ATTRIBUTES)] = Setting(1 << 16)
    return settings


def _long_setting(low: int, bits: int, step: int = 1) -> dict[int, Setting]:
    return {low: Setting(1 << min(bits, 32), step=step), low + 4: Setting(1 << max(bits - 32, 0))}


def _constants(config: FmsConfig) -> dict[int, int]:
    g = config.geometry
    return {
        Register.ID: ID_VALUE,
        Register.VERSION: VERSION_VALUE,
        Register.GEOMETRY: g.channels | g.dies << 8 | g.planes << 16 | g.spare_blocks << 24,
        Register.BLOCKS: g.blocks | g.pages << 16,
        Register.PAGE: g.page_bytes | g.spare_bytes << 16,
        Register.LIMITS: config.commands | config.max_blocks << 16,
        Register.CLOCK_MHZ: config.timing.clock_mhz,
        Register.ZONES: config.max_open | config.max_active << 16,
    }
