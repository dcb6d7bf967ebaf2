"""A job: how many commands of which kind a port keeps in flight on a drive."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from flashtrain.spec import Port

from .block_sizes import BlockSizes, one_size
from .errors import JobError
from .offsets import UNIFORM, Distribution
from .patterns import READ, Direction, Pattern

COMMAND_LINE = "command line"
PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
"""The percentiles that fio prints by default."""


@dataclass(frozen=True)
class Rates:
    """Most bytes, or commands, per second of each direction; None: no limit, or for trims that of writes."""

    read: int | None = None
    write: int | None = None
    trim: int | None = None

    def of(self, direction: Direction) -> int | None:
        if direction is Direction.TRIM and self.trim is not None:
            return self.trim
        return self.read if direction is Direction.READ else self.write


NO_RATES = Rates()
DEFAULT_BS = BlockSizes(one_size(4096), one_size(4096))


class Share(NamedTuple):
    """A size as a percentage of what the drive has for the job."""

    percent: float


class ExitWhat(Enum):
    """The jobs that end with the first one that ends, of those with `exitall`."""

    GROUP = "group"
    STONEWALL = "stonewall"
    ALL = "all"


class ZoneMode(Enum):
    """The meaning of zones: none, those of a zoned drive, or parts of a file with gaps between them."""

    NONE = "none"
    ZBD = "zbd"
    STRIDED = "strided"


@dataclass(frozen=True)
class Strides:
    """Strided zones, in bytes: after `size` bytes in a zone comes the next one, `pitch` behind.

    The offsets in a zone are below `range`.
    """

    size: int
    range: int
    skip: int

    @property
    def pitch(self) -> int:
        return self.range + self.skip


@dataclass(frozen=True)
class Job:
    """A job with the options of its section; the names are fio's, but for `stream` and `port`.

    Times are nanoseconds of simulated time. A job has a *file*: logical blocks at offsets up to `size`.

    - size: bytes; None, or a share, until `flashtrain.io.checks` has set it for a drive.
    - io_size: bytes that the job moves, in each of its `loops`; None: `size`.
    - filename: jobs with one name share a file on a drive with addresses; on the flash each has its own.
    - rate_process: commands below a rate come at equal distances, or with `poisson` at random ones.
    - fsync: writes between two flushes; 0: none.
    - verify: blocks have contents that follow from seed, job and offset, with a CRC32C in each logical block.
    - stonewall: the job begins when all jobs before it have ended; wait_for: all of this name.
    - flow: commands in proportion to those of the other jobs with its `flow_id`; 0: as many as it can.
    - align: bytes that random offsets are multiples of; None: the least of `bs`.
    - zonesize, zonerange, zoneskip: of strided zones.
    - same_offset: all commands of a random offset go to it; else they follow each other.
    - place: where the job comes from, and places: where its options do, for messages.
    - ignored: options without a meaning here.
    """

    name: str
    size: int | Share | None = None
    rw: Pattern = READ
    bs: BlockSizes = DEFAULT_BS
    io_size: int | None = None
    number_ios: int | None = None
    loops: int = 1
    filesize: int | None = None
    fill_device: bool = False
    offset: int = 0
    offset_increment: int = 0
    filename: str = ""
    stream: str = "activations"
    port: Port = Port.CORE
    iodepth: int = 1
    numjobs: int = 1
    rwmixread: int = 50
    percentage_random: int = 100
    norandommap: bool = False
    align: int | None = None
    same_offset: bool = False
    random_distribution: Distribution = UNIFORM
    startdelay: int = 0
    runtime: int | None = None
    ramp_time: int = 0
    time_based: bool = False
    rate: Rates = NO_RATES
    rate_iops: Rates = NO_RATES
    poisson: bool = False
    thinktime: int = 0
    thinktime_blocks: int = 1
    fsync: int = 0
    end_fsync: bool = False
    verify: bool = False
    do_verify: bool = True
    randseed: int = 1
    stonewall: bool = False
    new_group: bool = False
    group_reporting: bool = False
    exitall: bool = False
    exit_what: ExitWhat = ExitWhat.GROUP
    wait_for: str = ""
    flow: int = 0
    flow_id: int = 0
    zonemode: ZoneMode | None = None
    zonesize: int | None = None
    zonerange: int | None = None
    zoneskip: int = 0
    percentile_list: tuple[float, ...] = PERCENTILES
    place: str = field(default=COMMAND_LINE, compare=False)
    places: Mapping[str, str] = field(default_factory=dict, compare=False)
    ignored: tuple[str, ...] = field(default=(), compare=False)

    def error(self, option: str, problem: str) -> JobError:
        """The error of a value that the job cannot have; its place is that of the option, or of the job."""
        return JobError(self.places.get(option, self.place), option, problem)

    @property
    def bytes(self) -> int:
        """Bytes of the file, of a job whose size is set."""
        assert isinstance(self.size, int)
        return self.size

    @property
    def zoned(self) -> bool:
        return self.zonemode is ZoneMode.ZBD

    @property
    def strides(self) -> Strides | None:
        """The strided zones; as in fio `zonesize` alone makes them."""
        if self.zonesize is None or self.zonemode not in (None, ZoneMode.STRIDED):
            return None
        return Strides(self.zonesize, self.zonerange or self.zonesize, self.zoneskip)

    @property
    def least_bs(self) -> int:
        """The least bytes of a command in the directions of the pattern."""
        return min(self.bs.of(each).least for each in self.rw.directions)

    @property
    def checks_at_end(self) -> bool:
        """Whether all that the job has written is read at the end."""
        return self.verify and self.do_verify and self.rw.writes

    @property
    def bytes_moved(self) -> int:
        """Bytes that the job moves, unless its time ends first."""
        return (self.bytes if self.io_size is None else self.io_size) * self.loops
