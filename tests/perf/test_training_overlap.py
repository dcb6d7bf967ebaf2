"""A step under the backward pass, beside its bound: by hand, and on the performance model."""

import pytest

from flashtrain.host import open_device
from flashtrain.model import ModelLink
from flashtrain.perf.computing import Computing
from flashtrain.perf.training_overlap import cycles_of_a_tensor, training_overlap
from flashtrain.spec import preset
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.training.sequence import Compute, Operation

SMALL = preset("small")


def test_the_last_tensor_of_small():
    """Two zones have 128 page sets on each die, of 100 us program and 3 us sense, for 48 tensors."""
    assert cycles_of_a_tensor(SMALL) / SMALL.timing.clock_mhz == pytest.approx(128 * 103 / 48, abs=0.1)


@pytest.mark.early
def test_all_but_a_twentieth_is_hidden():
    with open_device(SMALL, ModelLink, node=UPDATE_NODE) as device:
        measured = training_overlap(device)
    print(measured)
    assert measured.met is True and measured.bound is not None
    assert 95 <= measured.value < measured.bound < 100


def test_the_time_of_a_step():
    """It passes while the device is idle, and the wait for it ends with a command."""
    with open_device(SMALL, ModelLink, node=UPDATE_NODE) as device:
        begin, step = device.cycles, Compute(Operation.BACKWARD, "a", seconds=1e-4)
        computing = Computing(device, step)
        assert not computing.done
        flushed = device.stream("trained").flush_async()
        computing.wait_beside([flushed])
        assert flushed.done and not computing.done
        computing.result()
        assert computing.done and device.cycles >= begin + 1e-4 * SMALL.timing.clock_hz
        assert Computing(device, Compute(Operation.BACKWARD, "a")).done
