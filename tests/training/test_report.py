"""The report at the end of a run, and the words for where two runs differ."""

import json
from dataclasses import replace

import pytest

from flashtrain.training.flash_training import train_through_flash
from flashtrain.training.networks import mlp
from flashtrain.training.optimizers import Adam
from flashtrain.training.reference import TrainingLog, train_reference
from flashtrain.training.report import first_difference, training_report
from flashtrain.training.tensors import DeviceStorage


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
    assert report.accuracy == network.accuracy(reference.parameters, data.test.images, data.test.labels)
    document = json.loads(json.dumps(report.document()))
    assert document["bit_exact"] is True
    assert document["streams"]["activations"]["stream_resets"] == 5
    assert document["player"]["peak_bytes"] == result.run.playback.peak_bytes
    assert "the same to the last bit" in report.text()
    assert [line.split()[0] for line in report.text().splitlines()[4:]] == [
        "inputs",
        "activations",
        "weights",
        "trained",
    ]

    wrong = training_report(network, data.test, result, altered(reference, "output", "bias"))
    assert not wrong.bit_exact
    assert "DIFFERENT: trained weights output.bias" in wrong.text()


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
    assert first_difference(TrainingLog(log.losses, {}), log) == "trained weights hidden.weight"
    extra = replace(log, parameters={**log.parameters, "more": {}, "other": log.parameters["output"]})
    assert first_difference(extra, log) == "trained weights of unknown layers"
