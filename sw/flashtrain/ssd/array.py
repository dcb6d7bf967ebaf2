"""Drives in RAID 0, or one alone, that take commands and block traces."""

from dataclasses import dataclass
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec.errors import require, require_range
from flashtrain.traces import Operation

from .config import SsdConfig
from .kernel import COMMAND, Counts, Kernel

CommandList = NDArray[np.void]
"""`flashtrain.ssd.kernel.COMMAND`[n]."""


@dataclass(frozen=True)
class SsdRun:
    """Commands with their times, and the work for them.

    latencies: seconds[n]; seconds: from the first command to the host's last completion or program.
    """

    config: SsdConfig
    commands: CommandList
    counts: Counts
    seconds: float

    @property
    def latencies(self) -> NDArray[np.float64]:
        return (self.commands["done"] - self.commands["begun"]) / self.config.timing.clock_hz

    def latency(self, op: Operation, percentile: float) -> float | None:
        """Seconds, of the commands of one kind; None without any."""
        chosen = self.latencies[self.commands["op"] == op]
        return float(np.percentile(chosen, percentile)) if len(chosen) else None

    @property
    def write_amplification(self) -> float | None:
        """Pages written to the flash for each page of the host; None without writes."""
        written = self.counts.written
        return (written + self.counts.moved) / written if written else None


class SsdArray:
    """The drives of `config`, empty at first. Use it in a `with` statement."""

    def __init__(self, config: SsdConfig) -> None:
        self.config = config
        self.kernel = Kernel(config)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the tables; nothing else afterwards."""
        self.kernel.close()

    def fill(self, first: int = 0, count: int | None = None) -> None:
        """Write pages of the array in their order, in no time; all from `first` on without `count`.

        :class:`ConfigError` for pages beyond the end.
        """
        pages = self.config.capacity_bytes // self.config.geometry.page_bytes
        count = pages - first if count is None else count
        require_range("first", first, 0, pages)
        require_range("count", count, 0, pages - first)
        stripe, drives = self.config.stripe_pages, self.config.drives
        for drive in range(drives):
            begin, end = (_pages_on(drive, page, stripe, drives) for page in (first, first + count))
            if begin < end:
                self.kernel.fill(drive, begin, end - begin)

    def run(self, commands: CommandList, depth: int) -> SsdRun:
        """Play commands; `depth` in flight, or with 0 each at its time.

        :class:`ConfigError` for commands beyond the end.
        """
        pages = self.config.capacity_bytes // self.config.geometry.page_bytes
        end = int((commands["first"] + commands["count"]).max(initial=0))
        require(end <= pages, "commands", f"up to page {end}", f"at most {pages} pages")
        commands = commands.copy()
        before = self.kernel.counts()
        self.kernel.run(commands, depth)
        counts = self.kernel.counts()
        begun = int(commands["begun"].min()) if len(commands) else 0
        delta = Counts(*(now - then for now, then in zip(counts, before, strict=True)))
        end = max(counts.host_end, int(commands["done"].max(initial=begun)))
        seconds = (end - begun) / self.config.timing.clock_hz
        return SsdRun(self.config, commands, delta._replace(host_end=counts.host_end), seconds)


def _pages_on(drive: int, page: int, stripe: int, drives: int) -> int:
    """Pages of `drive` below page `page` of the array."""
    row, offset = divmod(page, stripe * drives)
    return row * stripe + min(max(offset - drive * stripe, 0), stripe)


def sequence(op: Operation, first: int, commands: int, pages: int) -> CommandList:
    """Commands of `pages` pages each, one behind the other from page `first` on."""
    made = np.zeros(commands, COMMAND)
    made["op"], made["count"] = op, pages
    made["first"] = first + pages * np.arange(commands)
    return made


def scattered(op: Operation, span: int, commands: int, pages: int, seed: int) -> CommandList:
    """Commands of `pages` pages each, at multiples of it chosen at random below page `span`."""
    made = np.zeros(commands, COMMAND)
    made["op"], made["count"] = op, pages
    made["first"] = pages * np.random.default_rng(seed).integers(0, span // pages, commands)
    return made
