"""Conventional SSDs in time."""

from dataclasses import replace

import numpy as np
import pytest

from flashtrain.spec import ConfigError, preset
from flashtrain.spec.timing import ns
from flashtrain.ssd import SsdArray, SsdConfig
from flashtrain.ssd.array import scattered, sequence
from flashtrain.ssd.bench import bandwidths, overwrite_bandwidth, with_blocks, with_one_die
from flashtrain.ssd.commands import commands_of
from flashtrain.ssd.fill import Fill, fill_for
from flashtrain.ssd.greedy import greedy_amplification
from flashtrain.ssd.kernel import COMMAND, command_cycles, parameters
from flashtrain.traces import Operation, TraceError, TraceRecord, load_trace, save_trace

BEHEMOTH = SsdConfig.of(preset("behemoth"), 1)
T = BEHEMOTH.timing
READ, WRITE, TRIM, FLUSH = Operation
SMALL = replace(
    BEHEMOTH,
    geometry=replace(BEHEMOTH.geometry, channels=2, planes=2, blocks=64, pages=8),
    timing=replace(T, tbers=ns(50_000)),
    over_provisioning=0.15,
)
"""4096 pages in superblocks of 64; room for programs, reads and erases at once."""


@pytest.fixture
def trace_of(tmp_path):
    def make(*records):
        path = tmp_path / "a.log"
        save_trace(path, [TraceRecord(*record) for record in records])
        return load_trace(path)

    return make


def one(config, *commands, depth=1, fill=0):
    """A run of (op, first page, pages)."""
    made = np.zeros(len(commands), COMMAND)
    for row, (op, first, count) in zip(made, commands, strict=True):
        row["op"], row["first"], row["count"] = op, first, count
    with SsdArray(config) as array:
        array.fill(0, fill)
        return array.run(made, depth)


def cycles(run):
    return (run.commands["done"] - run.commands["begun"]).tolist()


def test_a_read_of_one_page():
    """Controller, command, sense, status, selection, data: no wait but its own."""
    run = one(BEHEMOTH, (READ, 5, 1), fill=512)
    p = parameters(BEHEMOTH)
    sense = p["sense_command"] + p["twb"] + p["tr"] + p["trr"]
    assert cycles(run) == [p["read_time"] + sense + p["status"] + p["select"] + p["tccs"] + p["data"]]
    assert (run.counts.senses, run.counts.pages_sensed, run.counts.buffer_hits) == (1, 1, 0)
    assert command_cycles(BEHEMOTH, 4) == 7 * T.cycles("twc")


def test_a_page_set_is_sensed_at_once():
    """The first 128 pages lie on the planes of one die of each channel."""
    run = one(BEHEMOTH, (READ, 0, 128), fill=512)
    assert (run.counts.senses, run.counts.pages_sensed) == (16, 128)


def test_an_unwritten_page_takes_the_controller_only():
    assert cycles(one(BEHEMOTH, (READ, 5, 1))) == [BEHEMOTH.cycles(BEHEMOTH.read_ns)]


def test_a_write_is_done_in_sram():
    run = one(BEHEMOTH, (WRITE, 0, 2), (READ, 0, 1))
    assert cycles(run)[0] == 2 * 870
    assert (run.counts.programs, run.counts.buffer_hits) == (0, 1)  # no complete page set


def test_cores_work_at_the_same_time():
    run = one(replace(BEHEMOTH, firmware_cores=4), (WRITE, 0, 8))
    assert cycles(run) == [2 * 870]


def test_a_read_suspends_a_program():
    """Of the same die: without suspension it waits for tPROG."""
    superpage = SMALL.geometry.superpage
    commands = [(WRITE, 64 + page, 1) for page in range(superpage)] + [(READ, 0, 1)]
    waits = {}
    for suspended in (True, False):
        config = replace(SMALL, suspended_reads=suspended, read_ns=20_000)
        waits[suspended] = cycles(one(config, *commands, fill=64))[-1]
    assert waits[False] - waits[True] > T.cycles("tprog") // 3


def test_flush_and_trim():
    run = one(SMALL, (WRITE, 0, 64), (TRIM, 0, 64), (FLUSH, 0, 0), (READ, 0, 64))
    assert cycles(run)[1:3] == [0, 0]
    assert run.counts.buffer_hits == run.counts.senses == 0


def test_bandwidths_stay_below_their_bounds():
    rows = list(bandwidths(replace(BEHEMOTH, drives=2), 40))
    assert all(row.met for row in rows)
    shares = {(row.name, row.cores): row.value / row.bound for row in rows}
    assert shares["sequential write", 1] > 0.99 and shares["sequential read", 16] > 0.85
    assert rows[1].part == "arrays" and shares["sequential write", 16] > 0.95


def test_overwrites_in_time():
    """With collection in the way; firmware that also moves pages is the bound of serial firmware."""
    few = replace(BEHEMOTH, geometry=replace(BEHEMOTH.geometry, channels=2, blocks=128))
    row = overwrite_bandwidth(replace(few, write_ns=20_000, move_ns=20_000))
    assert row.met and row.part == "firmware" and row.value > 0.95 * row.bound


