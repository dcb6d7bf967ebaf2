"""The least time of a sequential read on a bus that carries commands, addresses, status and data in turn.

A page takes the beats of its data and the gap behind them. `D` are its data, `S` is the selection of a page
(06h, column, row, E0h), whose data may follow after tCCS. The dies of a channel take turns:

- One die: D, tRHW, S, tCCS.
- Two dies, the shorter of two orders. Either D of one die, tRHW, S of the same, D of the other. Or D of both,
  tCHZ behind each, then S of both and the rest of tCCS.
- More: D, tCHZ, S of a die whose data are not next.

A page set of a die also needs the command that senses the next one (31h), and a status that reads ready. The
die is busy in between, so neither comes where its selection is. Both fill gaps that were shorter without
them, or wait with a selection. Operations of a channel never overlap, and status is read from the bus.

With SCA commands, addresses and status pass beside the data of another die. Left on the data bus is the gap
between two pages (`NandTiming.burst_gap`). A page then takes the most of three:

- The data bus: D and the gap.
- The bus of commands, in packets: S, the two that begin and end a burst, and for a page set 31h and a status.
- A die, beside which the others do as much: S, tCCS, D; and for a page set 31h, tCBSY and the byte of a
  status.
"""

from dataclasses import dataclass

from flashtrain.model.parameters import operation_cycles
from flashtrain.spec import FmsConfig
from flashtrain.spec.identity import PageIdentity
from flashtrain.spec.nand import SELECT_COLUMN, SELECT_SENSED, BusOp


@dataclass(frozen=True)
class ReadBound:
    """Cycles of the bus for a page of a sequential read.

    - `data`: beats of the page and the bytes behind it.
    - `selection`: command and address cycles that select it, and the waits between data and commands. With
      SCA all that passes on the data bus between two pages; `sense` and `status` are 0.
    - `sense`: its share of the command that senses the next page set.
    - `status`: its share of the status of a page set.
    """

    config: FmsConfig
    data: int
    selection: float
    sense: float
    status: float

    @property
    def cycles(self) -> float:
        return self.data + self.selection + self.sense + self.status

    @property
    def buses(self) -> float:
        """Bytes of pages per second that the buses of all channels carry, by their fastest data interface."""
        g = self.config.geometry
        rate = g.channels * g.page_bytes * self.config.timing.clock_hz / self.cycles
        return min(rate, self.config.net_channel_bytes_per_second)

    @property
    def arrays(self) -> float:
        """The same that all dies sense."""
        g = self.config.geometry
        seconds = self.config.timing.cycles("tr") / self.config.timing.clock_hz
        return g.channels * g.dies * g.page_set_bytes / seconds

    @property
    def bytes_per_second(self) -> float:
        """The rate of the buses or of the arrays' senses, whichever is less."""
        return min(self.buses, self.arrays)

    @property
    def single_page_cycles(self) -> float:
        """Cycles of the bus for a page that is read alone: it shares sense and status with no other plane."""
        return self.data + self.selection + self.config.geometry.planes * (self.sense + self.status)

    @property
    def single_pages_per_second(self) -> float:
        """Pages that are read alone: those of the buses or of the arrays' senses, whichever is less."""
        g, clock = self.config.geometry, self.config.timing.clock_hz
        return g.channels * clock / max(self.single_page_cycles, self.config.timing.cycles("tr") / g.dies)

    def __str__(self) -> str:
        return (
            f"{self.cycles:,.1f} cycles a page: {self.data:,} of data, {self.selection:.1f} of selection,"
            f" {self.sense:.1f} of sense, {self.status:.1f} of status"
        )


@dataclass(frozen=True)
class PartBound:
    """Cycles for a read of a part of a page at random.

    - `data`: beats of the part and of the identity.
    - `commands`: a sense, a status that reads ready, and two selections.
    - `gaps`: tCHZ behind each of the two. The waits for tRHW, tCCS and tR may pass beside other dies.
    - `die`: of a die, all of them one after the other, and its waits. It is busy while it senses, or for
      tCBSY of a cache read, and then outputs nothing.

    With SCA `commands` is 0. `gaps` is the rest of the time of two gaps or of the packets, whichever is more.
    """

    config: FmsConfig
    data: int
    commands: int
    gaps: int
    die: int

    @property
    def cycles(self) -> int:
        """Cycles of a bus."""
        return self.data + self.commands + self.gaps

    @property
    def per_second(self) -> float:
        """Reads of the buses or of the dies, whichever is less."""
        g = self.config.geometry
        return g.channels * self.config.timing.clock_hz / max(self.cycles, self.die / g.dies)


