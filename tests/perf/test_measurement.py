"""Results and usage: shares, bounds, and numbers from counters."""

import pytest

from flashtrain.perf.measurement import Cost, Measurement, Result
from flashtrain.perf.usage import Snapshot
from flashtrain.spec import preset
from flashtrain.spec.registers import ChannelCounter, Counter

SMALL = preset("small")


def result(value: float, bound: float | None) -> Result:
    return Result.of(
        "name", "small", "rtl", Cost(1.5, 4096), Measurement(value, "GB/s", 1000, "a note", bound)
    )


@pytest.mark.parametrize(
    ("value", "bound", "share", "within"),
    [(1.0, 2.0, 0.5, True), (2.0, 2.0, 1.0, True), (2.001, 2.0, 1.0005, False), (7.0, None, None, True)],
)
def test_bound(value, bound, share, within):
    measured = result(value, bound)
    assert measured.share == (share if share is None else pytest.approx(share))
    assert measured.within_bound is within


def test_document():
    assert result(1.0, 2.0).document() == {
        "name": "name", "configuration": "small", "link": "rtl", "value": 1.0, "unit": "GB/s", "bound": 2.0,
        "share": 0.5, "asked": "", "met": None, "cycles": 1000, "seconds": 1.5, "bytes": 4096,
        "note": "a note", "use": None,
    }  # fmt: skip


def snapshot(front_end: dict[Counter, int], channels: dict[ChannelCounter, int]) -> Snapshot:
    return Snapshot(
        SMALL,
        {counter.name: front_end.get(counter, 0) for counter in Counter},
        {counter.name: channels.get(counter, 0) for counter in ChannelCounter},
    )


def test_usage():
    before = snapshot({Counter.CYCLES: 1000, Counter.PAGES_READ: 5}, {ChannelCounter.BUS_IDLE: 400})
    after = snapshot(
        {
            Counter.CYCLES: 1000 + 600_000,  # a millisecond
            Counter.PAGES_APPENDED: 160,
            Counter.PAGES_READ: 5 + 1000,
            Counter.READ_STALL_CHANNEL: 150_000,
        },
        {
            ChannelCounter.PAGES_PROGRAMMED: 120,
            ChannelCounter.BUFFER_HITS: 250,
            ChannelCounter.BUS_IDLE: 400 + 600_000,
        },
    )
    usage = after.since(before)
    assert usage.seconds == pytest.approx(1e-3)
    assert usage.write_amplification == 0.75
    assert usage.buffer_hit_share == 0.25
    assert usage.append_share == pytest.approx(160 * 4096 / 1e-3 / SMALL.program_bytes_per_second)
    assert usage.read_share == pytest.approx(1000 * 4096 / 1e-3 / SMALL.channel_bytes_per_second)
    assert usage.stall_shares()["reads wait for a channel"] == 0.25
    # A quarter of the cycles of four channels.
    assert usage.bus_shares()["idle"] == 0.25


def test_usage_of_nothing():
    nothing = snapshot({}, {})
    usage = nothing.since(nothing)
    assert usage.write_amplification is usage.append_share is usage.buffer_hit_share is None
    assert usage.stall_shares() == usage.bus_shares() == {}


def test_every_bus_clock_has_a_name():
    from flashtrain.perf.usage import BUS, STALLS

    assert set(BUS) == {c for c in ChannelCounter if c.name.startswith("BUS_")}
    assert {c for c in Counter if "STALL" in c.name} <= set(STALLS)
