"""Vertical and horizontal gradient accumulation, against iterations calculated by hand."""

from dataclasses import replace

import pytest

from flashtrain.training.offload import Phase, Profile, ProfiledOperation, SavedTensor, SharedPart, Storage
from flashtrain.training.offload.accumulation import DEFERRED, horizontal, layers_of, vertical
from flashtrain.training.offload.network import UPDATE
from flashtrain.training.offload.network_file import network_named, network_names
from flashtrain.training.offload.samples import SAMPLES

STORAGE = Storage("by hand", 890, 50.0, 100.0)
"""Its memory holds the 890 bytes that a micro-batch of one example needs, and nothing else."""


def two_layers(parameters: int = 40, seconds: float = 1.0):
    """Layers of equal operations, and 100 bytes an example between them."""

    def batches(batch: int) -> Profile:
        forward = [ProfiledOperation(f"h.{n}.op", seconds * batch, Phase.FORWARD) for n in (0, 1)]
        backward = [ProfiledOperation(f"h.{n}.op", 2 * seconds * batch, Phase.BACKWARD) for n in (1, 0)]
        tensors = (
            SavedTensor("between", 100 * batch, 0, (2, 3), 1),
            SavedTensor("inside", 50 * batch, 1, (2,)),
        )
        return Profile("by hand", batch, (*forward, *backward), tensors, 16 * parameters + 10 * batch)

    return batches


def test_the_vertical_schedule():
    """Four micro-batches. A layer has weights and gradients of 80 bytes, and a step reads and writes 240.

    Forward passes: write 400 in 8 s; read 480 in 4.8 s. Backward passes: compute for 12 s; and write 640 in
    12.8 s, namely gradients of the boundary and the step.
    """
    found = vertical(two_layers(), 4, STORAGE)
    assert (found.micro_batches, found.deferred, found.peak_bytes) == (4, 0.0, 890)
    assert found.seconds == pytest.approx(8 + 4.8 + 12 + 12.8)
    assert found.written_bytes == pytest.approx(400 + 400 + 2 * 240)
    assert found.read_bytes == pytest.approx(80 + 480 + 2 * (400 + 80 + 240))


def test_the_horizontal_schedule():
    """Forward: 2 s and 1 s, four times. Backward: 3 s each, four times. A step writes 240 bytes in 4.8 s."""
    found = horizontal(two_layers(), 4, STORAGE)
    assert (found.micro_batches, found.peak_bytes) == (4, 890)
    assert found.seconds == pytest.approx(4 * (2 + 1) + 4 * (3 + 3) + 2 * 4.8)
    assert found.written_bytes == pytest.approx(4 * 100 + 4 * 2 * 80 + 2 * 240)
    assert found.read_bytes == pytest.approx(4 * 2 * 80 + 4 * (80 + 180) + 3 * 2 * 80 + 2 * 320)


def test_shared_parts_take_the_sum_of_both():
    storage = replace(STORAGE, shared=(SharedPart("arrays", 50.0, 100.0),))
    assert vertical(two_layers(), 4, storage).seconds == pytest.approx(8.8 + 4.8 + 12 + 20)


def test_the_port_is_a_bound():
    storage = replace(STORAGE, port_bytes_per_second=40.0)
    assert vertical(two_layers(), 4, storage).seconds == pytest.approx(10 + 12 + 18 + 18)


def test_a_fifth_of_the_step_is_deferred():
    """Backward passes write 4,800 bytes in 4.8 s each, and forward passes compute for 1 s.

    With a fifth deferred the forward passes take 1.36 and 1 s, the backward ones 4.16 and 4.56 s. A tenth and
    three tenths give 11.36 s.
    """
    fast = {"write_bytes_per_second": 1000.0, "read_bytes_per_second": 6400.0}
    storage = replace(STORAGE, memory_bytes=10_010, **fast)
    found = vertical(two_layers(800, 0.25), 4, storage)
    assert (found.micro_batches, found.deferred) == (4, 0.2)
    assert found.seconds == pytest.approx(1.36 + 1 + 4.16 + 4.56)
    assert 0.2 in DEFERRED


def test_what_fits_the_memory_is_not_moved():
    """All computes for 8 and 24 s; the backward pass has the forward pass in it."""
    for schedule in (vertical, horizontal):
        found = schedule(two_layers(), 4, replace(STORAGE, memory_bytes=10_000))
        assert found.seconds == pytest.approx(32) and found.written_bytes == found.read_bytes == 0


def test_free_memory_holds_what_is_fastest():
    """160 bytes of the boundary, not of its gradients or of the state: 36.8 and 36.5 s.

    The first forward pass writes 240 bytes in 4.8 s, and the others compute, but for the last backward pass.
    """
    found = vertical(two_layers(), 4, replace(STORAGE, memory_bytes=890 + 160))
    assert (found.micro_batches, found.peak_bytes) == (4, 890 + 160)
    assert found.seconds == pytest.approx(4.8 + 4 + 12 + 12.8)


def test_no_micro_batch_fits():
    assert vertical(two_layers(), 4, replace(STORAGE, memory_bytes=889)) is None
    assert horizontal(two_layers(), 6, replace(STORAGE, memory_bytes=889)) is None


@pytest.mark.parametrize("name", [*SAMPLES, *network_names()])
def test_layers_have_all_operations(name):
    network = SAMPLES.get(name) or network_named(name)
    profile = network.profile(2)
    layers = layers_of(profile)
    expected = sum(operation.seconds for operation in profile.operations if operation.name != UPDATE)
    assert sum(layer.forward + layer.backward for layer in layers) == pytest.approx(expected)
    assert sum(layer.inside for layer in layers) == profile.saved_bytes
    assert layers[0].boundary == 0


def test_layers_of_a_transformer():
    layers = layers_of(network_named("gpt2").profile(1))
    assert len(layers) == 1 + 12
    # 1,024 tokens of 768 numbers, and the mask of attention.
    assert all(1024 * 768 * 4 <= layer.boundary < 1024 * 768 * 4 + 16384 for layer in layers[1:])
