"""Storages at rates: single requests, mixes, streams, and the bounds of the published tables."""

from math import inf

import pytest

from flashtrain.perf.read_bound import read_bound
from flashtrain.platform.errors import PlatformError
from flashtrain.platform.models import (
    FmsRates,
    IdealModel,
    SsdModel,
    append_bound,
    update_bound,
)
from flashtrain.platform.storage import (
    IdealStorage,
    Kind,
    RateStorage,
    Request,
    Resource,
    alone,
    together,
)
from flashtrain.spec import preset
from flashtrain.spec.optimizer import OptimizerCode
from flashtrain.ssd import SsdConfig

BEHEMOTH = preset("behemoth")
BUS = Resource("bus", {Kind.APPEND: 0.5, Kind.READ: 0.5})
ARRAYS = Resource("arrays", {Kind.APPEND: 1.0, Kind.READ: 0.25})


def completions(storage, requests):
    """The times at which requests complete that are submitted at given times."""
    times, left = {}, sorted(requests, key=lambda item: item[0])
    while len(times) < len(requests):
        limit = left[0][0] if left else inf
        now, done = storage.advance(limit) if storage.busy else (limit, [])
        times |= dict.fromkeys(done, now)
        while left and left[0][0] <= now:
            storage.submit(*left.pop(0))
    return [times[request] for _, request in requests]


def test_one_request_runs_at_the_slowest_resource():
    for kind, seconds in ((Kind.APPEND, 10), (Kind.READ, 5)):
        assert completions(RateStorage([BUS, ARRAYS]), [(1.0, Request(kind, 10, "a"))]) == [1 + seconds]


def test_a_stream_is_served_in_order():
    requests = [(0.0, Request(Kind.APPEND, 4, "a")), (1.0, Request(Kind.APPEND, 2, "a"))]
    assert completions(RateStorage([ARRAYS]), requests) == [4, 6]


def test_streams_get_equal_parts():
    requests = [(0.0, Request(Kind.APPEND, 4, "a")), (0.0, Request(Kind.APPEND, 2, "b"))]
    assert completions(RateStorage([ARRAYS]), requests) == [6, 4]


def test_kinds_are_slowed_down_together():
    rates = together([BUS, ARRAYS], [Kind.APPEND, Kind.READ])
    # Alone 1 and 2; arrays would be used 1 + 0.5, buses 0.5 + 1.
    assert rates == pytest.approx({Kind.APPEND: 2 / 3, Kind.READ: 4 / 3})
    for resource in (BUS, ARRAYS):
        assert sum(resource.seconds_per_byte[kind] * rate for kind, rate in rates.items()) <= 1 + 1e-12


def test_a_read_beside_an_append():
    requests = [(0.0, Request(Kind.APPEND, 2, "a")), (0.0, Request(Kind.READ, 2, "a"))]
    append, read = completions(RateStorage([BUS, ARRAYS]), requests)
    assert read == pytest.approx(1.5)
    assert append == pytest.approx(2.5)


def test_ideal_storage_takes_no_time():
    storage = IdealModel().new_storage([BUS])
    assert isinstance(storage, IdealStorage)
    assert completions(storage, [(3.0, Request(Kind.READ, 1 << 40, "a"))]) == [3.0]


def test_bounds_of_the_published_tables():
    assert append_bound(BEHEMOTH) / 1e9 == pytest.approx(39.38, abs=0.01)
    assert read_bound(BEHEMOTH).bytes_per_second / 1e9 == pytest.approx(70.41, abs=0.01)
    # Four bytes of gradients for each of 3.39 G parameters per second (Adam).
    assert update_bound(BEHEMOTH, OptimizerCode.ADAM) / 1e9 == pytest.approx(4 * 3.39, abs=0.05)
    ssd = SsdModel().resources()
    assert alone(ssd, Kind.APPEND) / 1e9 == pytest.approx(11.3, abs=0.01)
    fms = FmsRates().resources()
    assert alone(fms, Kind.APPEND) == pytest.approx(append_bound(BEHEMOTH))
    assert alone(fms, Kind.READ) == pytest.approx(read_bound(BEHEMOTH).bytes_per_second)


def test_more_cores_leave_the_arrays_as_the_bound():
    assert alone(
        SsdModel(SsdConfig.of(BEHEMOTH, firmware_cores=64)).resources(), Kind.APPEND
    ) == pytest.approx(append_bound(BEHEMOTH), rel=1e-3)


def test_mistakes():
    with pytest.raises(PlatformError, match="cannot serve a request of kind update"):
        SsdModel().new_storage([BUS]).submit(0.0, Request(Kind.UPDATE, 1, "state"))
    with pytest.raises(PlatformError, match="expected 0 or more"):
        Resource("bus", {Kind.READ: -1.0})
    for fault in ({"read_command_bytes": 0}, {"write_amplification": 0.5}, {"read_share": 2}):
        with pytest.raises(PlatformError, match=f"ssd: {next(iter(fault))} is"):
            SsdModel(**fault)
