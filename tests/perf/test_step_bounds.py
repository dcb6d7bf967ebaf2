"""Bounds and energy of an optimizer step, computed by hand beside them."""

import pytest

from flashtrain.perf.step_bounds import host_memory_rate, step_bounds
from flashtrain.perf.update_case import Case
from flashtrain.perf.update_places import PCIE_3_X4, HostLink
from flashtrain.spec import preset
from flashtrain.spec.optimizer import CopyFormat, GradientFormat
from flashtrain.training.optimizers import SGD, Adam

OPTIMSTORE = preset("optimstore")
PARAMETERS = 16_384 // 3
"""Of a tile of Adam: a third of the 16,384 words of a page set."""


def test_adam_on_optimstore():
    found = step_bounds(OPTIMSTORE, Case(Adam()), PCIE_3_X4)
    # 32 dies sense and program a tile in 130 us.
    assert found.dies.bound.part == "arrays"
    assert found.dies.bound.parameters_per_second == pytest.approx(32 * PARAMETERS / 130e-6)
    # The tile crosses its bus twice.
    assert found.controller.bound.part == "buses"
    assert found.controller.bound.parameters_per_second == pytest.approx(9.6e9 / 24, rel=0.01)
    # 12 bytes of state and a gradient of 4 leave over the link.
    assert found.host.bound.part == "link to the host"
    assert found.host.bound.parameters_per_second == pytest.approx(PCIE_3_X4.bytes_per_second / 16)


def test_energy_of_adam_on_optimstore():
    """3 V x 10 mA on 4 planes for 130 us; 4.5 pJ for a bit on a bus and 25 pJ on the link."""
    found = step_bounds(OPTIMSTORE, Case(Adam()), PCIE_3_X4)
    array = 3 * 10e-3 * 4 * 130e-6 / PARAMETERS
    for place in (found.dies, found.controller, found.host):
        assert place.energy.array == pytest.approx(array)
    assert found.dies.energy.channel == pytest.approx(8 * 4 * 4.5e-12)
    assert found.host.energy.channel == found.controller.energy.channel == pytest.approx(8 * 24 * 4.5e-12)
    assert found.host.energy.link == pytest.approx(8 * 28 * 25e-12)
    assert found.dies.energy.link == found.controller.energy.link == 0
    assert found.dies.energy.computing == found.controller.energy.computing < found.host.energy.computing


def test_smaller_formats_and_a_faster_link():
    small = Case(SGD(), GradientFormat.BF16, CopyFormat.BF16)
    found = step_bounds(OPTIMSTORE, small, HostLink(16e9, parameters_per_second=1e12))
    assert found.dies.energy.channel == pytest.approx(8 * 4 * 4.5e-12)
    assert found.host.bound.part == "buses"


def test_memory_of_the_host():
    assert host_memory_rate(Case(Adam()), 20e9) == HostLink().parameters_per_second
    assert host_memory_rate(Case(SGD()), 12e9) == 1e9
