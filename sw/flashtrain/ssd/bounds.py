"""Bandwidths that the parts of an array of SSDs allow; no run can exceed them."""

from dataclasses import dataclass

from .config import SsdConfig


@dataclass(frozen=True)
class SsdBounds:
    """Bytes per second, of all drives together.

    - firmware: of writes; every core handles a page all the time.
    - programs: every die programs all the time.
    - senses: every die senses all its planes all the time.
    - buses: data and spare bytes cross every bus all the time, and nothing else.
    - commands: of reads; the controllers take commands all the time.
    - link: each way; pages cross the links to the host all the time.
    """

    firmware: float
    programs: float
    senses: float
    buses: float
    commands: float
    link: float

    @property
    def write(self) -> float:
        return min(self.firmware, self.programs, self.buses, self.link)

    @property
    def read(self) -> float:
        return min(self.senses, self.buses, self.commands, self.link)


def bounds(config: SsdConfig, read_bytes: int) -> SsdBounds:
    """The bounds of `config`. read_bytes: of a read command's part on one drive."""
    g, t = config.geometry, config.timing
    dies = config.drives * g.channels * g.dies
    clock = t.clock_hz

    def per(cycles: int, count: float) -> float:
        return count * clock / cycles if cycles else float("inf")

    return SsdBounds(
        firmware=per(
            config.firmware_cycles(config.write_ns), config.drives * config.firmware_cores * g.page_bytes
        ),
        programs=per(t.cycles("tprog"), dies * g.page_set_bytes),
        senses=per(t.cycles("tr"), dies * g.page_set_bytes),
        buses=config.drives * g.channels * t.bytes_per_second * g.page_bytes / config.bus_page_bytes,
        commands=per(config.cycles(config.read_ns), config.drives * read_bytes),
        link=per(config.firmware_cycles(config.link_ns), config.drives * g.page_bytes),
    )
