"""The bound of sequential reads: by hand, beside the best order of operations, and the performance model."""

from dataclasses import replace
from heapq import heappop, heappush
from itertools import count

import numpy as np
import pytest

from flashtrain.host import open_device
from flashtrain.model.link import ModelLink
from flashtrain.perf.array_work import ArrayWork
from flashtrain.perf.read import read_sequential
from flashtrain.perf.read_bound import ReadBound, part_bound, read_bound
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import Chips, FmsConfig, preset
from flashtrain.spec.timing import ns

SMALL = preset("small")


def test_two_dies():
    """`behemoth`: cycles of 15 and of tRHW 60, tCHZ 18, tCCS 180, tWHR 48; 2,056 beats.

    After the data of both dies come two selections of 7 cycles: 18 + (105 + 180) / 2. One of them before each
    page takes 60 + 105. The sense follows the data by 60 and not 18, and takes 15. A status takes 15 + 48 + 1
    and the 18 behind it. A page set has eight pages.
    """
    bound = read_bound(preset("behemoth"))
    assert bound == ReadBound(bound.config, 2056, 160.5, 57 / 8, 82 / 8)
    assert bound.bytes_per_second == pytest.approx(64 * 4096 * 600e6 / (2056 + 160.5 + 139 / 8))
    # A page that is read alone has all of sense and status.
    assert bound.single_pages_per_second == pytest.approx(64 * 600e6 / (2056 + 160.5 + 139))


def test_one_die_and_four():
    """One die waits for all; of four another one is selected meanwhile. `tiny` has two planes."""
    alone = read_bound(preset("tiny"))
    assert (alone.selection, alone.sense, alone.status) == (
        60 + 105 + 180,
        (15 + 60 + 300) / 2,
        (64 + 60) / 2,
    )
    four = read_bound(preset("optimstore"))
    assert (four.selection, four.sense, four.status) == (18 + 105, 15 / 4, 82 / 4)


def test_parts():
    """512 bytes are 264 beats with their identity, of two dies; cycles as above, of tWB 60, and of tR 1,800.

    The bus: a sense of 7 cycles, 00h, and 4 of 05h, a column and E0h, 180 in all; a status, 64; tCHZ twice.
    The die: its sense, tWB and tR; the status; 00h and tWHR; the part; 05h and tCCS; the identity; tRHW
    behind the status and both data. With 31h tCBSY takes the place of tR, and 06h and tCCS follow.
    """
    bound = part_bound(replace(SMALL, part_bytes=512))
    assert (bound.data, bound.commands, bound.gaps) == (264, 180 + 64, 36)
    rest = 105 + 60 + 64 + 264 + 60 + 180 + 3 * 60
    assert bound.die == 1800 + 15 + 48 + rest
    assert bound.per_second == 4 * 600e6 / (bound.die / 2)
    short = part_bound(replace(SMALL, timing=replace(SMALL.timing, tcbsy=ns(1_000)), part_bytes=512))
    assert short.die == max(600 + 105 + 180 + rest, 105 + 60 + 1800)
    many = replace(SMALL, geometry=replace(SMALL.geometry, dies=8), part_bytes=512)
    assert part_bound(many).per_second == 4 * 600e6 / bound.cycles


def test_slow_arrays():
    slow = replace(SMALL, timing=replace(SMALL.timing, tr=ns(1e6)))
    g = slow.geometry
    assert read_bound(slow).bytes_per_second == g.channels * g.dies * g.page_set_bytes * 1000
    assert read_bound(slow).single_pages_per_second == g.channels * g.dies * 1000


def shortest(config: FmsConfig, pages: int) -> int:
    """Cycles of the best order in which a channel outputs so many pages, found by Dijkstra's search.

    A die has pages left in its set, is selected or senses. After so many cycles it may take a command, give
    data, or be ready. At the start all dies have sensed a set.
    """
    t = {name: config.timing.cycles(name) for name in ("twc", "trhw", "tchz", "tccs", "twhr", "twb", "tcbsy")}
    planes, beats = config.geometry.planes, config.bus_page_bytes // 2
    start = ((planes, False, False, 0, 0, 0),) * config.geometry.dies
    names = count()
    queue, seen = [(0, next(names), 0, start)], set()
    while queue:
        now, _, done, state = heappop(queue)
        if done == pages:
            return now
        if (done, state) in seen:
            continue
        seen.add((done, state))
        for die, (left, selected, senses, free, data, ready) in enumerate(state):
            turnaround = (t["tchz"], t["trhw"])
            if selected:
                wait, length, behind, then = data, beats, turnaround, (left - 1, False, False, 0, 0, 0)
            elif senses:
                wait, length, behind = max(free, ready), t["twc"] + t["twhr"] + 1, turnaround
                then = (planes, False, False, 0, 0, 0)
            elif left:
                wait, length, behind, then = free, 7 * t["twc"], (0, 0), (left, True, False, 0, t["tccs"], 0)
            else:
                wait, length, behind = free, t["twc"], (0, 0)
                then = (0, False, True, 0, 0, t["twb"] + t["tcbsy"])
            passed = wait + length
            others = [
                (*each[:3], max(each[3] - passed, behind[0]), max(each[4] - passed, behind[0] * each[1]),
                 max(each[5] - passed, 0))
                for each in state
            ]  # fmt: skip
            others[die] = (*then[:3], behind[1], max(then[4], behind[0] if then[1] else 0), then[5])
            heappush(queue, (now + passed, next(names), done + selected, tuple(sorted(others))))
    raise AssertionError("no order")


