"""The shorter ways through cocotb: the same results as its own."""

import subprocess
import sys
from xml.etree import ElementTree

from flashtrain.sim.bench.runner import shortcuts_of
from tests.sim.bench.test_runner import run

ALL_PAIRS = """
from cocotb.types import Logic

levels = [Logic(level) for level in "UX01ZWLH-"]
others = [*levels, *"UX01ZWLHx2-", *range(-1, 11), True, False, None, 1.0, "01"]
before = [(one == other, one != other) for one in levels for other in others]
from flashtrain.sim.bench import shortcuts

own = Logic.__eq__
shortcuts.take()
assert Logic.__eq__ is not own
assert [(one == other, one != other) for one in levels for other in others] == before
assert all(shortcuts.LOGIC[str(level)] is level for level in levels)
"""


def test_bits_are_equal_to_the_same():
    subprocess.run([sys.executable, "-c", ALL_PAIRS], check=True)


def test_tests_take_as_long(simulator, seed, monkeypatch, tmp_path):
    """In simulated time, to the edge. While cocotb debugs, it goes its own ways."""
    times = []
    for debug in ("0", "1"):
        monkeypatch.setenv("COCOTB_SCHEDULER_DEBUG", debug)
        report = run("queue_bench.py", simulator, seed, runs=tmp_path / debug)
        properties = ElementTree.parse(report.folder / "results.xml").getroot().iter("property")
        times.append([each.get("value") for each in properties if each.get("name") == "sim_time_stop"])
    assert len(times[0]) == 3 and times[0] == times[1]


def test_nothing_is_taken_while_cocotb_debugs():
    code = (
        "from cocotb.types import Logic; from flashtrain.sim.bench import shortcuts\n"
        "own = Logic.__eq__; shortcuts.take(); assert Logic.__eq__ is own"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"COCOTB_SCHEDULER_DEBUG": "1"})


def test_another_cocotb_goes_its_own_ways():
    assert "shortcuts:take" in shortcuts_of("2.1.0")["PYGPI_USERS"]
    assert shortcuts_of("2.1.1") == {}
