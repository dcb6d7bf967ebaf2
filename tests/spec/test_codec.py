"""The contract of the window code: headers, the choice of mode and base, and the worst case."""

from dataclasses import replace
from random import Random
from zlib import crc32

import pytest

from flashtrain.spec import ConfigError
from flashtrain.spec.codec import (
    BLOCK,
    CODED,
    DELAY,
    DISTANCES,
    PAGE_SIZES,
    SAMPLED,
    Budget,
    Choice,
    Counters,
    Header,
    Mode,
    PageHeader,
    Refusal,
    Tracker,
    bound,
    fits,
    least_slices,
    plane_bytes,
    slice_elements,
)
from flashtrain.spec.streams import Codec

HEADER = Header(
    Codec.WINDOW32, Choice(Mode.WINDOW7, 0x81), 116, first=0x01020304, last=True, total=0x01020378
)
PACKED = "a7 21 07 81 04 03 02 01 78 03 02 01 74 00 00 00"


def page_of(header: bytes) -> bytes:
    """A page with this header, and a right check."""
    page = header + bytes(range(100))
    return page + crc32(page).to_bytes(4, "little")


def test_a_header_has_these_bytes():
    assert HEADER.pack() == bytes.fromhex(PACKED)
    assert len(HEADER.pack()) == PageHeader.BYTES


@pytest.mark.parametrize("codec", CODED)
@pytest.mark.parametrize("mode", Mode)
def test_headers_come_back(codec, mode):
    for last in (False, True):
        header = Header(codec, Choice(mode, 7), 5, first=10, last=last, total=15 if last else 0)
        assert Header.unpack(page_of(header.pack()), codec, 15 if last else 16) == header


def test_each_flipped_bit_is_refused():
    """Also pairs, anywhere in the page: the check finds both, and the magic number some of them."""
    whole = page_of(HEADER.pack())
    page = int.from_bytes(whole, "little")
    seen = set()
    for a in range(8 * len(whole)):
        for b in (None, *range(a % 7, a, 7)):
            changed = page ^ 1 << a ^ (0 if b is None else 1 << b)
            result = Header.unpack(changed.to_bytes(len(whole), "little"), Codec.WINDOW32, HEADER.total)
            assert isinstance(result, Refusal), (a, b)
            seen.add(result)
    assert seen == {Refusal.MAGIC, Refusal.CHECK}


@pytest.mark.parametrize(
    ("changes", "codec", "end", "refusal"),
    [
        ({}, Codec.WINDOW16, HEADER.total, Refusal.CODEC),
        ({"slices": 0}, Codec.WINDOW32, HEADER.total, Refusal.SLICES),
        ({}, Codec.WINDOW32, HEADER.total - 1, Refusal.SLICES),  # beyond the end
        ({}, Codec.WINDOW32, HEADER.total + 1, Refusal.SLICES),  # the last page, and not at the end
        ({"total": 0}, Codec.WINDOW32, HEADER.total, Refusal.SLICES),
        ({"last": False}, Codec.WINDOW32, HEADER.total, Refusal.SLICES),  # a total in no last page
        (
            {"last": False, "total": 0},
            Codec.WINDOW32,
            HEADER.total,
            Refusal.SLICES,
        ),  # at the end, and not last
        ({"first": 2**32 - 1}, Codec.WINDOW32, HEADER.total, Refusal.SLICES),
    ],
)
def test_refusals(changes, codec, end, refusal):
    assert Header.unpack(page_of(replace(HEADER, **changes).pack()), codec, end) is refusal


@pytest.mark.parametrize(
    ("field", "value"), [("magic", 0), ("version", 2), ("reserved", 16), ("reserved_high", 1)]
)
def test_other_pages_with_a_right_check(field, value):
    where = getattr(PageHeader, field)
    number = int.from_bytes(HEADER.pack(), "little")
    number = number & ~(((1 << where.width) - 1) << where.low) | where.put(value)
    page = page_of(number.to_bytes(16, "little"))
    assert Header.unpack(page, Codec.WINDOW32, HEADER.total) is Refusal.MAGIC


def test_sizes():
    assert {codec: slice_elements(codec) for codec in CODED} == {
        Codec.WINDOW16: 16, Codec.WINDOW32: 8, Codec.ROUND16: 16,
    }  # fmt: skip
    assert [plane_bytes(Codec.WINDOW16, mode) for mode in Mode] == [0, 2, 6, 6]
    assert [plane_bytes(Codec.WINDOW32, mode) for mode in Mode] == [0, 1, 3, 3]
    assert [least_slices(4096, Codec.WINDOW16, mode) for mode in Mode] == [127, 119, 107, 107]
    assert [least_slices(4096, Codec.WINDOW32, mode) for mode in Mode] == [127, 123, 116, 116]
    for page_bytes in PAGE_SIZES:
        for codec in CODED:
            for mode in Mode:
                slices = least_slices(page_bytes, codec, mode)
                assert fits(page_bytes, codec, mode, slices, 32 * slices)
                assert not fits(page_bytes, codec, mode, slices + 1, 32 * (slices + 1))


# The choice of mode and base.


def counters(codec: Codec, zeros: float = 0.0, **shares: float) -> Counters:
    """Counters of a block with these shares of its elements: `d3` at distance 3, `above` at -1."""
    elements = len(SAMPLED) * slice_elements(codec)
    at = {distance: 0 for distance in DISTANCES}
    for name, share in shares.items():
        at[-1 if name == "above" else int(name[1:])] = round(share * elements)
    return Counters(round(zeros * elements), tuple(at.values()))


def after(tracker: Tracker, block: Counters, blocks: int = 1, recent: int = 0) -> Tracker:
    for _ in range(blocks):
        tracker = tracker.after(block, recent)
    return tracker


