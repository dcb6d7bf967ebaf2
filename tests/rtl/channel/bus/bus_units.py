"""The units of a bus controller side by side, as one bench top."""

from dataclasses import replace

from flashtrain.rtl.channel.bus.bus_arbiter import Turnaround
from flashtrain.rtl.channel.bus.bus_cycles import CycleSequencer
from flashtrain.rtl.channel.bus.sdr_strobe import SdrStrobe
from flashtrain.spec.chips import MANDATORY
from flashtrain.spec.presets import TINY
from flashtrain.spec.sdr import with_sdr_waits
from flashtrain.spec.timing import Duration, NandTiming, ns
from tests.rtl.side_by_side import SideBySide

SDR = replace(
    TINY,
    name="sdr",
    geometry=replace(TINY.geometry, planes=1),
    timing=with_sdr_waits(replace(TINY.timing, clock_mhz=100, trr=Duration(6, 40), tr=ns(2_000))),
    max_blocks=12,
    command_port=True,
    port_delay=3,
    chips=MANDATORY,
)
"""All timing modes, in clocks of 10 ns."""
DIES = 3
SENT_CYCLES, GRANT_CYCLES = 2, 4
TIMING = NandTiming()


def bus_units() -> SideBySide:
    return SideBySide({
        "turnaround": Turnaround(TIMING, DIES, sent_cycles=SENT_CYCLES, grant_cycles=GRANT_CYCLES),
        "sequencer": CycleSequencer(copyback=True, features=True),
        "strobe": SdrStrobe(SDR),
    })  # fmt: skip
