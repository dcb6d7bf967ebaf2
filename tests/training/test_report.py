"""The report at the end of a run, and the words for where two runs differ."""

import json
from dataclasses import replace

import pytest

from flashtrain.training.flash_training import train_through_flash
from flashtrain.training.networks import mlp
from flashtrain.training.optimizers import Adam
from flashtrain.training.reference import TrainingLog, train_reference
from flashtrain.training.report import first_difference, training_report, update_document, update_lines
from flashtrain.training.sequence import UpdatePlace, training_sequence
from flashtrain.training.tensors import DeviceStorage
from flashtrain.training.traffic import UpdateTraffic


def altered(log, layer, name):
    """A copy of the log in which one bit of these weights is flipped."""
    parameters = {key: {n: a.copy() for n, a in arrays.items()} for key, arrays in log.parameters.items()}
    parameters[layer][name].reshape(-1).view("uint32")[0] ^= 1
    return replace(log, parameters=parameters)


def test_report_of_equal_runs(small, data):
    network, optimizer = mlp(8), Adam()
    result = train_through_flash(network, data, optimizer, 16, 5, seed=0, storage=DeviceStorage.on(small))
    reference = train_reference(network, data, optimizer, 16, 5, seed=0)
    report = training_report(network, data.test, result, reference)
    assert report.bit_exact
    assert report.test.accuracy == network.accuracy(reference.parameters, data.test.inputs, data.test.targets)
    document = json.loads(json.dumps(report.document()))
    assert document["bit_exact"] is True
    assert document["streams"]["activations"]["stream_resets"] == 5
    assert document["player"]["peak_bytes"] == result.run.playback.peak_bytes
    assert "the same to the last bit" in report.text()
    lines = report.text().splitlines()
    assert [line.split()[0] for line in lines[4:8]] == ["inputs", "activations", "state", "trained"]
    assert lines[8:] == [
        "updates on the dies: 5, 0 skipped after an overflow; each 610 parameters in 8 tiles, on 8 of 8 dies",
        "  gradients in 12,200 bytes, 16-bit copies out 0 bytes",
    ]
    assert document["updates"]["gradient_bytes"] == 5 * 4 * 610
    assert document["updates"]["rate"] is None

    wrong = training_report(network, data.test, result, altered(reference, "output", "bias"))
    assert not wrong.bit_exact
    assert "DIFFERENT: trained weights output.bias" in wrong.text()


def test_report_of_updates_by_the_core(small, data):
    network, optimizer = mlp(8), Adam()
    sequence = training_sequence(network, 16, optimizer, UpdatePlace.CORE)
    result = train_through_flash(network, data, optimizer, 16, 2, 0, DeviceStorage.on(small), sequence)
    report = training_report(
        network, data.test, result, train_reference(network, data, optimizer, 16, 2, seed=0)
    )
    assert [line.split()[0] for line in report.text().splitlines()[4:]] == [
        "inputs",
        "activations",
        "weights",
        "trained",
    ]
    assert report.document()["updates"] is None


def test_rate_of_updates():
    """8 dies, tiles of 1,000 parameters in 100 cycles: at most 80 parameters per clock."""
    updates = UpdateTraffic(
        clock_hz=1e6, dies=8, tile_parameters=1000, tile_cycles=100, updates=2, skips=1, parameters=8000,
        tiles=8, gradient_bytes=32000, cycles=400,
    )  # fmt: skip
    assert (updates.rate, updates.bound, updates.share) == (20e6, 80e6, 0.25)
    assert update_lines(updates) == [
        "updates on the dies: 2, 1 skipped after an overflow;"
        " each 4,000 parameters in 4 tiles, on 4 of 8 dies",
        "  gradients in 32,000 bytes, 16-bit copies out 0 bytes",
        "  20.0 M parameters/s while updating, 25.0% of the bound of 80.0 M/s: each of 8 dies senses and"
        " programs all the time",
    ]
    document = update_document(updates)
    assert document is not None and document["share_of_bound"] == 0.25
    assert update_lines(None) == [] and update_document(None) is None


@pytest.fixture(scope="module")
def log(data):
    return train_reference(mlp(4), data, Adam(), 8, 3, seed=0)


def test_differences_are_named(log):
    assert first_difference(log, log) == ""
    assert first_difference(altered(log, "hidden", "weight"), log) == "trained weights hidden.weight"
    assert first_difference(replace(log, losses=log.losses[:2]), log) == "2 iterations, not 3"
    losses = (log.losses[0], 0.5, log.losses[2])
    assert first_difference(replace(log, losses=losses), log) == (
        f"loss of iteration 2 is 0.5, not {log.losses[1]!r}"
    )
    digests = (*log.digests[:1], "other", *log.digests[2:])
    assert first_difference(replace(log, digests=digests), log) == ("weights at the beginning of iteration 2")
    assert first_difference(TrainingLog(log.losses, log.digests, {}), log) == "trained weights hidden.weight"
    extra = replace(log, parameters={**log.parameters, "more": {}, "other": log.parameters["output"]})
    assert first_difference(extra, log) == "trained weights of unknown layers"