@pytest.fixture(params=[Codec.WINDOW16, Codec.WINDOW32])
def tracker(request):
    return Tracker(request.param)


@pytest.mark.parametrize(
    ("shares", "mode"),
    [
        ({"d0": 0.125, "d1": 0.5, "d2": 0.25, "d6": 0.125}, Mode.WINDOW7),
        ({"d0": 0.125, "d1": 0.5, "d2": 0.25, "zeros": 0.125}, Mode.WINDOW),
        ({"d0": 0.125, "zeros": 0.875}, Mode.MASK),
        ({"d0": 0.25, "above": 0.125}, Mode.RAW),
        ({"zeros": 1.0}, Mode.MASK),
    ],
)
def test_modes(tracker, shares, mode):
    """Each where it saves most, from any mode before; and it stays."""
    for before in Mode:
        moved = after(replace(tracker, choice=Choice(before, 130)), counters(tracker.codec, **shares), 3)
        assert moved.choice.mode is mode
        assert after(moved, counters(tracker.codec, **shares), 100).choice == moved.choice


@pytest.mark.parametrize(("shares", "way"), [({"above": 0.25, "d0": 0.5}, 1), ({"d6": 0.25, "d5": 0.5}, -1)])
def test_the_base_moves_by_one(tracker, shares, way):
    moved = tracker.after(counters(tracker.codec, **shares, d3=0.25), 0)
    assert moved.choice.base == tracker.choice.base + way
    # The sums moved with it: the same elements, seen from the new base, keep it.
    distances = {"above": "d0", "d0": "d1", "d3": "d4"} if way == 1 else {"d6": "d5", "d5": "d4", "d3": "d2"}
    seen = {distances[name]: share for name, share in (shares | {"d3": 0.25}).items()}
    assert after(moved, counters(tracker.codec, **seen), 50).choice.base == moved.choice.base


def test_a_few_elements_move_nothing(tracker):
    """The base stays for less than 1/64 of the elements, whatever side they are on."""
    block = counters(tracker.codec, d0=0.5, d5=0.5)
    settled = after(tracker, block, 100)
    assert settled.choice.base == tracker.choice.base
    stray = replace(block, at=(1, block.at[1] - 1, *block.at[2:]))
    assert settled.after(stray, 0).choice == settled.choice


def test_far_windows_jump(tracker):
    """To two above a recent exponent, modulo 256, and not for a few elements."""
    nothing = counters(tracker.codec)
    assert tracker.after(nothing, 60).choice.base == 62
    assert tracker.after(nothing, 255).choice.base == 1
    assert tracker.after(counters(tracker.codec, zeros=1.0), 60).choice.base == tracker.choice.base
    half = counters(tracker.codec, d2=0.5)
    assert tracker.after(half, 60).choice.base == tracker.choice.base
    assert tracker.after(counters(tracker.codec, d2=0.25), 60).choice.base == 62


def test_sums_forget(tracker):
    """Old elements count less with each block, and after many they do not count."""
    ones, others = counters(tracker.codec, d0=1.0), counters(tracker.codec, d2=1.0)
    sums = after(after(tracker, ones), others, 300).sums
    assert sums is not None
    at = dict(zip(DISTANCES, sums.at, strict=True))
    assert at[0] == 0 and tracker.elements - 16 < at[2] <= tracker.elements


def test_samples_reach_every_place_of_rows_of_a_power_of_two():
    assert DELAY == SAMPLED[0] < SAMPLED[-1] < BLOCK
    for period in (4, 32, 256):
        places = {(block * BLOCK + slice_) % period for block in range(period) for slice_ in SAMPLED}
        assert places == set(range(period))


# The worst case.


def test_the_bound_of_raw_streams_and_of_no_block():
    assert bound(17, Codec.RAW, 4096) == 17
    with pytest.raises(ConfigError, match="blocks is 0; expected at least one block"):
        bound(0, Codec.WINDOW16, 4096)


@pytest.mark.parametrize("page_bytes", PAGE_SIZES)
def test_bound(page_bytes):
    """At most 1/63, or 1/7, above the blocks, and one page; rounding halves the blocks first."""
    whole = page_bytes // 32
    for blocks in (*range(1, 3 * whole), 10**6):
        most = bound(blocks, Codec.WINDOW16, page_bytes)
        assert (
            most == bound(blocks, Codec.WINDOW32, page_bytes) == bound(2 * blocks, Codec.ROUND16, page_bytes)
        )
        assert most == bound(2 * blocks - 1, Codec.ROUND16, page_bytes)
        assert -(-(whole * blocks + whole // 2) // (whole - 1)) <= most <= blocks * (1 + 2 / whole) + 1


@pytest.mark.parametrize("page_bytes", PAGE_SIZES)
@pytest.mark.parametrize("codec", [Codec.WINDOW16, Codec.WINDOW32])
def test_no_order_of_good_and_bad_pages_exceeds_the_bound(page_bytes, codec, seed):
    """Pages that hold as few slices as their mode can, whenever the budget allows, or at random."""
    random, whole = Random(seed), page_bytes // 32
    for always in (True, False):
        for _ in range(20):
            blocks = random.randint(1, 4 * whole)
            left, pages, budget = blocks * whole, 0, Budget.start(page_bytes, codec)
            while left > 0:
                mode = Mode.WINDOW if always or random.random() < 0.5 else random.choice(list(Mode))
                least = least_slices(page_bytes, codec, mode if budget.allows(mode) else Mode.RAW)
                slices = least if always or random.random() < 0.7 else random.randint(least, 4 * whole)
                budget = budget.after(slices)
                assert 0 <= budget.credit <= whole
                left, pages = left - slices, pages + 1
            assert pages <= bound(blocks, codec, page_bytes)
