"""Lanes of those who compute a step elsewhere, by hand."""

import pytest

from flashtrain.perf.update_places import ChunkSize, ControllerUnits, HostLink
from flashtrain.spec import ConfigError, preset

SMALL = preset("small")
CHUNK = ChunkSize(parameters=1000, state_bytes=12_000, gradient_bytes=4000)


def test_the_controller_has_the_units_of_the_dies():
    assert ControllerUnits.of(SMALL) == ControllerUnits(units=8, interval=3, divider=4)
    assert ControllerUnits.of(SMALL).clocks(1000) == 1000 * 3 * 4 / 8


def test_chunks_pass_the_controller_one_after_the_other():
    through = ControllerUnits(units=2, interval=3, divider=4, latency=50).way(SMALL.timing.clock_hz)
    # 6,000 clocks each, and 200 until the last parameter is out.
    assert through(100, CHUNK) == 100 + 6000 + 200
    assert through(100, CHUNK) == 100 + 12_000 + 200
    assert through(50_000, CHUNK) == 50_000 + 6000 + 200


def test_chunks_cross_a_link_there_and_back():
    link = HostLink(bytes_per_second=1e9, latency_seconds=1e-6, parameters_per_second=1e8)
    through = link.way(clock_hz=1e9)
    first = 16_000 + 1000 + 10_000 + 12_000 + 1000
    assert through(0, CHUNK) == pytest.approx(first)
    # The link there is the busiest lane.
    assert through(0, CHUNK) == pytest.approx(first + 16_000)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (
            lambda: ControllerUnits(units=0, interval=3, divider=4),
            r"controller\.units is 0; expected 1 or more",
        ),
        (lambda: ControllerUnits(1, 3, 4, latency=-1), r"controller\.latency is -1; expected 0 or more"),
        (lambda: HostLink(bytes_per_second=0), r"link\.bytes_per_second is 0; expected more than 0"),
    ],
)
def test_impossible_places(make, name):
    with pytest.raises(ConfigError, match=name):
        make()
