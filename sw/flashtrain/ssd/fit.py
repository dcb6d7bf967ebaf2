"""Drives whose parameters are fitted to a data sheet, and each published point beside the model's.

A sheet says nothing of what is inside. The fit takes the fewest parts that reach it, each in closed form:

- `link_ns` from sequential reads, `read_ns` from random reads, `tprog` from sequential writes.
- `tr` and `write_ns` from the latencies, by what the model adds to them.
- `over_provisioning` from random writes. The arrays' time for a page of the host has room for some moved
  pages. Greedy collection (`greedy`) needs so many spare pages not to move more.

Assumptions, none of them published:

- A die of the model is a plane of the drive's dies, which senses and programs by itself. Its four planes are
  the parts of 4 KiB of a page of 16 KiB. A drive has at least `CROWDING` times the planes that random reads
  keep busy.
- Buses of 1,600 MT/s bound nothing. An erase takes 1 % of the programs of its block.
- Without published latencies, a sense takes 50 µs and a write 15 µs.
- The model holds a part of the drive: rates do not depend on the number of blocks.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from flashtrain.spec import Geometry, NandTiming
from flashtrain.spec.errors import require
from flashtrain.spec.timing import ns
from flashtrain.traces import Operation

from .array import SsdArray, scattered, sequence
from .bench import COMMAND_BYTES, SETTLING
from .config import OPEN_SUPERBLOCKS, SsdConfig
from .drive_file import load_drive
from .greedy import greedy_amplification
from .kernel import parameters
from .sheet import GB, KIB4, SHEETS, DataSheet, sheet_named

CLOCK_MHZ = 800
DIES, PLANES, BLOCKS, PAGES = 8, 4, 256, 256
CORES = 64
"""Pages that the firmware handles at a time, as a pipeline: so many that it bounds no bandwidth."""
CROWDING = 1.35
ERASE_SHARE = 0.01
SENSE_NS, WRITE_US = 50_000, 15.0
SENSES_FOR_A_MOVE = 0.5
"""A sense brings two of the four pages of a set, the mean of a victim that is half valid."""
LEAST_SPARE, MOST_SPARE = 0.02, 1.0

READS_AT_ONCE, WRITES_AT_ONCE = 4096, 512
"""Commands in flight: of random reads, and of random writes to 64 dies."""
READS, LATENCIES, SEQUENTIAL = 200_000, 64, 1000
"""Commands measured: random reads, single ones, and those of `COMMAND_BYTES`."""
OVERWRITTEN_CHANNELS, OVERWRITTEN_PAGES = 8, 4
"""Random writes are measured on so many channels and pages of a block, with their part of the link."""

TOLERANCES = {
    "read_gb": 0.01, "write_gb": 0.02, "read_iops": 0.02, "write_iops": 0.07, "read_us": 0.01,
    "write_us": 0.01,
}  # fmt: skip
"""By which the model may differ from each published value."""


@dataclass(frozen=True)
class SheetPoint:
    """A published value and the model's."""

    key: str
    published: float
    model: float
    source: str

    @property
    def residual(self) -> float:
        """Of the model, as a share of the published value."""
        return self.model / self.published - 1

    @property
    def tolerance(self) -> float:
        return TOLERANCES[self.key]

    @property
    def met(self) -> bool:
        return abs(self.residual) <= self.tolerance


def fitted(sheet: DataSheet) -> SsdConfig:
    """A drive whose parameters follow from the sheet. :class:`ConfigError` for one that no drive reaches."""
    draft = _draft(sheet)
    at = parameters(draft)
    if (read_us := sheet.get("read_us")) is not None:
        # What a read takes beside the sense: commands, status, data, and the link.
        parts = ("read_time", "sense_command", "twb", "trr", "status", "select", "tccs", "data", "link")
        left = read_us * CLOCK_MHZ - sum(at[name] for name in parts)
        require(left > 0, "values.read_us", read_us, "more than commands and data take")
        draft = replace(draft, timing=replace(draft.timing, tr=ns(left * 1000 / CLOCK_MHZ)))
    return replace(draft, over_provisioning=_spare(sheet, draft))


def drive_named(name: str) -> SsdConfig:
    """The drive fitted to a data sheet of the package, or the one in a drive file."""
    return fitted(sheet_named(name)) if name in SHEETS else load_drive(Path(name))