@pytest.mark.parametrize("drives", [1, 3])
def test_collection_in_time(drives):
    """Each page written is found again; superblocks, valid pages and erases add up."""
    config = replace(SMALL, drives=drives, stripe_bytes=8 * 4096)
    pages = config.capacity_bytes // 4096
    with SsdArray(config) as array:
        array.fill()
        run = array.run(scattered(WRITE, pages, 3 * pages, 1, 1), 32)
        assert run.write_amplification == pytest.approx(4.4, abs=1.5)
        assert run.counts.erased > 0 and run.counts.erased % SMALL.geometry.planes == 0
        valid = sum(array.kernel.superblocks(drive).valid for drive in range(drives))
        assert pages - drives * 2 * 64 <= valid <= pages
        reads = array.run(sequence(READ, 0, pages, 1), 32)
        assert reads.counts.pages_sensed + reads.counts.buffer_hits == pages


def test_amplification_in_time():
    """The closed form, with one superblock free and two open: a busy host takes all others."""
    config = with_one_die(with_blocks(BEHEMOTH, 8))
    user, n = config.capacity_bytes // 4096, config.superblock_pages
    with SsdArray(config) as array:
        array.kernel.fill(0, 0, user)
        array.kernel.overwrite(0, 4 * user, 1)
        run = array.run(scattered(WRITE, user, user, 1, 1), 32)
    expected = greedy_amplification((config.geometry.blocks - 3) * n / (user - n), n)
    assert 1 + run.counts.moved_by_end / run.counts.written == pytest.approx(expected, rel=0.02)


def test_the_collector_yields_to_the_host():
    """Above the critical count of free superblocks it works only while no command waits."""
    config = replace(SMALL, gc_start=8, over_provisioning=0.3)
    user = config.capacity_bytes // 4096
    with SsdArray(config) as array:
        array.fill()
        array.kernel.overwrite(0, 10 * user, 1)
        assert array.kernel.superblocks(0).free <= 3
        idle = array.run(np.zeros(0, COMMAND), 1)
        assert idle.counts.moved == 0
        run = array.run(scattered(WRITE, user, 64, 1, 2), 32)
        assert run.counts.moved_by_end < run.counts.moved  # the rest while idle
        assert array.kernel.superblocks(0).free > config.gc_start


def test_writes_of_parts_of_pages_are_merged(trace_of):
    trace = trace_of((0, 4, 2, WRITE), (20_000, 7, 10, WRITE))
    commands = commands_of(trace, SMALL)
    assert commands["partial"].tolist() == [3, 3] and commands["count"].tolist() == [1, 3]
    with SsdArray(SMALL) as array:
        fill_for(array, commands, Fill.READ)
        run = array.run(commands, 0)
    # The first page of the second is in SRAM.
    assert (run.counts.senses, run.counts.buffer_hits, run.counts.written) == (2, 1, 4)


def test_trims_count_for_whole_pages(trace_of):
    commands = commands_of(trace_of((0, 4, 20, TRIM), (0, 3, 2, TRIM)), SMALL)
    assert commands["first"].tolist() == [1, 1]
    assert commands["count"].tolist() == [2, 0]


def test_many_ranges_are_filled_at_once(trace_of):
    """The state of a drive of 16 million page sets is not made anew for each."""
    trace = trace_of(*((1000 * number, 16 * number, 8, READ) for number in range(2000)))
    commands = commands_of(trace, BEHEMOTH)
    with SsdArray(BEHEMOTH) as array:
        fill_for(array, commands, Fill.READ)
        run = array.run(commands, 8)
    assert run.counts.pages_sensed + run.counts.buffer_hits == 2000


def test_a_trace_of_a_larger_device_is_packed(trace_of):
    zone = 1 << 40
    trace = trace_of(
        (0, zone, 16, WRITE), (1000, 2 * zone + 8, 8, READ), (2000, zone + 16, 8, READ), (3000, 0, 8, TRIM),
        (4000, zone, 2 * zone, TRIM), (5000, zone + 8, 8, WRITE), (6000, 0, 0, FLUSH),
    )  # fmt: skip
    commands = commands_of(trace, SMALL, pack=True)
    assert commands["first"].tolist() == [0, 3, 2, 0, 0, 1, 0]
    assert commands["count"].tolist() == [2, 1, 1, 0, 4, 1, 0]


def test_times_of_a_trace(trace_of):
    trace = trace_of((5_000_000, 0, 8, READ), (6_000_000, 8, 8, READ), (6_000_000, 0, 8, READ))
    commands = commands_of(trace, SMALL)
    with SsdArray(SMALL) as array:
        fill_for(array, commands, Fill.READ)
        run = array.run(commands, 0)
    assert (run.commands["begun"] - run.commands["begun"][0]).tolist() == [0, 600_000, 600_000]
    assert run.counts.senses + run.counts.buffer_hits == 3
    assert run.latency(READ, 50) > 1e-6 and run.latency(WRITE, 50) is None
    assert run.write_amplification is None


def test_a_command_beyond_the_end(trace_of):
    with pytest.raises(TraceError, match=r"a\.log:5: sectors up to 4294967304; expected at most \d+, "):
        commands_of(trace_of((0, 0, 8, READ), (1000, 1 << 32, 8, READ)), BEHEMOTH)
    with pytest.raises(ConfigError, match="commands is 'up to page 1000000000'; expected at most"):
        one(SMALL, (READ, 10**9 - 1, 1))


def test_stripes_spread_over_drives():
    """A command of a stripe of each drive takes as long as one stripe."""
    config = replace(SMALL, drives=4, stripe_bytes=8 * 4096)
    assert cycles(one(config, (WRITE, 0, 32))) == cycles(one(SMALL, (WRITE, 0, 8)))
    assert cycles(one(config, (WRITE, 4, 32))) == cycles(one(SMALL, (WRITE, 0, 8)))
