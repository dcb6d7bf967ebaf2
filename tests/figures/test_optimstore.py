"""OptimStore's figures: values by hand, and those that the RTL was measured at."""

import pytest

from flashtrain.figures.optimstore_dies import OptimStoreDies
from flashtrain.figures.optimstore_end_to_end import OptimStoreEndToEnd
from flashtrain.figures.optimstore_energy import OptimStoreEnergy
from flashtrain.figures.optimstore_lifetime import OptimStoreLifetime
from flashtrain.figures.optimstore_state import DIES, OptimStoreState
from flashtrain.figures.optimstore_step import OptimStoreStep
from flashtrain.figures.optimstore_training import Iteration
from flashtrain.figures.optimstore_ways import Ways
from flashtrain.spec import preset


def test_ways_are_those_of_the_preset():
    ways = Ways(OptimStoreStep().defaults())
    assert ways.config.geometry == preset("optimstore").geometry
    assert ways.config.timing == preset("optimstore").timing
    # docs/performance.md: the bounds beside the values that were measured on RTL.
    assert ways.dies.parameters_per_second / 1e6 == pytest.approx(1344.2, abs=0.1)
    assert ways.controller.parameters_per_second / 1e6 == pytest.approx(399.6, abs=0.1)
    assert ways.host.parameters_per_second / 1e6 == pytest.approx(225.1, abs=0.1)


def test_step():
    host, controller = OptimStoreStep().content(OptimStoreStep().defaults()).comparisons
    assert host.reached
    assert controller.reached
    two = Ways(OptimStoreStep().values({"dies": 2}))
    assert two.over_host == pytest.approx(2.99, abs=0.01)
    assert two.over_controller == pytest.approx(1.68, abs=0.01)


def test_half_the_gradient_does_not_hurt():
    figure = OptimStoreStep()
    assert figure.headline(figure.values({"gradient_bytes": 2})) != figure.headline(figure.defaults())


def test_energy_is_that_of_the_bench():
    figure = OptimStoreEnergy()
    (ratio,) = figure.content(figure.defaults()).comparisons
    assert ratio.ours == pytest.approx(3.102, abs=0.001)
    assert not ratio.reached
    assert "a link of" in ratio.why
    needed = float(ratio.why.split("a link of ")[1].split()[0])
    assert figure.headline(figure.values({"link_pj": needed})) == pytest.approx(3.6, rel=0.01)


def test_end_to_end():
    figure = OptimStoreEndToEnd()
    iteration = Iteration(figure.defaults())
    flops = 6 * iteration.parameters * 32 * 1024
    assert iteration.passes == pytest.approx(flops / 100e12, rel=0.03)
    assert iteration.parameters == 48 * 12 * 1600**2
    assert 2.2 < figure.headline(figure.defaults()) < 2.5
    assert figure.headline(figure.values({"sequences": 16})) > 2.5


def test_dies():
    figure = OptimStoreDies()
    over = [figure.headline(figure.values({"dies": count})) for count in (2, 4, 8)]
    assert over == sorted(over)
    _, channels = figure.content(figure.defaults()).charts
    assert [max(series.x) for series in channels.series] == [32, 64, 128]
    # The arrays bound a step, so equally many dies are equally fast whatever their channels are.
    assert channels.series[0].y[1] == pytest.approx(channels.series[1].y[0])


def test_lifetime():
    figure = OptimStoreLifetime()
    years = figure.headline(figure.defaults())
    assert figure.headline(figure.values({"pe_cycles": 50_000})) == pytest.approx(years / 4)
    assert figure.headline(figure.values({"duty": 0.25})) == pytest.approx(4 * years)


def test_state_formats():
    """A tile of 65,536 bytes on each of 32 dies in 130 us; 9.6 GB/s of buses."""
    figure = OptimStoreState()
    content = figure.content(figure.defaults())
    step, iteration = ({name: row for name, *row in table.rows} for table in content.tables)
    assert [step[name][:3] for name in ("w32_s32", "w32_s16", "w16_s16")] == [
        [12, pytest.approx(32 * 5461 / 130), "arrays"],
        [8, pytest.approx(32 * 8192 / 130), "arrays"],
        [6, pytest.approx(32 * 10922 / 130), "arrays"],
    ]
    assert step["w16_s8"][:3] == [4.0625, pytest.approx(32 * 16128 / 130), "arrays"]
    muon = 1 / (1 / min(9.6e9 / 4, 32 * 16384 / 130e-6) + 130e-6 / (32 * 16384))
    assert step["muon"][:3] == [8, pytest.approx(muon / 1e6), "buses and arrays"]
    # 4 planes, 3 V, 10 mA: 15.6 uJ of a tile; 4.5 pJ a bit of 4 or 2 bytes.
    arrays = {name: 4 * 0.03 * 130e-6 / count for name, count in (("w32_s32", 5461), ("w16_s16", 10922))}
    for name, channel_bytes in (("w32_s32", 4), ("w16_s16", 2)):
        computing = step[name][3] - arrays[name] * 1e9 - 8 * channel_bytes * 4.5e-3
        assert 0.05 < computing < 0.07
    # The rate of a bus does not grow with its dies.
    chart = content.charts[0]
    for series in chart.series:
        rates = dict(zip(DIES, series.y, strict=True))
        assert rates[2] == pytest.approx(2 * rates[1])
        assert rates[8] < 1.9 * rates[4]
    passes = [seconds - of_step for seconds, of_step, *_ in iteration.values()]
    assert passes == [pytest.approx(passes[0])] * 5
    assert iteration["w16_s16"][2] == pytest.approx(2 * iteration["w32_s32"][2], rel=1e-3)
