"""Use of a device between two moments: bandwidths, shares and causes of stalls, from its counters."""

from dataclasses import dataclass

from flashtrain.host import Device
from flashtrain.spec import FmsConfig
from flashtrain.spec.registers import ChannelCounter, Counter

STALLS = {
    Counter.WRITE_STALL_BUFFER: "appends wait for room in a channel's write buffer",
    Counter.WRITE_STALL_MEMORY: "appends wait for the tensor buffer",
    Counter.READ_STALL_CHANNEL: "reads wait for a channel",
    Counter.READ_STALL_MEMORY: "reads wait for the tensor buffer",
    Counter.ZONE_WAITS: "commands wait for an erased zone",
}
"""The counters of stalls, and what each means."""

BUS = {
    ChannelCounter.BUS_DATA_IN: "data to the dies",
    ChannelCounter.BUS_DATA_OUT: "data from the dies",
    ChannelCounter.BUS_COMMAND: "commands and addresses",
    ChannelCounter.BUS_WAIT: "waits within operations",
    ChannelCounter.BUS_IDLE: "idle",
}
"""The counters of the uses of a channel's bus, and what each means."""


@dataclass(frozen=True)
class Usage:
    """Differences of all counters; those of the channels are summed.

    `front_end` and `channels` have the names of `Counter` and `ChannelCounter`.
    """

    config: FmsConfig
    front_end: dict[str, int]
    channels: dict[str, int]

    @property
    def cycles(self) -> int:
        return self.front_end[Counter.CYCLES.name]

    @property
    def seconds(self) -> float:
        """Simulated time."""
        return self.cycles / self.config.timing.clock_hz

    @property
    def appended_bytes(self) -> int:
        return self.front_end[Counter.PAGES_APPENDED.name] * self.config.geometry.page_bytes

    @property
    def read_bytes(self) -> int:
        return self.front_end[Counter.PAGES_READ.name] * self.config.geometry.page_bytes

    @property
    def write_amplification(self) -> float | None:
        """Pages programmed per page appended; below 1 when data are dropped before they leave the buffer."""
        appended = self.front_end[Counter.PAGES_APPENDED.name]
        return self.channels[ChannelCounter.PAGES_PROGRAMMED.name] / appended if appended else None

    @property
    def append_share(self) -> float | None:
        """Append bandwidth over the whole time, as a share of the program bound."""
        return _share(self.appended_bytes, self.seconds, self.config.program_bytes_per_second)

    @property
    def read_share(self) -> float | None:
        """Read bandwidth over the whole time, as a share of the channel bound."""
        return _share(self.read_bytes, self.seconds, self.config.channel_bytes_per_second)

    @property
    def buffer_hit_share(self) -> float | None:
        """Pages read that came from a write buffer, as a share of all pages read."""
        read = self.front_end[Counter.PAGES_READ.name]
        return self.channels[ChannelCounter.BUFFER_HITS.name] / read if read else None

    def stall_shares(self) -> dict[str, float]:
        """Share of all cycles, by cause."""
        return (
            {text: self.front_end[c.name] / self.cycles for c, text in STALLS.items()} if self.cycles else {}
        )

    def bus_shares(self) -> dict[str, float]:
        """Share of all cycles of all channels, by what the bus does."""
        cycles = self.cycles * self.config.geometry.channels
        return {text: self.channels[c.name] / cycles for c, text in BUS.items()} if cycles else {}


@dataclass(frozen=True)
class Snapshot:
    """All counters at a moment."""

    config: FmsConfig
    front_end: dict[str, int]
    channels: dict[str, int]

    @classmethod
    def of(cls, device: Device) -> "Snapshot":
        channels = device.channel_counters()
        totals = {c.name: sum(channel[c.name] for channel in channels) for c in ChannelCounter}
        return cls(device.config, device.counters(), totals)

    def since(self, before: "Snapshot") -> Usage:
        """The use between `before` and this moment."""
        return Usage(
            self.config,
            {name: value - before.front_end[name] for name, value in self.front_end.items()},
            {name: value - before.channels[name] for name, value in self.channels.items()},
        )


def _share(count: int, seconds: float, bound: float) -> float | None:
    return count / seconds / bound if seconds else None
