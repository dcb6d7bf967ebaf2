"""A channel's talk with its dies."""

from tests.mutation.fault import Fault

AGENT = "rtl/channel/die_agent/test_die_agent.py"
MOVES = "rtl/channel/die_agent/test_moves.py"
READ_SETS = "formal/test_read_sets.py"
UPDATES = "rtl/channel/die_agent/test_updater.py"
BUS = "rtl/channel/bus/test_bus_controller.py"
TIMER = "rtl/lib/test_timer.py"
RETRIES = "rtl/channel/die_agent/test_die_agent.py::test_retries"
PLACES = "rtl/channel/read_buffer/test_read_retry.py"

TALKING = (
    Fault(
        "program-judged-by-fail",
        "channel/die_agent/programmer.py",
        "(self.bus_status & DieStatus.FAILC.value) != 0",
        "(self.bus_status & DieStatus.FAIL.value) != 0",
        "status bits swapped: FAIL for FAILC, which is that of the set before",
        AGENT,
    ),
    Fault(
        "erase-judged-by-failc",
        "channel/die_agent/eraser.py",
        "(self.bus_status & DieStatus.FAIL.value) != 0",
        "(self.bus_status & DieStatus.FAILC.value) != 0",
        "status bits swapped: FAILC for FAIL",
        AGENT,
    ),
    Fault(
        "program-begins-at-plane-0",
        "channel/die_agent/programmer.py",
        "m.d.sync += s.plane.eq(self.sets.payload.first)",
        "m.d.sync += s.plane.eq(0)",
        "a set that does not begin at plane 0 is programmed from there",
        AGENT,
    ),
    Fault(
        "column-change-too-short",
        "channel/die_agent/reader.py",
        '("tccs",)',
        '("tadl",)',
        "a page is output before tCCS is over",
        AGENT,
    ),
    Fault(
        "same-page-twice-in-a-set",
        "channel/die_agent/read_sets.py",
        "(head.plane > plane)",
        "(head.plane >= plane)",
        "two reads of one page are sensed as a set of two",
        AGENT,
    ),
    Fault(
        "next-page-of-another-zone",
        "channel/die_agent/read_sets.py",
        "page_after.eq(same_zone & follows)",
        "page_after.eq(follows)",
        "a cache read goes on to the next page of a block that was not asked for",
        AGENT,
    ),
    Fault(
        "selection-broken-up",
        "channel/die_agent/request_mux.py",
        "other = unit & ~lock & ~(reader & urgent)",
        "other = unit & ~(reader & urgent)",
        "another operation comes between the selection of a page and its data",
        AGENT,
    ),
    Fault(
        "no-pause-between-two",
        "channel/die_agent/request_mux.py",
        "[grant_unit.eq(other & ~gap.running), grant_reader.eq(reader & ~other)]",
        "[grant_unit.eq(other), grant_reader.eq(reader & ~other)]",
        "a die is asked within tWB of an operation that makes it busy",
        AGENT,
    ),
    Fault(
        "set-grows-while-it-is-taken",
        "channel/die_agent/read_sets.py",
        "& ~self.complete\n                & ~complete_before",
        "& ~self.complete",
        "a read that comes when a set is taken that was complete a clock ago is sensed with it",
        READ_SETS,
    ),
    Fault(
        "tile-judged-by-fail",
        "channel/die_agent/tile_updater.py",
        "DieStatus.FAILC)\n                m.d.sync += s.computing.eq(0)",
        "DieStatus.FAIL)\n                m.d.sync += s.computing.eq(0)",
        "status bits swapped: a tile has the status of the one behind it",
        UPDATES,
    ),
    Fault(
        "copy-to-the-next-tile",
        "channel/die_agent/tile_updater.py",
        "m.d.comb += request.slot.eq(s.slot)",
        "m.d.comb += request.slot.eq(page_set.slot)",
        "copies go where the next tile's gradients came from",
        UPDATES,
    ),
    Fault(
        "tile-forgotten",
        "channel/die_agent/tile_updater.py",
        "DieStatus.FAIL)\n                self._shift_tiles(m, s, new_valid=0)",
        "DieStatus.FAIL)",
        "the last tile of a sequence is never told of, the one before it twice",
        UPDATES,
    ),
    Fault(
        "page-from-a-blocked-die",
        "channel/bus/bus_arbiter.py",
        "self.valid & moves_page & ~self.blocked &",
        "self.valid & moves_page &",
        "data follow data within tRHW or tCHZ",
        BUS,
    ),
    Fault(
        "status-too-early",
        "channel/bus/bus_controller.py",
        'self._cycles("twhr") - 1',
        'self._cycles("twc") - 1',
        "the status is read before tWHR is over",
        BUS,
    ),
    Fault(
        "row-bytes-swapped",
        "channel/bus/bus_cycles.py",
        "(Step.ROW_MIDDLE, 8), (Step.ROW_HIGH, 16)",
        "(Step.ROW_MIDDLE, 16), (Step.ROW_HIGH, 8)",
        "two bytes of the row address change places",
        BUS,
    ),
    Fault(
        "offline-die-programs",
        "channel/bus/bus_cycles.py",
        "_FAILED = (_READY | DieStatus.FAIL | DieStatus.FAILC).value",
        "_FAILED = (_READY | DieStatus.FAIL).value",
        "all but the last of the page sets that a die is given after it was lost have been programmed",
        BUS,
    ),
    Fault(
        "offline-die-sends-rubbish",
        "channel/bus/bus_cycles.py",
        "self.fill_data.eq(Mux(port.pad, 0, dq))",
        "self.fill_data.eq(dq)",
        "in the place of pages that do not come any more comes what is on the pins",
        BUS,
    ),
    Fault(
        "given-up-a-poll-early",
        "channel/die_agent/ready_poller.py",
        "last.eq(left == 1)",
        "last.eq(left == 2)",
        "a die is lost one late poll too soon",
        AGENT,
    ),
    Fault(
        "timer-one-clock-short",
        "lib/timer.py",
        "self.port.running & (left != 1)",
        "self.port.running & (left != 2)",
        "every pause ends a clock early",
        TIMER,
        quick=True,
    ),
    Fault(
        "level-left-behind",
        "channel/die_agent/retrier.py",
        "request.level.eq(Mux(output, 0, retry.source.level))",
        "request.level.eq(retry.source.level)",
        "after a retry the die stays at its level",
        RETRIES,
    ),
    Fault(
        "place-for-statistics",
        "channel/read_buffer/read_retry.py",
        "offered & places.ready & ~reads.payload.statistics",
        "offered & places.ready",
        "statistics hold a place for ever, until there is none left to read with",
        PLACES,
    ),
)