def with_dies(dies: int, planes: int, **nanoseconds: float) -> FmsConfig:
    timing = replace(SMALL.timing, **{name: ns(value) for name, value in nanoseconds.items()})
    geometry = replace(SMALL.geometry, dies=dies, planes=planes)
    return replace(SMALL, timing=timing, geometry=geometry, max_blocks=64)


def per_page(config: FmsConfig) -> float:
    """Cycles of the best order in the middle of a long read."""
    pages = 4 * config.geometry.dies * config.geometry.planes
    return (shortest(config, 2 * pages) - shortest(config, pages)) / pages


@pytest.mark.parametrize(("dies", "planes"), [(1, 1), (1, 4), (2, 2), (2, 4), (2, 8), (4, 1)])
def test_the_best_order_takes_the_bound(dies, planes):
    config = with_dies(dies, planes)
    assert per_page(config) == pytest.approx(read_bound(config).cycles, rel=1e-3)


def test_no_order_is_shorter():
    """With random waits, whatever hides what."""
    seed = int(np.random.SeedSequence().generate_state(1)[0])
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    for _ in range(10):
        tchz, trhw = sorted(rng.uniform(5, 104, 2))
        waits = {"tccs": rng.uniform(10, 900), "tchz": tchz, "trhw": trhw, "twhr": rng.uniform(80, 300)}
        config = with_dies(int(rng.choice([1, 2])), int(rng.choice([1, 2, 4])), **waits)
        assert read_bound(config).cycles <= per_page(config) * (1 + 1e-9), (config.geometry, waits)


@pytest.mark.parametrize("name", ["small", "optimstore", "small_ecc"])
def test_the_performance_model_is_within_a_hundredth(name):
    config = preset(name)
    with open_device(config, ModelLink, memory_bytes=1 << 30) as device:
        measured = read_sequential(device, NoRecorder(), quick=True)
    bound = read_bound(config).bytes_per_second / 1e9
    assert measured.bound == bound and 0.99 * bound < measured.value < bound and measured.met


def with_sca(config: FmsConfig) -> FmsConfig:
    return replace(config, name=f"{config.name}_sca", chips=Chips(sca=True))


def test_sca():
    """`behemoth`: data and a gap of two packets' time, 36. `tiny`: one die, whose selection is not hidden.

    A packet takes 18 cycles; one that ends the data, 7 that select the page, tCCS. A set of two pages has one
    of 31h, tCBSY of 300, and a status byte of 60.
    """
    assert read_bound(with_sca(preset("behemoth"))).cycles == 2056 + 36
    assert read_bound(with_sca(preset("tiny"))).cycles == 264 + 18 + 7 * 18 + 180 + (18 + 300 + 60) / 2


def test_parts_with_sca():
    """`small`, 512 bytes: 17 packets, tWHR and a status byte. `g9_slc`, 4 KiB: data and two gaps.

    A die of `small` is busy with 7 packets, tWB, tR and a status byte; with 00h, tWHR, and 256 beats; with
    4 packets, tCCS, and 8 beats.
    """
    parts = part_bound(replace(with_sca(preset("small")), part_bytes=512))
    assert parts.cycles == 17 * 18 + 48 + 60
    assert parts.die == 7 * 18 + 60 + 1800 + 60 + 18 + 48 + 256 + 4 * 18 + 180 + 8
    assert part_bound(replace(preset("g9_slc"), part_bytes=4096)).cycles == 2048 + 8 + 2 * 108


def test_packets_are_the_bound_of_short_pages():
    """512 bytes, 264 beats: nine packets; for a set of two pages two more, tWHR and a status byte."""
    short = replace(preset("tiny"), geometry=replace(preset("tiny").geometry, dies=4))
    slow = replace(short, timing=replace(short.timing, tca=ns(100)), chips=Chips(sca=True))
    assert read_bound(slow).cycles == 9 * 60 + (2 * 60 + 48 + 60) / 2


@pytest.mark.parametrize(("dies", "share"), [(2, 0.965), (4, 0.975)])
def test_the_model_fills_the_bus_with_sca(dies, share):
    """Share of the raw bus. Two dies hide tCBSY at the end of a page set behind a single page."""
    config = with_sca(with_dies(dies, 4))
    with open_device(config, ModelLink, memory_bytes=1 << 30) as device:
        value = read_sequential(device, NoRecorder(), quick=True).value * 1e9
    assert 0.98 * read_bound(config).bytes_per_second < value < read_bound(config).bytes_per_second
    assert value > share * config.channel_bytes_per_second


def test_the_preset_of_64_channels_fills_its_buses():
    """On the model, quick."""
    config = preset("g9_slc")
    with open_device(config, ModelLink, memory_bytes=1 << 30) as device:
        measured = read_sequential(device, NoRecorder(), quick=True)
    assert measured.met and 0.98 < measured.value * 1e9 / config.channel_bytes_per_second < 0.99


@pytest.mark.long
def test_the_model_is_within_a_hundredth_of_the_rtl_with_sca():
    """`small`, whose simulator is compiled: minutes."""
    config, values = with_sca(preset("small")), []
    for link in (RtlLink, ModelLink):
        with open_device(config, link) as device:
            values.append(read_sequential(device, NoRecorder(), quick=True).value)
    assert values[0] == pytest.approx(values[1], rel=0.01)
    assert values[0] > 0.95 * config.channel_bytes_per_second / 1e9


class NoRecorder:
    def start(self) -> None: ...

    def stop(self) -> list[ArrayWork]:
        return []
