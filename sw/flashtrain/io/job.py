"""A job: how many commands of which kind a port keeps in flight on a stream."""

from dataclasses import dataclass, field

from flashtrain.spec import Port

from .patterns import READ, Direction, Pattern

COMMAND_LINE = "command line"


@dataclass(frozen=True)
class Rates:
    """Most bytes, or commands, per second of each direction; None: no limit."""

    read: int | None = None
    append: int | None = None

    def of(self, direction: Direction) -> int | None:
        return self.read if direction is Direction.READ else self.append


NO_RATES = Rates()


@dataclass(frozen=True)
class Job:
    """A job with the options of its section; the names are fio's, but for `stream` and `port`.

    Times are nanoseconds of simulated time. A job has *blocks* of `bs` bytes at offsets up to `size`, as a
    file of fio has.

    - verify: blocks have contents that follow from seed, job and offset, with a CRC32C in each logical block.
    - place: where the job comes from, for messages.
    """

    name: str
    size: int
    rw: Pattern = READ
    bs: int = 4096
    stream: str = "activations"
    port: Port = Port.CORE
    iodepth: int = 1
    numjobs: int = 1
    rwmixread: int = 50
    runtime: int | None = None
    ramp_time: int = 0
    time_based: bool = False
    rate: Rates = NO_RATES
    rate_iops: Rates = NO_RATES
    verify: bool = False
    randseed: int = 1
    place: str = field(default=COMMAND_LINE, compare=False)

    @property
    def blocks(self) -> int:
        """Blocks of `bs` bytes."""
        return self.size // self.bs
