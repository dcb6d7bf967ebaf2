"""The workloads of the rows of speed move what they say; the rows judge their goals."""

import pytest

from flashtrain.cli import torch_speed
from flashtrain.cli.bench_settings import Settings
from flashtrain.cli.console import Console
from flashtrain.cli.torch_speed import CASES, TorchSpeed
from flashtrain.host import FunctionalLink, open_device
from flashtrain.spec.streams import UPDATE_NODE, Codec
from flashtrain.torch import speed


@pytest.fixture
def small(monkeypatch):
    """A device, and workloads of a few steps of it."""
    for name, value in {"STORAGES": 6, "TENSORS": 2, "SAMPLES": 64, "PARAMETERS": 1 << 14}.items():
        monkeypatch.setattr(speed, name, value)
    with open_device("small", FunctionalLink, UPDATE_NODE, memory_bytes=1 << 24) as device:
        yield device


def test_offload(small):
    work = speed.offload(small, 2)
    # All are written, and the ones that have left memory are read.
    assert 2 * 6 * speed.STORAGE_BYTES < work.units == work.moved < 2 * 2 * 6 * speed.STORAGE_BYTES
    assert work.seconds > 0 and work.copy_seconds > 0


def test_loads_samples_and_steps(small):
    assert speed.checkpoint_load(small, 2).units == 2 * 2 * speed.TENSOR_BYTES
    for shuffle in (False, True):
        work = speed.dataset(small, 2, shuffle)
        assert work.units == 2 * 64 * speed.SAMPLE_BYTES
    assert speed.die_step(small, 2).units == 2 << 14


def test_coded_steps():
    node = UPDATE_NODE.with_codecs(activations=Codec.WINDOW32)
    with open_device("small_codec", FunctionalLink, node, memory_bytes=1 << 24) as device:
        steps = speed.offload_codec(device, 1)
    assert steps.plain > 0 and steps.offloaded > 0 and steps.moved > 1 << 20


def test_a_row_judges_its_goal(monkeypatch, tmp_path):
    work = speed.Work(units=1_000_000_000, seconds=1.0, moved=2_000_000_000, copy_seconds=0.25)
    monkeypatch.setattr(torch_speed, "_measured", lambda *_: (work, 1.5))
    settings, console = Settings(quick=False, jobs=1, folder=tmp_path), Console(as_json=True)
    results = {case.name: TorchSpeed(case)("small", settings, console) for case in CASES}
    assert all(result.met for result in results.values())
    assert results["offload_speed"].value == 1000 and "8,000 MB/s" in results["offload_speed"].note
    work = speed.Work(units=999_000_000, seconds=1.0, moved=1, copy_seconds=0.25)
    assert not TorchSpeed(CASES[0])("small", settings, console).met
    for offloaded, met in ((4.0, True), (4.1, False)):
        steps = speed.CodedSteps(1.0, offloaded, 1, 1.0)
        monkeypatch.setattr(torch_speed, "_measured", lambda *_, steps=steps: (steps, 1.0))
        assert torch_speed.codec_speed("small", settings, console).met is met
