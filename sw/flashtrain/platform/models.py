"""Storages by their bounds: the flash memory system, conventional SSDs, and an ideal one.

The bounds are functions of the configuration, and no controller reaches them in full. `fms.FmsModel`
simulates the flash memory system.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

from flashtrain.perf.read_bound import read_bound
from flashtrain.perf.update_bounds import on_dies
from flashtrain.platform.errors import PlatformError
from flashtrain.platform.storage import Kind, Resource, Storage, rate_storage
from flashtrain.spec import FmsConfig, preset
from flashtrain.spec.optimizer import OptimizerCode
from flashtrain.spec.update import WORD_BYTES, CopyFormat, GradientFormat, Tile
from flashtrain.ssd import SsdConfig, bounds


def append_bound(config: FmsConfig) -> float:
    """Bytes per second of sequential appends, zone after zone: all dies program or erase all the time.

    A die takes tPROG for a page set, and tBERS once for the pages of a block.
    """
    g, t = config.geometry, config.timing
    cycles = t.cycles("tprog") + t.cycles("tbers") / g.pages
    arrays = g.channels * g.dies * g.page_set_bytes / cycles * t.clock_hz
    return min(arrays, config.net_channel_bytes_per_second)


def update_bound(config: FmsConfig, program: OptimizerCode) -> float:
    """Bytes of float32 gradients per second of updates on the dies (`perf.update_bounds.on_dies`)."""
    tile = Tile.of(config.geometry, program, GradientFormat.FP32, CopyFormat.NONE)
    return WORD_BYTES * on_dies(config, tile).parameters_per_second


@dataclass(frozen=True)
class IdealModel:
    """Storage that takes no time."""

    name: str = "ideal"
    capacity_bytes: float = inf

    def resources(self) -> Sequence[Resource]:
        return ()

    def new_storage(self, beside: Sequence[Resource]) -> Storage:
        return rate_storage(())


@dataclass(frozen=True)
class FmsRates:
    """The flash memory system at its bounds.

    - `config`: its configuration; Behemoth's table by default.
    - `program`: the optimizer of updates on the dies.
    """

    config: FmsConfig = field(default_factory=lambda: preset("behemoth"))
    program: OptimizerCode = OptimizerCode.ADAM
    name: str = "fms-rates"

    @property
    def capacity_bytes(self) -> int:
        return self.config.geometry.capacity_bytes

    def resources(self) -> Sequence[Resource]:
        bus, reads = 1 / self.config.net_channel_bytes_per_second, read_bound(self.config)
        return (
            Resource("buses", dict.fromkeys(Kind, bus) | {Kind.READ: 1 / reads.buses}),
            Resource(
                "arrays",
                {
                    Kind.APPEND: 1 / append_bound(self.config),
                    Kind.READ: 1 / reads.arrays,
                    Kind.UPDATE: 1 / update_bound(self.config, self.program),
                },
            ),
        )

    def new_storage(self, beside: Sequence[Resource]) -> Storage:
        return rate_storage(self.resources(), beside)


@dataclass(frozen=True)
class SsdModel:
    """Conventional SSDs in RAID 0 at their bounds; the defaults are the baseline of Behemoth's slides.

    - `array`: the drives (`flashtrain.ssd`); four of Behemoth's slides by default.
    - `read_command_bytes`: bytes of a read command on each drive. An assumption: the slides do not say.
    - `write_amplification`: pages programmed for each page written. An assumption: whole tensors are
      overwritten in order, so that garbage collection finds blocks without valid pages.
    - `append_share`, `read_share`: the part of the bounds that the drives reach.
    """

    array: SsdConfig = field(default_factory=lambda: SsdConfig.of(preset("behemoth")))
    read_command_bytes: int = 128 * 1024
    write_amplification: float = 1.0
    append_share: float = 1.0
    read_share: float = 1.0
    name: str = "ssd"

    def __post_init__(self) -> None:
        for name in ("read_command_bytes", "write_amplification"):
            if getattr(self, name) < 1:
                raise PlatformError(f"{self.name}: {name} is {getattr(self, name)}; expected at least 1")
        for name in ("append_share", "read_share"):
            _require_share(self.name, name, getattr(self, name))

    @property
    def capacity_bytes(self) -> int:
        return self.array.capacity_bytes

    def resources(self) -> Sequence[Resource]:
        """Firmware, and garbage collection with it, works on each programmed page; erases take their time."""
        t, pages = self.array.timing, self.array.geometry.pages
        of = bounds(self.array, self.read_command_bytes)
        erasing = 1 + t.cycles("tbers") / (pages * t.cycles("tprog"))
        append, read = self.write_amplification / self.append_share, 1 / self.read_share
        link = (
            Resource("link in", {Kind.APPEND: append / of.link}),
            Resource("link out", {Kind.READ: read / of.link}),
        )
        return (
            Resource("buses", {Kind.APPEND: append / of.buses, Kind.READ: read / of.buses}),
            Resource("arrays", {Kind.APPEND: append * erasing / of.programs, Kind.READ: read / of.senses}),
            Resource("firmware", {Kind.APPEND: append / of.firmware}),
            Resource("controller", {Kind.READ: read / of.commands}),
            *(link if of.link < inf else ()),
        )

    def new_storage(self, beside: Sequence[Resource]) -> Storage:
        return rate_storage(self.resources(), beside)


@dataclass(frozen=True)
class DriveModel:
    """Drives at published bandwidths. Reads and writes share the time of the drives: an assumption."""

    read_bytes_per_second: float
    write_bytes_per_second: float
    capacity_bytes: float = inf
    name: str = "drives"

    def resources(self) -> Sequence[Resource]:
        rates = {Kind.APPEND: 1 / self.write_bytes_per_second, Kind.READ: 1 / self.read_bytes_per_second}
        return (Resource("drives", rates),)

    def new_storage(self, beside: Sequence[Resource]) -> Storage:
        return rate_storage(self.resources(), beside)


def _require_share(model: str, name: str, value: float) -> None:
    if not 0 < value <= 1:
        raise PlatformError(f"{model}: {name} is {value}; expected more than 0, at most 1")