def _draft(sheet: DataSheet) -> SsdConfig:
    """All but the sense of a published latency, and over-provisioning."""
    link_ns = _nearest_ns(KIB4 / sheet["read_gb"])
    tr = (sheet.get("read_us") or SENSE_NS / 1000) * 1000
    channels = 1
    while channels * DIES < CROWDING * sheet["read_iops"] * tr * 1e-9:
        channels *= 2
    page_sets = channels * DIES * PLANES * KIB4
    require(channels <= 64, "values.read_iops", round(sheet["read_iops"]),
            f"fewer: {64 * DIES} planes that sense for {tr / 1000:g} µs")  # fmt: skip
    tprog = page_sets / sheet["write_gb"]
    write_ns = round((sheet.get("write_us") or WRITE_US) * 1000) - link_ns
    return SsdConfig(
        name=sheet.name,
        geometry=Geometry(channels=channels, dies=DIES, planes=PLANES, blocks=BLOCKS, pages=PAGES),
        timing=NandTiming(
            clock_mhz=CLOCK_MHZ, tr=ns(tr), tprog=ns(tprog), tbers=ns(ERASE_SHARE * PAGES * tprog)
        ),
        bus_page_bytes=KIB4 + Geometry.spare_bytes,
        over_provisioning=0.5,
        write_ns=write_ns,
        move_ns=0,
        read_ns=_nearest_ns(1e9 / sheet["read_iops"]),
        link_ns=link_ns,
        firmware_cores=CORES,
        buffer_bytes=8 * page_sets,
        gc_superpages=4,
    )  # fmt: skip


def _nearest_ns(value: float) -> int:
    """Whole nanoseconds of the number of cycles that is nearest to `value`."""
    return round(value * CLOCK_MHZ / 1000) * 1000 // CLOCK_MHZ


def _spare(sheet: DataSheet, config: SsdConfig) -> float:
    """Over-provisioning with which arrays have the time for the published random writes.

    A page of the host takes A programs and A - 1 reads of pages, of all dies' time between two such pages.
    """
    g, t = config.geometry, config.timing
    each = g.channels * g.dies / sheet["write_iops"] * 1e9
    program = t.tprog.ns / g.planes * (1 + ERASE_SHARE)
    sense = SENSES_FOR_A_MOVE * t.tr.ns
    amplification = (each + sense) / (program + sense)
    low, high = 1 + LEAST_SPARE, 1 + MOST_SPARE
    for _ in range(60):
        middle = (low + high) / 2
        more = greedy_amplification(middle, config.superblock_pages) > amplification
        low, high = (middle, high) if more else (low, middle)
    # Free and open superblocks are none that the collector chooses from.
    return min(high * g.blocks / (g.blocks - config.gc_critical - OPEN_SUPERBLOCKS) - 1, MOST_SPARE)


def points(sheet: DataSheet, seed: int = 1) -> Iterator[SheetPoint]:
    """Each published value of the sheet that the model has, as it is simulated."""
    config = fitted(sheet)
    pages = COMMAND_BYTES // KIB4
    written, single = SEQUENTIAL * pages, 1
    with SsdArray(config) as array:
        found = {"write_us": _mean(array, Operation.WRITE, written, seed)}
    with SsdArray(config) as array:
        for way in (Operation.WRITE, Operation.READ):
            run = array.run(sequence(way, 0, SEQUENTIAL, pages), 64)
            found[f"{way.name.lower()}_gb"] = SEQUENTIAL * COMMAND_BYTES / run.seconds / GB
        run = array.run(scattered(Operation.READ, written, READS, single, seed), READS_AT_ONCE)
        found["read_iops"] = READS / run.seconds
        found["read_us"] = _mean(array, Operation.READ, written, seed)
    found["write_iops"] = _random_writes(config, seed)
    for key in TOLERANCES:
        if key in sheet.values:
            yield SheetPoint(key, sheet[key], found[key], sheet.values[key].source)


def _mean(array: SsdArray, op: Operation, span: int, seed: int) -> float:
    """Mean latency in µs of commands of one page, one at a time."""
    return float(array.run(scattered(op, span, LATENCIES, 1, seed), 1).latencies.mean()) * 1e6


def _random_writes(config: SsdConfig, seed: int) -> float:
    """Of the whole drive, in the steady state, measured on a part of its channels."""
    part = max(1, config.geometry.channels // OVERWRITTEN_CHANNELS)
    t = config.timing
    small = replace(
        config,
        geometry=replace(config.geometry, channels=config.geometry.channels // part, pages=OVERWRITTEN_PAGES),
        timing=replace(t, tbers=ns(t.tbers.ns * OVERWRITTEN_PAGES / config.geometry.pages)),
        link_ns=config.link_ns * part,
        firmware_cores=CORES // part,
    )
    user = small.user_pages // small.stripe_pages * small.stripe_pages
    with SsdArray(small) as array:
        array.kernel.fill(0, 0, user)
        array.kernel.overwrite(0, SETTLING * user, seed)
        run = array.run(scattered(Operation.WRITE, user, user, 1, seed), WRITES_AT_ONCE)
    return part * user / run.seconds
