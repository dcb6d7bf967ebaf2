"""Timing of the asynchronous interface (SDR) of a NAND chip, in which every ONFI part is after power-on.

WE_n and RE_n strobe commands, addresses and data, and each cycle moves a byte. There is no DQS.
`SDR_MODES` has the timing modes of ONFI 5.1 (section 4.19, tables of the SDR timing modes; the same numbers
are in Linux, drivers/mtd/nand/raw/nand_timings.c). `SdrCycles` has what a state machine needs of them.
"""

from dataclasses import replace
from typing import NamedTuple

from .timing import Duration, NandTiming


class SdrMode(NamedTuple):
    """An SDR timing mode: ONFI's names in lower case, nanoseconds.

    All are minima but tREA, tCEA, tWB and tCHZ, which are the longest that a chip may take. A chip holds a
    byte for tRHOH after RE_n rises, and for tRLOH after it falls again (EDO).
    """

    # Writes: commands, addresses and data to the chip.
    twc: int
    twp: int
    twh: int
    tds: int
    tdh: int
    tcls: int
    tclh: int
    tals: int
    talh: int
    # Reads.
    trc: int
    trp: int
    treh: int
    trea: int
    trhoh: int
    trloh: int
    # Between cycles of different kinds.
    tadl: int
    tccs: int
    twhr: int
    trhw: int
    tar: int
    tclr: int
    trr: int
    twb: int
    # Chip enable.
    tcs: int
    tch: int
    tcea: int
    tchz: int
    tceh: int


def _mode(**changes: int) -> SdrMode:
    return SdrMode(**(_COMMON | changes))


_COMMON = {
    "tadl": 400, "tccs": 500, "twhr": 80, "trhw": 100, "tar": 10, "tclr": 10, "trr": 20, "twb": 100,
    "tceh": 20, "trhoh": 15, "trloh": 0,
}  # fmt: skip
"""Of modes 1 to 5, or of most of them."""

SDR_MODES = (
    _mode(
        twc=100, twp=50, twh=30, tds=40, tdh=20, tcls=50, tclh=20, tals=50, talh=20,
        trc=100, trp=50, treh=30, trea=40, trhoh=0, twhr=120, trhw=200, tar=25, tclr=20, trr=40, twb=200,
        tcs=70, tch=20, tcea=100, tchz=100,
    ),
    _mode(
        twc=45, twp=25, twh=15, tds=20, tdh=10, tcls=25, tclh=10, tals=25, talh=10,
        trc=50, trp=25, treh=15, trea=30, tcs=35, tch=10, tcea=45, tchz=50,
    ),
    _mode(
        twc=35, twp=17, twh=15, tds=15, tdh=5, tcls=15, tclh=10, tals=15, talh=10,
        trc=35, trp=17, treh=15, trea=25, tcs=25, tch=10, tcea=30, tchz=50,
    ),
    _mode(
        twc=30, twp=15, twh=10, tds=10, tdh=5, tcls=10, tclh=5, tals=10, talh=5,
        trc=30, trp=15, treh=10, trea=20, tcs=25, tch=5, tcea=25, tchz=50,
    ),
    _mode(
        twc=25, twp=12, twh=10, tds=10, tdh=5, tcls=10, tclh=5, tals=10, talh=5,
        trc=25, trp=12, treh=10, trea=20, trloh=5, tcs=20, tch=5, tcea=25, tchz=30,
    ),
    _mode(
        twc=20, twp=10, twh=7, tds=7, tdh=5, tcls=10, tclh=5, tals=10, talh=5,
        trc=20, trp=10, treh=7, trea=16, trloh=5, tcs=15, tch=5, tcea=25, tchz=30,
    ),
)  # fmt: skip
"""By number. After power-on every part is in mode 0; SET FEATURES 01h chooses another."""

ENGINE_TIMES = ("tadl", "twhr", "trhw", "tchz", "tccs", "twb", "trr")
"""Times of an engine between cycles, of which `NandTiming` has one set for all modes: those of mode 0."""


def with_sdr_waits(timing: NandTiming) -> NandTiming:
    """The same with waits that are long enough for SDR as data interface."""
    waits = {name: getattr(timing, name) for name in ENGINE_TIMES}
    least = SDR_MODES[0]._asdict()
    return replace(timing, **{
        name: Duration(wait.cycles, max(wait.ns, least[name])) for name, wait in waits.items()
    })  # fmt: skip


