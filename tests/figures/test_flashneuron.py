"""FlashNeuron's figures: on the smallest network, whose sizes are checked by hand."""

from math import inf

import pytest

from flashtrain.figures.batch_law import batch_laws, gain, half_for
from flashtrain.figures.flashneuron_batch import FlashNeuronBatch
from flashtrain.figures.flashneuron_runs import (
    ASSUMPTIONS,
    FLASHNEURON_WAY,
    FULL,
    WAYS,
    WITHOUT,
    Runs,
    storage_of,
)
from flashtrain.training.offload.network_file import network_named
from flashtrain.training.offload.processor import V100

NETWORK = "gpt2"
VALUES = {assumption.name: assumption.value for assumption in ASSUMPTIONS}


@pytest.fixture(scope="module")
def runs():
    return Runs(VALUES)


def test_batches_that_fit(runs):
    most = runs.most_in_memory(NETWORK)
    network = network_named(NETWORK)
    needed = [network.profile(b, V100) for b in (most, most + 1)]
    sizes = [profile.resident_bytes + profile.saved_bytes for profile in needed]
    assert sizes[0] <= VALUES["memory"] < sizes[1]
    assert runs.in_memory(NETWORK, most) < inf == runs.in_memory(NETWORK, most + 1)
    with_storage = runs.most(NETWORK, FULL)
    assert with_storage > 4 * most
    assert runs.seconds(NETWORK, with_storage, FULL) < inf == runs.seconds(NETWORK, with_storage + 1, FULL)
    assert Runs({**VALUES, "memory": 32e9}).most(NETWORK, FULL) > with_storage


def test_faster_storages_and_each_part_help(runs):
    batch = 4 * runs.most_in_memory(NETWORK)
    throughput = {way.label: runs.throughput(NETWORK, batch, way) for way in (*WAYS, *WITHOUT)}
    one, four, fms, lossless, lossy = (throughput[way.label] for way in WAYS[1:])
    batch, half = runs.most_in_memory(NETWORK), runs.fixed(NETWORK) / runs.seconds_of_example(NETWORK)
    assert 0 < one < four < fms < lossless < lossy <= 1.01 * gain(half, batch, 4)
    assert max(throughput[way.label] for way in WITHOUT) < lossy
    assert throughput[FLASHNEURON_WAY.label] < four


def test_factors(runs):
    factor = runs.factor(NETWORK, FULL)
    unit = runs.most_in_memory(NETWORK)
    values = [runs.throughput(NETWORK, multiple * unit, FULL) for multiple in (factor, factor + 1)]
    assert values[0] >= 0.95 > values[1]


def test_the_rates_are_those_of_the_model():
    storage = storage_of(FULL, 16 << 30)
    # 64 channels program 41.94 GB/s (facts: 4 KiB x 2 planes x 2 dies in 100 us), and the port has 76.8.
    assert storage.write_bytes_per_second == pytest.approx(41.94e9, rel=0.001)
    assert 0.85 * 76.8e9 < storage.read_bytes_per_second <= 76.8e9
    assert storage.port_bytes_per_second == pytest.approx(76.8e9)


def test_assumptions_have_an_effect():
    figure = FlashNeuronBatch()
    assert figure.headline(figure.values({"memory": 12e9})) != figure.headline(figure.defaults())


def test_measured_fixed_times():
    laws = {(law.network, law.framework, round(law.half, 1)): law for law in batch_laws()}
    # ResNet-50 in the trace of Zeus: 217.41 images/s with 8, 364.49 with 256. Two points give the law, too.
    slope = (256 / 364.49 - 8 / 217.41) / 248
    resnet = laws["ResNet-50", "PyTorch", 5.6]
    assert resnet.peak == pytest.approx(1 / slope, rel=0.01)
    assert resnet.fixed == pytest.approx(8 / 217.41 - 8 * slope, rel=0.05)
    assert resnet.fixed_of_layer == pytest.approx(resnet.fixed / 53)
    for law in laws.values():
        assert law.residual < 0.06
        worst = max(abs((law.fixed + b / law.peak) / (b / rate) - 1) for b, rate in law.points)
        assert law.residual == pytest.approx(worst)


def test_fixed_times_are_in_the_measured_range():
    assumed = {assumption.name: assumption for assumption in ASSUMPTIONS}
    for name, size in (("fixed_transformer", range(384, 1000)), ("fixed_convolution", range(224, 225))):
        found = [law.fixed_of_layer for law in batch_laws() if law.size in size]
        assert assumed[name].low == pytest.approx(min(found), rel=0.05)
        assert assumed[name].high == pytest.approx(max(found), rel=0.05)
        assert any(assumed[name].value == pytest.approx(each, rel=0.02) for each in found)


@pytest.mark.parametrize("factor", [2, 12.4, 14])
def test_gain(factor):
    assert gain(0, 5, factor) == 1
    assert gain(half_for(1.3, 5, factor), 5, factor) == pytest.approx(1.3)
    # An iteration of 2 + b seconds: 5 examples in 7 s, factor * 5 in 2 + factor * 5 s.
    assert gain(2, 5, factor) == pytest.approx(factor * 5 / (2 + factor * 5) / (5 / 7))
