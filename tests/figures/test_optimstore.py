"""OptimStore's figures: values by hand, and those that the RTL was measured at."""

import pytest

from flashtrain.figures.optimstore_dies import OptimStoreDies
from flashtrain.figures.optimstore_end_to_end import OptimStoreEndToEnd
from flashtrain.figures.optimstore_energy import OptimStoreEnergy
from flashtrain.figures.optimstore_lifetime import OptimStoreLifetime
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