PIN_REGISTERS = 2
"""Cycles that the controller's registers of its output and input pins take."""


class SdrCycles(NamedTuple):
    """A timing mode in clock cycles.

    In a write WE_n is low and then high while all other pins stand still. In a read RE_n is low, and the byte
    is taken at the end of that, so the mode needs no EDO. `turn` passes between cycles of different kinds and
    at each change of a chip enable. No time that ONFI has for these is longer.
    """

    write_low: int
    write_high: int
    read_low: int
    read_high: int
    turn: int


def sdr_cycles(mode: int, clock_mhz: int, delay: int, pad_ns: int = 0) -> SdrCycles:
    """The cycles of an SDR timing mode.

    - delay: cycles from the pins of the controller to the chip and back
    - pad_ns: of pads and wires beyond them, from RE_n to the byte
    """
    t = SDR_MODES[mode]

    def cycles(*times: int) -> int:
        return max(1, -(-max(times) * clock_mhz // 1000))

    write_low = cycles(t.twp, t.tds, t.tcls, t.tals)
    read_low = max(cycles(t.trp), cycles(t.trea + pad_ns) + delay + PIN_REGISTERS)
    return SdrCycles(
        write_low=write_low,
        write_high=max(cycles(t.twh, t.tdh, t.tclh, t.talh), cycles(t.twc) - write_low),
        read_low=read_low,
        read_high=max(cycles(t.treh), cycles(t.trc) - read_low),
        turn=cycles(t.tadl, t.tccs, t.twhr, t.trhw, t.tar, t.tclr, t.trr, t.twb, t.tcs, t.tch, t.tcea, t.tchz,
                    t.tceh),
    )  # fmt: skip


class SdrStrobes(NamedTuple):
    """A timing mode in clock cycles, for an engine whose data are to fill the bus.

    A byte is taken `sample` cycles behind the state in which RE_n falls. RE_n may have risen, and fallen
    again, before the byte comes (EDO). In modes 4 and 5 it has to: tRC is shorter than tREA and tREH.
    """

    write_low: int
    write: int  # the whole cycle
    read_low: int
    read: int
    sample: int
    setup: int  # from a chip enable to the first cycle


def sdr_strobes(mode: int, clock_mhz: int, delay: int, pad_ns: int = 0) -> SdrStrobes:
    """The strobes of an SDR timing mode; `delay` and `pad_ns` as in `sdr_cycles`.

    A byte comes as late as `pad_ns` allows, and ends as early as if there were no pads.
    """
    t = SDR_MODES[mode]

    def cycles(time: int) -> int:
        return max(1, -(-time * clock_mhz // 1000))

    def beyond(time: int) -> int:
        """The first edge of the clock behind this time, and not at it: a register needs some setup."""
        return time * clock_mhz // 1000 + 1

    access = beyond(t.trea + pad_ns)
    write_low = max(map(cycles, (t.twp, t.tds, t.tcls, t.tals)))
    # The byte is still there when it is taken: before its end behind the rise of RE_n, and the next fall.
    read_low, read = (
        access + 1 - -(-held * clock_mhz // 1000) for held in (t.trhoh, t.trloh)
    )  # fmt: skip
    read_low = max(cycles(t.trp), read_low)
    return SdrStrobes(
        write_low=write_low,
        write=max(cycles(t.twc), write_low + max(map(cycles, (t.twh, t.tdh, t.tclh, t.talh, t.tch)))),
        read_low=read_low,
        read=max(cycles(t.trc), read, read_low + cycles(t.treh)),
        sample=access + delay,
        setup=max(1, cycles(t.tcs) - write_low, beyond(t.tcea + pad_ns) - access),
    )


def most_pad_ns(mode: int, clock_mhz: int) -> int:
    """The longest time of pads and wires with which a byte takes no more cycles than without them."""
    reads = sdr_strobes(mode, clock_mhz, 0).read
    pad_ns = 0
    while sdr_strobes(mode, clock_mhz, 0, pad_ns + 1).read == reads:
        pad_ns += 1
    return pad_ns
