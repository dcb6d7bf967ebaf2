"""Iterations with checkpoints: what they cost, and that the state that was copied or appended is there."""

import re

import numpy as np
import pytest

from flashtrain.checkpoint import AppendedCheckpoints, PinEveryCommit, load
from flashtrain.host import Device, open_device
from flashtrain.model import ModelLink
from flashtrain.perf.checkpoint_pin import checkpoint_pin
from flashtrain.perf.checkpoint_stall import (
    AppendedState,
    CopiedPins,
    checkpoint_append,
    checkpoint_copy_out,
    checkpoint_stall,
    iterations,
)
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import preset
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.training.commits import PLAIN


def share(measured) -> float:
    """The stall in the note."""
    found = re.search(r"costs? ([+-][\d.]+)%", measured.note)
    assert found is not None
    return float(found[1]) / 100


@pytest.fixture(params=[ModelLink, RtlLink])
def device(request):
    with open_device("tiny", request.param, node=UPDATE_NODE) as opened:
        yield opened


def test_a_pin_costs_a_few_commands(device: Device):
    """On `tiny` an iteration is short; a thousand cycles are 3 % of it."""
    plain = iterations(device, PLAIN, quick=True)
    pinned = iterations(device, PinEveryCommit(), quick=True)
    assert plain.count == pinned.count == 4
    assert -200 < pinned.each - plain.each < 1500, (plain, pinned)


def test_a_pin_of_a_generation(device: Device):
    """The row, and by hand: the first pin has nothing to release."""
    measured = checkpoint_pin(device, quick=True)
    assert measured.met and 0.1 < measured.value < 1


def test_a_copy_has_what_was_pinned(device: Device):
    pins = CopiedPins(device)
    iterations(device, pins, quick=True, advance=pins.advance)
    assert pins.under_way is not None
    copied = pins.under_way.result()
    state = pins.under_way._state
    expected = {
        f"0/{number}/{array.name.lower()}": values
        for array in state.groups[0].arrays
        for number, values in enumerate(state.read(array)[0])
    }
    assert copied.keys() == expected.keys()
    assert all(copied[name].tobytes() == values.tobytes() for name, values in expected.items())


def test_rows():
    """On the performance model: a pin costs least, an append of all state most."""
    stalls = []
    for row in (checkpoint_stall, checkpoint_copy_out, checkpoint_append):
        with open_device(preset("tiny"), ModelLink, node=UPDATE_NODE) as device:
            measured = row(device, quick=True)
            assert measured.bound is not None and measured.value < measured.bound
            stalls.append(share(measured))
            if row is checkpoint_append:
                kept = AppendedCheckpoints(device).checkpoints
                assert len(kept) == 2 and kept[-1].step == kept[0].step + 1
    assert stalls[0] < stalls[1] < stalls[2]


def test_appended_state(device: Device):
    appended = AppendedState(device, {"w": np.arange(700, dtype=np.float32)})
    iterations(device, appended, quick=True, advance=appended.advance)
    appended.store.wait()
    newest = appended.store.checkpoints[-1]
    assert newest.step == appended.steps == 6
    assert (load(appended.store, newest.name)["w"] == np.arange(700)).all()
