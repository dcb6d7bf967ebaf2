"""Whole iterations beside their bound: by hand, on the performance model, and on the RTL of `tiny`."""

import re

import pytest

from flashtrain.host import open_device
from flashtrain.model import ModelLink
from flashtrain.perf.iteration_sequence import FRACTION, iteration_sequence
from flashtrain.perf.training_iteration import IterationBound, tile_of, training_iteration
from flashtrain.perf.use_recorder import UseRecorder
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.sim.trace.array import DeviceTraceWindow
from flashtrain.spec import preset
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.training.sequence import StreamRole, summarise
from flashtrain.training.sequence.fit import require_fit

SMALL = preset("small")


def measure(link, config):
    with open_device(config, link, node=UPDATE_NODE) as device:
        recorder = UseRecorder(device, DeviceTraceWindow(device.link))
        return training_iteration(device, recorder, quick=True), recorder.use


def erases_of(measured) -> float:
    found = re.search(r"erases, ([0-9.]+) times those of full zones", measured.note)
    assert found is not None
    return float(found[1])


def test_the_bound_of_small():
    """A zone has 64 page sets on each of 8 dies; 100 us program, 3 us sense, 417 us erase."""
    bound = IterationBound.on(SMALL)
    zones = 1 + 1 / 4 + 1 / 128
    # A tile is sensed for its update and for two reads.
    us = zones * 64 * 100 + 3 * 64 * 3 + zones * 417
    assert bound.arrays / SMALL.timing.clock_mhz == pytest.approx(us, abs=1)
    # Two pages of weights in a tile, read twice, and two of gradients; activations and inputs go and come.
    pages = 512 * (2 * 2 + 2) + 2 * 4 * (128 + 4)
    assert bound.buses == pytest.approx(pages * 4096 / (4 * 2))
    assert bound.units == 64 * 1365 * 12
    assert bound.part == "arrays" and bound.cycles == bound.arrays


@pytest.mark.parametrize("name", ["tiny", "small", "small_ecc", "optimstore"])
def test_the_sequence_fits_and_fills_what_it_says(name):
    config = preset(name)
    g, sequence = config.geometry, iteration_sequence(config, tile_of(config))
    require_fit(sequence, 2 * FRACTION, config, UPDATE_NODE)
    traffic = summarise(sequence, sequence.iteration, config)
    zone_bytes = g.zone_capacity * g.page_bytes
    assert FRACTION * traffic[StreamRole.ACTIVATIONS].appended_bytes == pytest.approx(zone_bytes, rel=0.01)
    assert sequence.state is not None
    parameters = sum(sequence.by_name[name].spec.shape[0] for name in sequence.state.tensors)
    tiles = g.pages * g.dies * g.channels
    assert parameters == pytest.approx(tiles * tile_of(config).parameters, abs=4)


def test_small_reaches_what_is_asked_with_the_erases_of_full_zones():
    measured, use = measure(ModelLink, SMALL)
    assert measured.met is True
    assert 0.9 <= measured.value / measured.bound < 1
    assert 0.9 < erases_of(measured) <= 1.05
    assert use.array["erases"] > 0.04


def test_tiny_through_the_rtl():
    config = preset("tiny")
    measured, use = measure(RtlLink, config)
    assert 0.4 < measured.value / measured.bound < 1
    assert 0.8 < erases_of(measured) < 1.4
    assert use.array["programs"] > use.array["erases"] > 0