def part_bound(config: FmsConfig) -> PartBound:
    """The bound of reads of `part_bytes` each."""
    if config.chips.sca:
        return _part_bound_with_sca(config)
    cycles = config.timing.cycles
    sense, select = (operation_time(config, op) for op in (BusOp.READ_LAST, BusOp.SELECT))
    return_, column = (sequence.cycles * cycles("twc") for sequence in (SELECT_SENSED, SELECT_COLUMN))
    data, status = (config.part_bytes + PageIdentity.BYTES) // 2, status_time(config)
    ends = status + data + column + cycles("tccs") + 3 * cycles("trhw")
    plain = sense + cycles("twb") + cycles("tr") + return_ + cycles("twhr") + ends
    # The next page may be sensed during the output; that of the page takes a selection with its row.
    cached = sense + cycles("twb") + cycles("tcbsy") + select + cycles("tccs") + ends
    die = min(plain, max(cached, sense + cycles("twb") + cycles("tr")))
    return PartBound(config, data, sense + status + return_ + column, 2 * cycles("tchz"), die)


def _part_bound_with_sca(config: FmsConfig) -> PartBound:
    """Of a part and its identity, each is a burst with a packet before and behind it.

    The command of a status and tWHR pass while the die is busy.
    """
    cycles, op_cycles, packet = config.timing.cycles, operation_cycles(config), config.timing.cycles("tca")
    sense, select = (int(op_cycles[op]) * packet for op in (BusOp.READ_LAST, BusOp.SELECT))
    return_, column = (sequence.cycles * packet for sequence in (SELECT_SENSED, SELECT_COLUMN))
    data, status, begin = (
        (config.part_bytes + PageIdentity.BYTES) // 2,
        cycles("tcas"),
        packet + cycles("tsce"),
    )
    of_commands = sense + packet + cycles("twhr") + status + return_ + column + 4 * packet
    most = max(data + 2 * config.timing.burst_gap, of_commands)
    ends = status + data + column + max(cycles("tccs"), begin)
    plain = sense + cycles("twb") + cycles("tr") + return_ + max(cycles("twhr"), begin) + ends
    cached = sense + cycles("twb") + cycles("tcbsy") + select + max(cycles("tccs"), begin) + ends
    die = min(plain, max(cached, sense + cycles("twb") + cycles("tr")))
    return PartBound(config, data, 0, most - data, die)


def operation_time(config: FmsConfig, op: BusOp) -> int:
    """Clock cycles of the command and address cycles of an operation on a classical bus."""
    return int(operation_cycles(config)[op]) * config.timing.cycles("twc")


def status_time(config: FmsConfig) -> int:
    """Clock cycles from the command of a status to its byte."""
    return operation_time(config, BusOp.STATUS) + config.timing.cycles("twhr") + 1


def read_bound(config: FmsConfig) -> ReadBound:
    """The bound of sequential reads of a configuration."""
    if config.chips.sca:
        return _read_bound_with_sca(config)
    cycles, dies, status = config.timing.cycles, config.geometry.dies, status_time(config)
    trhw, tchz, tccs = (cycles(name) for name in ("trhw", "tchz", "tccs"))
    select, sense = (operation_time(config, op) for op in (BusOp.SELECT, BusOp.CACHE_READ_NEXT))
    if dies == 1:
        page = trhw + select + tccs
        set_sense, set_status = sense + cycles("twb") + cycles("tcbsy"), status + trhw
    elif dies == 2:
        page = min(trhw + select, tchz + (select + max(tccs, select)) / 2)
        # Alone in a gap, or beside the selection of a page whose tCCS has room for it.
        set_sense = min(trhw + sense - tchz, tchz + select + tccs - page)
        set_status = min(status + tchz, trhw + select + tccs - page)
    else:
        page = tchz + select
        set_sense, set_status = sense, status + tchz
    planes = config.geometry.planes
    return ReadBound(config, config.bus_page_bytes // 2, page, set_sense / planes, set_status / planes)


def _read_bound_with_sca(config: FmsConfig) -> ReadBound:
    """The most of three: the data bus, the bus of commands, and a die that does all one after the other."""
    cycles, op_cycles, g = config.timing.cycles, operation_cycles(config), config.geometry
    data, packet, tccs = config.bus_page_bytes // 2, cycles("tca"), cycles("tccs")
    select, sense = (int(op_cycles[op]) * packet for op in (BusOp.SELECT, BusOp.CACHE_READ_NEXT))
    status = packet + cycles("twhr") + cycles("tcas")
    of_commands = 2 * packet + select + (sense + status) / g.planes
    # The selection of the die for its data passes within tCCS, or is all of the wait.
    page = data + packet + select + max(tccs, packet + cycles("tsce"))
    of_die = (page + (sense + cycles("tcbsy") + cycles("tcas")) / g.planes) / g.dies
    most = max(data + config.timing.burst_gap, of_commands, of_die)
    return ReadBound(config, data, most - data, 0, 0)
