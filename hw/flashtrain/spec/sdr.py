"""Timing of the asynchronous interface (SDR) of a NAND chip, in which every ONFI part is after power-on.

WE_n and RE_n strobe commands, addresses and data, and each cycle moves a byte. There is no DQS.
`SDR_MODES` has the timing modes of ONFI 5.1 (section 4.19, tables of the SDR timing modes; the same numbers
are in Linux, drivers/mtd/nand/raw/nand_timings.c). `SdrCycles` has what a state machine needs of them.
"""

from typing import NamedTuple


class SdrMode(NamedTuple):
    """An SDR timing mode: ONFI's names in lower case, nanoseconds.

    All are minima but tREA, tCEA, tWB and tCHZ, which are the longest that a chip may take.
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
    "tceh": 20,
}  # fmt: skip
"""Of modes 1 to 5."""

SDR_MODES = (
    _mode(
        twc=100, twp=50, twh=30, tds=40, tdh=20, tcls=50, tclh=20, tals=50, talh=20,
        trc=100, trp=50, treh=30, trea=40, twhr=120, trhw=200, tar=25, tclr=20, trr=40, twb=200,
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
        trc=25, trp=12, treh=10, trea=20, tcs=20, tch=5, tcea=25, tchz=30,
    ),
    _mode(
        twc=20, twp=10, twh=7, tds=7, tdh=5, tcls=10, tclh=5, tals=10, talh=5,
        trc=20, trp=10, treh=7, trea=16, tcs=15, tch=5, tcea=25, tchz=30,
    ),
)  # fmt: skip
"""By number. After power-on every part is in mode 0; SET FEATURES 01h chooses another."""

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


def sdr_cycles(mode: int, clock_mhz: int, delay: int) -> SdrCycles:
    """The cycles of an SDR timing mode.

    delay: cycles from the pins of the controller to the chip and back.
    """
    t = SDR_MODES[mode]

    def cycles(*times: int) -> int:
        return max(1, -(-max(times) * clock_mhz // 1000))

    write_low = cycles(t.twp, t.tds, t.tcls, t.tals)
    read_low = max(cycles(t.trp), cycles(t.trea) + delay + PIN_REGISTERS)
    return SdrCycles(
        write_low=write_low,
        write_high=max(cycles(t.twh, t.tdh, t.tclh, t.talh), cycles(t.twc) - write_low),
        read_low=read_low,
        read_high=max(cycles(t.treh), cycles(t.trc) - read_low),
        turn=cycles(t.tadl, t.tccs, t.twhr, t.trhw, t.tar, t.tclr, t.trr, t.twb, t.tcs, t.tch, t.tcea, t.tchz,
                    t.tceh),
    )  # fmt: skip
