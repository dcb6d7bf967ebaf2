"""The controller's registers as the driver uses them: identify, configure, enable, disable, count."""

from dataclasses import dataclass

from flashtrain.spec import NodeTable
from flashtrain.spec.registers import (
    ID_VALUE,
    MAX_STREAMS,
    PORTS,
    VERSION_VALUE,
    ChannelCounter,
    Control,
    Counter,
    Register,
    State,
    StreamRegister,
    channel_counter_register,
    counter_register,
    stream_attributes,
    stream_register,
)

from .errors import DeviceHang, DeviceMismatch
from .link import Link

_FIRST_POLL, _LONGEST_POLL = 100, 1 << 20
"""Cycles between two polls of STATE: the interval doubles each time, up to the longest."""


@dataclass(frozen=True)
class DeviceInfo:
    """The device's properties, as its registers report them."""

    version: int
    channels: int
    dies: int
    planes: int
    blocks: int
    spare_blocks: int
    pages: int
    page_bytes: int
    spare_bytes: int
    commands: int
    max_blocks: int
    max_open: int
    max_active: int
    clock_mhz: int
    memory_bytes: int


class Controller:
    """The registers behind a Link."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def info(self) -> DeviceInfo:
        read = self._link.read_register
        geometry, blocks, page = read(Register.GEOMETRY), read(Register.BLOCKS), read(Register.PAGE)
        limits, zones = read(Register.LIMITS), read(Register.ZONES)
        return DeviceInfo(
            version=read(Register.VERSION),
            channels=geometry & 0xFF,
            dies=geometry >> 8 & 0xFF,
            planes=geometry >> 16 & 0xFF,
            spare_blocks=geometry >> 24,
            blocks=blocks & 0xFFFF,
            pages=blocks >> 16,
            page_bytes=page & 0xFFFF,
            spare_bytes=page >> 16,
            commands=limits & 0xFFFF,
            max_blocks=limits >> 16,
            max_open=zones & 0xFFFF,
            max_active=zones >> 16,
            clock_mhz=read(Register.CLOCK_MHZ),
            memory_bytes=read(Register.MEMORY_LOW) | read(Register.MEMORY_HIGH) << 32,
        )

    def check(self) -> None:
        """Raise :class:`DeviceMismatch` unless the version and the Link's configuration agree."""
        identity, version = self._link.read_register(Register.ID), self._link.read_register(Register.VERSION)
        if (identity, version) != (ID_VALUE, VERSION_VALUE):
            raise DeviceMismatch(
                f"the device's ID and VERSION are {identity:#x} and {version:#x}; "
                f"expected {ID_VALUE:#x} and {VERSION_VALUE:#x}"
            )
        info, config = self.info(), self._link.config
        g = config.geometry
        for name, expected in (
            ("channels", g.channels), ("dies", g.dies), ("planes", g.planes), ("blocks", g.blocks),
            ("spare_blocks", g.spare_blocks), ("pages", g.pages), ("page_bytes", g.page_bytes),
            ("commands", config.commands), ("max_blocks", config.max_blocks),
            ("max_open", config.max_open), ("max_active", config.max_active),
        ):  # fmt: skip
            actual = getattr(info, name)
            if actual != expected:
                raise DeviceMismatch(f"the device has {name} = {actual}; {config.name!r} has {expected}")

    def configure(self, node: NodeTable, zones: dict[int, range]) -> None:
        """Write the stream table, the tensor buffer's size and the time; the controller is disabled."""
        write = self._link.write_register
        memory_bytes = len(self._link.memory)
        write(Register.MEMORY_LOW, memory_bytes & 0xFFFF_FFFF)
        write(Register.MEMORY_HIGH, memory_bytes >> 32)
        write(Register.TIME, self._link.seconds % (1 << 32))
        write(Register.INTERRUPT, (1 << PORTS) - 1)
        write(Register.INTERRUPT_MASK, (1 << PORTS) - 1)
        for nsid in range(1, MAX_STREAMS + 1):
            write(stream_register(nsid, StreamRegister.ATTRIBUTES), 0)
        for stream in node.streams:
            own = zones[stream.nsid]
            write(stream_register(stream.nsid, StreamRegister.ZONES), own.start | len(own) << 16)
            write(stream_register(stream.nsid, StreamRegister.ATTRIBUTES), stream_attributes(stream))

    @property
    def enabled(self) -> bool:
        return bool(self._link.read_register(Register.CONTROL) & Control.ENABLE)

    def enable(self, how: Control) -> None:
        """Enable, with FACTORY, RECOVER or neither, and wait until the controller is ready."""
        self._link.write_register(Register.CONTROL, Control.ENABLE | how)
        self._await(State.READY, True)

    def inspect_raw(self, raw: bool) -> None:
        """Let INSPECT return pages as the cells hold them, or decoded; only during recovery, with no command
        in flight."""
        self._link.write_register(
            Register.CONTROL, Control.ENABLE | Control.RECOVER | (Control.RAW if raw else Control(0))
        )

    def settle(self) -> None:
        """Wait until no command is in flight and every pending erase is done."""
        self._await(State.IDLE, True)

    def disable(self) -> None:
        """Disable, and wait until the controller no longer accesses the tensor buffer."""
        self._link.write_register(Register.CONTROL, 0)
        self._await(State.READY, False)

    def counters(self) -> dict[str, int]:
        return {counter.name: self._read_long(counter_register(counter)) for counter in Counter}

    def channel_counters(self) -> list[dict[str, int]]:
        channels = []
        for channel in range(self._link.config.geometry.channels):
            self._link.write_register(Register.CHANNEL_SELECT, channel)
            channels.append({c.name: self._read_long(channel_counter_register(c)) for c in ChannelCounter})
        return channels

    @property
    def time(self) -> int:
        """Seconds, by the device's clock."""
        return self._link.read_register(Register.TIME)

    def zone_wear(self) -> list[int]:
        wear = []
        for zone in range(self._link.config.geometry.zones):
            self._link.write_register(Register.ZONE_SELECT, zone)
            wear.append(self._link.read_register(Register.ZONE_WEAR))
        return wear

    def _read_long(self, address: int) -> int:
        """A counter of 64 bits: a read of the low half latches the high one."""
        low = self._link.read_register(address)
        return low | self._link.read_register(address + 4) << 32

    def _await(self, bit: State, value: bool) -> None:
        config = self._link.config
        # Every zone and every spare may have to be erased, one after the other; the limit is ten times that
        # time plus a constant.
        g = config.geometry
        most = 10 * config.timing.cycles("tbers") * (g.zones + g.planes * g.spare_blocks) + 10_000_000
        waited, step = 0, _FIRST_POLL
        while waited < most:
            state = self._link.read_register(Register.STATE)
            if state & State.FATAL:
                raise DeviceHang(f"the controller reports a fatal fault (STATE {state:#x})")
            if bool(state & bit) == value:
                return
            self._link.run(step)
            waited += step
            step = min(2 * step, _LONGEST_POLL)
        awaited = {State.READY: "ready", State.IDLE: "idle"}[bit] if value else "disabled"
        raise DeviceHang(f"the controller is not {awaited} after {most} cycles")
