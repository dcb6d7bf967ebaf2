"""Clock and longest paths of small placed designs."""

# amaranth: UnusedElaboratable=no

import pytest

from flashtrain.rtl.die.update_unit.delay import DelayChain
from flashtrain.sim.synthesis import placement, tools
from flashtrain.sim.synthesis.placement import place
from flashtrain.spec.errors import ToolError

from .shared_units import TwoUnits


def test_each_seed_is_a_placement(nextpnr):
    """Of a design whose modules are joined: the longest path is a carry chain of one of them."""
    routed = place(TwoUnits(), "top", clock_mhz=150, seeds=2)
    estimated = place(TwoUnits(), "top", clock_mhz=150, seeds=1, static=True, routed=False)
    placements = [*routed, *estimated]
    assert [(one.seed, one.routed) for one in placements] == [(1, True), (2, True), (1, False)]
    for one in placements:
        assert one.cells >= 2 * 32
        assert 100 < one.clock_mhz < 1_000
        assert one.paths[0].ns == pytest.approx(1000 / one.clock_mhz, rel=0.001)
        assert (one.paths[0].unit, one.paths[0].endpoint) == ("second", "second.total")


def test_a_tool_that_fails_says_what_it_said(nextpnr, monkeypatch):
    monkeypatch.setattr(placement, "DEVICE", ("--no-such-device",))
    with pytest.raises(ToolError, match=r"(?s)nextpnr-ecp5 failed: .*log ends with.*no-such-device"):
        place(DelayChain(32, [3]), "chain", clock_mhz=100, seeds=1)


def test_a_tool_that_says_nothing(tmp_path):
    with pytest.raises(ToolError, match=r"false failed: .*log is empty: the tool ended without a word"):
        tools.run(["false"], tmp_path, "result")
