"""The units of a bus controller side by side, as one bench top."""

from flashtrain.rtl.channel.bus.bus_arbiter import Turnaround
from flashtrain.rtl.channel.bus.bus_cycles import CycleSequencer
from flashtrain.spec.timing import NandTiming
from tests.rtl.side_by_side import SideBySide

DIES = 3
SENT_CYCLES, GRANT_CYCLES = 2, 4
TIMING = NandTiming()


def bus_units() -> SideBySide:
    return SideBySide({
        "turnaround": Turnaround(TIMING, DIES, sent_cycles=SENT_CYCLES, grant_cycles=GRANT_CYCLES),
        "sequencer": CycleSequencer(copyback=True, features=True),
    })  # fmt: skip
