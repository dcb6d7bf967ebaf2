"""Bounds of an optimizer step, by hand."""

from dataclasses import replace

import pytest

from flashtrain.perf.measurement import BenchmarkError
from flashtrain.perf.update import UpdateRun
from flashtrain.perf.update_bounds import Bound, elsewhere, on_dies
from flashtrain.perf.update_case import ADAM_W16_S8, ADAM_W16_S16, ADAM_W16X16_S16, ADAM_W32_S16, Case
from flashtrain.perf.update_comparison import Comparison
from flashtrain.perf.update_elsewhere import ElsewhereRun
from flashtrain.perf.update_places import PCIE_3_X4, PCIE_4_X4, HostLink
from flashtrain.spec import preset
from flashtrain.spec.optimizer import CopyFormat, GradientFormat
from flashtrain.training.optimizers import SGD, Adam, Momentum

OPTIMSTORE = preset("optimstore")
ADAM = Case(Adam())


@pytest.mark.parametrize(
    ("case", "rate", "part"),
    [
        # 32 dies, a tile of 65,536 bytes in 30 us + 100 us.
        (ADAM, 32 * 5461 / 130e-6, "arrays"),
        (Case(Adam(), GradientFormat.BF16, CopyFormat.BF16), 32 * 5461 / 130e-6, "arrays"),
        (Case(Momentum()), 32 * 8192 / 130e-6, "arrays"),
        # 9.6 GB/s, 4 bytes for each parameter.
        (Case(SGD()), 9.6e9 / 4, "buses"),
    ],
)
def test_on_the_dies(case, rate, part):
    assert on_dies(OPTIMSTORE, case.tile(OPTIMSTORE)) == (pytest.approx(rate), part)


@pytest.mark.parametrize(
    ("name", "interval", "case", "rate", "part"),
    [
        ("optimstore", 3, ADAM_W32_S16, 32 * 8192 / 130e-6, "arrays"),
        ("optimstore", 3, ADAM_W16_S16, 32 * 10922 / 130e-6, "arrays"),
        ("optimstore", 2, ADAM_W16X16_S16, 32 * 8192 / 130e-6, "arrays"),
        # 128 dies, a tile of 32,768 bytes in 3 us + 100 us. Their units take a parameter in 20 cycles.
        ("behemoth", 5, ADAM_W32_S16, 128 * 600e6 / 20, "update units"),
        ("behemoth", 3, ADAM_W32_S16, 128 * 4096 / 103e-6, "arrays"),
        ("behemoth", 5, ADAM_W16_S16, 128 * 600e6 / 20, "update units"),
        ("behemoth", 3, ADAM_W16_S16, 128 * 600e6 / 12, "update units"),
        ("behemoth", 2, ADAM_W16_S16, 128 * 5460 / 103e-6, "arrays"),
        # A tile has 8,064 parameters of 4 bytes and two scales for 32 of them.
        ("optimstore", 2, ADAM_W16_S8, 32 * 16128 / 130e-6, "arrays"),
        ("behemoth", 2, ADAM_W16_S8, 128 * 600e6 / 8, "update units"),
    ],
)
def test_narrow_state(name, interval, case, rate, part):
    config = replace(preset(name), update_interval=interval)
    assert on_dies(config, case.tile(config)) == (pytest.approx(rate), part)


def test_slow_update_units():
    slow = replace(OPTIMSTORE, update_interval=64, update_divider=16)
    assert on_dies(slow, ADAM.tile(slow)) == (pytest.approx(32 * 600e6 / 1024), "update units")


def test_elsewhere():
    """State crosses the buses twice, 4 pages of 16,384 + 16 bytes each time, for 5461 parameters."""
    tile = ADAM.tile(OPTIMSTORE)
    assert elsewhere(OPTIMSTORE, tile, {}) == (pytest.approx(9.6e9 * 5461 / (8 * 16_400)), "buses")
    over = [elsewhere(OPTIMSTORE, tile, link.limits(OPTIMSTORE, tile)) for link in (PCIE_3_X4, PCIE_4_X4)]
    assert over[0] == (pytest.approx(PCIE_3_X4.bytes_per_second / 16), "link to the host")
    assert over[1].part == "buses"


def test_pcie():
    """A little more than the fastest disks of these generations read."""
    assert PCIE_3_X4.bytes_per_second == pytest.approx(3.6009e9, rel=1e-4)
    assert PCIE_4_X4.bytes_per_second == 2 * PCIE_3_X4.bytes_per_second
    assert PCIE_4_X4.where == "on the host, over PCIe 4.0 x4 of 7.2 GB/s"


def test_the_least_limit_is_the_bound():
    assert Bound.of({"a": 3.0, "b": 2e6, "c": 1.5e6}) == (3.0, "a")
    assert str(Bound(1.5e6, "c")) == "bound 1.5, c"


def run(rate: float) -> UpdateRun:
    return UpdateRun(parameters=1, parameters_per_second=rate, work=(), cycles=1)


def test_a_step_that_is_too_fast():
    link = HostLink(bytes_per_second=16e6)  # a million parameters per second

    def compared(dies: float, host: float) -> Comparison:
        there = ElsewhereRun(**vars(run(host)), computing="", uncertainty=0.01)
        return Comparison(OPTIMSTORE, ADAM, run(dies), {link: there})

    most = on_dies(OPTIMSTORE, ADAM.tile(OPTIMSTORE)).parameters_per_second
    found = compared(most, 1.009e6)
    found.check()
    assert found.speedup(link) == pytest.approx(most / 1.009e6)
    with pytest.raises(
        BenchmarkError, match=r"1\.0 M/s on the host, over a link of 0\.016 GB/s is above its"
    ):
        compared(most, 1.011e6).check()
    with pytest.raises(BenchmarkError, match=r"M/s on the dies is above its bound 1,344\.2, arrays"):
        compared(1.001 * most, 1e6).check()
