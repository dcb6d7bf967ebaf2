"""Waits that end at a cycle, and the cycles of completions."""

import numpy as np
import pytest

from flashtrain.host import open_device
from flashtrain.model import ModelLink
from flashtrain.sim.link.rtl_link import RtlLink

MOST_OVER = 20
"""Cycles of register accesses around a wait."""


@pytest.fixture(params=[ModelLink, RtlLink])
def device(request):
    with open_device("tiny", request.param) as opened:
        yield opened


def test_an_idle_device_passes_the_time(device):
    for cycles in (1, 2, 100, 250_000):
        end = device.cycles + cycles
        device.wait_any([], end)
        assert end <= device.cycles <= end + MOST_OVER


def test_a_wait_ends_with_a_completion_or_at_its_cycle(device):
    stream = device.stream("trained")
    block = np.ones(512, np.uint8)
    begin = device.cycles
    append = stream.append_async(block)  # ends with its program, 4 us
    device.wait_any([append], begin + 600)
    assert not append.answered and begin + 600 <= device.cycles <= begin + 600 + MOST_OVER
    device.wait_any([append], begin + 100_000)
    assert append.answered and begin + 2400 < append.completed <= device.cycles < begin + 10_000
    completed = append.completed
    device.link.run(5000)
    append.result()
    assert append.completed == completed
    device.wait_any([append], device.cycles + 1000)
    assert device.cycles < completed + 6000


def test_without_time():
    with open_device("tiny") as device:
        append = device.stream("trained").append_async(np.ones(512, np.uint8))
        device.wait_any([append], 1000)
        assert append.answered and append.completed == 0
        device.wait_any([], 1000)  # no cycle comes


def test_a_cycle_that_has_passed(device):
    before = device.cycles
    device.wait_any([], before)
    device.wait_any([device.stream("trained").flush_async()], before - 10)
    assert device.cycles < before + 1000
