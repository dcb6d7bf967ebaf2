"""The system in parts does in every cycle what the system as one model does."""

from dataclasses import replace
from pathlib import Path

import pytest

from flashtrain.sim.link.library import build_library
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.sim.partition.plan import die_plan
from flashtrain.sim.verilator.cxx import WaveFormat
from flashtrain.sim.waves.wave_link import WaveLink
from flashtrain.spec import FmsConfig, preset
from tests.sim.partition.lockstep.scenario import Difference, compare

MEMORY_BYTES = 1 << 18


@pytest.mark.early
@pytest.mark.usual("tiny")
@pytest.mark.parametrize("name", ["tiny", "tiny_ecc"])
def test_parts_are_the_whole_in_every_cycle(name, seed):
    """Pins, trace, counters as registers, and the tensor buffer."""
    config = preset(name)
    with RtlLink(config, MEMORY_BYTES) as parts, WaveLink(config, MEMORY_BYTES, WaveFormat.VCD) as whole:
        cycles = compare(parts, whole, seed)
    print(cycles)
    assert len(cycles) == 9 and all(cycles.values())


class Planted(RtlLink):
    """The die's registers take lanes only when a lane is asked for, not when one is put."""

    def _build(self, config: FmsConfig) -> Path:
        plan = die_plan(config)
        wrong = replace(plan, guards={**plan.guards, ("logic_registers", "lane_in"): ("ask",)})
        return build_library(config, {"die": wrong})


@pytest.mark.long
def test_a_wrong_guard_is_found(seed):
    config = preset("tiny")
    with (
        Planted(config, MEMORY_BYTES) as parts,
        WaveLink(config, MEMORY_BYTES, WaveFormat.VCD) as whole,
        pytest.raises(Difference, match=r"cycle \d+: .*channel \d: dq_i.* differ"),
    ):
        compare(parts, whole, seed)
