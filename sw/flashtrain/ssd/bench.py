"""Measurements of conventional SSDs beside the bounds of their parts, and of greedy collection."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isfinite

from flashtrain.spec.timing import ns
from flashtrain.traces import Operation

from .array import SsdArray, SsdRun, scattered, sequence
from .bounds import bounds
from .config import SsdConfig
from .greedy import greedy_amplification, lru_amplification

COMMAND_BYTES = 1 << 20
DEPTH = 32
"""Commands in flight for each drive; 32 MiB are more than a drive's buffer."""
MANY_CORES = 16
"""So many that firmware is no bound of writes on Behemoth's drives."""
ROUNDING = 1e-9

AMPLIFICATION_PAGES = (4, 16, 64, 256)
"""Pages of a block."""
OVERWRITTEN_PAGES = 4
SETTLING, MEASURED, SLICES = 4, 2, 16
"""Overwrites of the whole drive until the amplification is steady, and while it is measured, in slices."""


@dataclass(frozen=True)
class BandwidthRow:
    """A bandwidth in bytes per second, its bound, and the part whose bound it is."""

    name: str
    drives: int
    cores: int
    value: float
    bound: float
    part: str
    limits: dict[str, float]

    @property
    def met(self) -> bool:
        """Whether the value is possible: at most its bound."""
        return self.value <= self.bound * (1 + ROUNDING)


@dataclass(frozen=True)
class AmplificationRow:
    """A measured write amplification of superblocks of `pages` pages, and what closed forms say.

    - spare: physical pages in closed superblocks, for each valid one there: free and open superblocks are
      none that greedy chooses from.
    - greedy: `greedy_amplification` of that; lru: the upper bound; nominal: greedy, of the whole drive.
    """

    pages: int
    superblocks: int
    spare: float
    value: float
    greedy: float
    lru: float
    nominal: float

    @property
    def tolerance(self) -> float:
        """Share by which `value` may differ from `greedy`.

        The form takes v for continuous: half a page of a superblock. It takes the number of superblocks for
        infinite: four superblocks of all.
        """
        return 0.5 / self.pages + 4 / self.superblocks

    @property
    def met(self) -> bool:
        return abs(self.value / self.greedy - 1) <= self.tolerance and self.value <= self.lru * (
            1 + self.tolerance
        )


def bandwidths(config: SsdConfig, commands: int) -> Iterator[BandwidthRow]:
    """Sequential writes and reads and random reads of 4 KiB, with one core and with many.

    commands: of `COMMAND_BYTES`, for each drive; fewer where the drives are smaller.
    """
    g = config.geometry
    pages = COMMAND_BYTES // g.page_bytes
    count = min(commands * config.drives, config.capacity_bytes // COMMAND_BYTES)
    depth = DEPTH * config.drives
    for cores in (config.firmware_cores, MANY_CORES):
        cored = replace(config, firmware_cores=cores)
        with SsdArray(cored) as array:
            run = array.run(sequence(Operation.WRITE, 0, count, pages), depth)
            yield _row("sequential write", run, COMMAND_BYTES // config.drives)
            if cores == MANY_CORES:
                run = array.run(sequence(Operation.READ, 0, count, pages), depth)
                yield _row("sequential read", run, COMMAND_BYTES // config.drives)
                run = array.run(scattered(Operation.READ, count * pages, 16 * count, 1, 1), depth)
                yield _row("random read, one page", run, g.page_bytes)


def _row(name: str, run: SsdRun, part_bytes: int) -> BandwidthRow:
    config, of = run.config, bounds(run.config, part_bytes)
    if run.commands["op"][0] == Operation.WRITE:
        limits = {"firmware": of.firmware, "arrays": of.programs, "buses": of.buses, "link": of.link}
    else:
        limits = {"commands": of.commands, "arrays": of.senses, "buses": of.buses, "link": of.link}
    limits = {name: limit for name, limit in limits.items() if isfinite(limit)}
    part = min(limits, key=lambda name: limits[name])
    value = int(run.commands["count"].sum()) * config.geometry.page_bytes / run.seconds
    return BandwidthRow(name, config.drives, config.firmware_cores, value, limits[part], part, limits)


def with_blocks(config: SsdConfig, pages: int) -> SsdConfig:
    """One drive with blocks of `pages` pages. tBERS keeps its ratio to the programs of a block."""
    t = config.timing
    erase = replace(t, tbers=ns(t.tbers.ns * pages / config.geometry.pages))
    return replace(config, drives=1, geometry=replace(config.geometry, pages=pages), timing=erase)


def with_one_die(config: SsdConfig) -> SsdConfig:
    """The drive with a single die, for small superblocks."""
    return replace(config, geometry=replace(config.geometry, channels=1, dies=1))


def amplification(config: SsdConfig, pages: int, seed: int = 1) -> AmplificationRow:
    """Of uniform random overwrites of one page each on one die, in the steady state."""
    small = with_one_die(with_blocks(config, pages))
    n, user = small.superblock_pages, small.user_pages
    with SsdArray(small) as array:
        kernel = array.kernel
        kernel.fill(0, 0, user)
        kernel.overwrite(0, SETTLING * user, seed)
        slices, spares = [], []
        for number in range(SLICES):
            slices.append(kernel.overwrite(0, MEASURED * user // SLICES, seed + 1 + number))
            state = kernel.superblocks(0)
            spares.append(state.closed * n / state.valid)
    written = sum(each.written for each in slices)
    spare = sum(spares) / len(spares)
    return AmplificationRow(
        pages=n,
        superblocks=small.geometry.blocks,
        spare=spare,
        value=(written + sum(each.moved for each in slices)) / written,
        greedy=greedy_amplification(spare, n),
        lru=lru_amplification(spare),
        nominal=greedy_amplification(1 + config.over_provisioning, n),
    )


def overwrite_bandwidth(config: SsdConfig, pages: int = OVERWRITTEN_PAGES, seed: int = 1) -> BandwidthRow:
    """Of the same overwrites in time, on :func:`with_blocks`.

    Each page costs as much of arrays and firmware as the measured amplification says.
    """
    small = with_blocks(config, pages)
    user = small.user_pages // small.stripe_pages * small.stripe_pages
    with SsdArray(small) as array:
        array.kernel.fill(0, 0, user)
        array.kernel.overwrite(0, SETTLING * user, seed)
        run = array.run(scattered(Operation.WRITE, user, user, 1, seed), DEPTH)
    row = _row("random overwrite, one page", run, small.geometry.page_bytes)
    # An idle drive goes on to collect.
    amplified = 1 + run.counts.moved_by_end / max(1, run.counts.written)
    limits = {
        "firmware": _firmware(small, amplified),
        "arrays": row.limits["arrays"] / amplified,
        "buses": row.limits["buses"] / (2 * amplified - 1),  # a moved page crosses them twice
    }
    part = min(limits, key=lambda name: limits[name])
    return replace(row, bound=limits[part], part=part, limits=limits)


def _firmware(config: SsdConfig, amplified: float) -> float:
    """Firmware's bound, bytes per second, when it moves `amplified` - 1 pages for each one written."""
    cycles = config.firmware_cycles(config.write_ns) + (amplified - 1) * config.firmware_cycles(
        config.move_ns
    )
    return config.firmware_cores * config.geometry.page_bytes * config.timing.clock_hz / cycles
