"""`flashtrain area controller`: what is measured, what the tables say of it, and what it must not miss."""

import json

import pytest

from flashtrain.cli.area_controller import ALLOWED_LUT6, NEEDED_MHZ
from flashtrain.cli.main import main
from flashtrain.sim.synthesis.synthesis import Area
from flashtrain.spec import preset

from .area_tools import replace_tools

# The tools are replaced: parts are built, and nothing elaborates them.
pytestmark = pytest.mark.filterwarnings("ignore::amaranth.hdl.UnusedElaboratable")


class Found:
    """Numbers that the tools find: LUT6 by part, MHz of the mean seed by part, depth."""

    def __init__(self):
        self.lut6 = {}
        self.mhz = {}
        self.depth = 9.0


@pytest.fixture
def found(monkeypatch):
    """Tools that find 1,000 LUT6 in a part, 100 more in each die, and 151 MHz as the mean of four seeds."""
    found = Found()

    def synthesise(component, name, target):
        g = component.config.geometry
        if not name.startswith("controller"):
            assert g.blocks - g.spare_blocks == preset("behemoth").geometry.blocks
        lut = found.lut6.get(name, 1000 + 100 * g.dies)
        return Area(lut=lut, lut_memory=1, registers=10 * g.dies, block_memory=3, memory_lut=4)

    replace_tools(
        monkeypatch,
        synthesise,
        clocks=lambda name, seed: found.mhz.get(name, 151.0) + seed - 2.5,
        depth_of=lambda name: found.depth,
    )
    return found


def test_every_part_is_measured(found, capsys):
    assert main(["area", "controller", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    engines = ["channel_2", "channel_4", "channel_8", "port_4", "sdr_4", "sca_4", "protected_4"]
    wholes = ["controller_tiny", "controller_small"]
    assert list(told["parts"]) == [*wholes, *engines, "front_end_4", "front_end_8"]
    engine = told["parts"]["channel_4"]
    assert engine["lut6"] == 1404  # the tables of memories are among them
    assert engine["clock_mhz"] == 151.0
    assert [one["clock_mhz"] for one in engine["placements"]] == [149.5, 150.5, 151.5, 152.5]
    assert told["parts"]["front_end_4"]["clock_mhz"] is None
    assert told["depths"] == {"behemoth": {"unit": {"depth": 9.0, "path": ["unit.first", "unit.last"]}}}


def test_each_seed_is_a_row_and_the_longest_paths_have_names(found, capsys):
    assert main(["area", "controller"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    start = lines.index(["whole", "controller,", "tiny", "clock"])
    assert lines[start + 1 : start + 9] == [
        ["seed", "1", "149.5", "MHz"],
        ["seed", "2", "150.5", "MHz"],
        ["seed", "3", "151.5", "MHz"],
        ["seed", "4", "152.5", "MHz"],
        ["mean", "151.0", "MHz"],
        ["to", "reach", "100.0", "MHz"],
        ["longest", "paths", "with", "seed", "1:"],
        ["7.50", "ns", "unit.first", ">", "unit.last"],
    ]


def test_the_cost_of_a_die_is_a_row(found, capsys):
    assert main(["area", "controller"]) == 0
    (row,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("one more die")]
    assert row.split()[-4:] == ["100", "100", "10", "0"]


@pytest.mark.parametrize("part", NEEDED_MHZ)
def test_too_slow_is_a_failure(found, part):
    found.mhz[part] = NEEDED_MHZ[part] - 1
    assert main(["area", "controller"]) == 1
    assert main(["area", "controller", "--no-clock"]) == 0


@pytest.mark.parametrize("part", ALLOWED_LUT6)
def test_too_large_is_a_failure(found, part):
    found.lut6[part] = ALLOWED_LUT6[part] - 4
    assert main(["area", "controller"]) == 1


def test_too_deep_is_a_failure(found, capsys):
    found.depth = 10.5
    assert main(["area", "controller"]) == 1
    lines = capsys.readouterr().out.splitlines()
    told = lines.index("behemoth: 1 registers, memories or outputs are deeper than 10")
    assert lines[told + 1] == "  10.5  unit.first > unit.last"


def test_depth_by_unit(found, capsys):
    assert main(["area", "depth", "--preset", "tiny", "small"]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == [
        "depth in LUT4, by unit  tiny  small",
        "unit                     9.0    9.0",
    ]
    found.depth = 10.1
    assert main(["area", "depth", "--preset", "tiny"]) == 1
