# amaranth: UnusedElaboratable=no
"""Area of small designs whose cells can be counted by hand."""

import re

import pytest

from flashtrain.rtl.channel.write_buffer.set_scan import AgeOrder
from flashtrain.rtl.die.update_unit.delay import DelayChain
from flashtrain.rtl.export.systemverilog import to_rtlil
from flashtrain.rtl.float.multiply import Multiply
from flashtrain.sim.synthesis import tools
from flashtrain.sim.synthesis.synthesis import Area, Target, _without_brackets, synthesise
from flashtrain.spec.errors import ToolError

from .shared_units import TwoUnits


def test_cells_by_kind():
    cells = {"LUT4": 5, "CCU2C": 3, "TRELLIS_FF": 7, "TRELLIS_DPR16X4": 2, "MULT18X18D": 1, "PFUMX": 4}
    assert Area.of_cells(cells) == Area(
        lut=5, carry=3, lut_memory=2, registers=7, multipliers=1, block_memory=0
    )
    cells = {"LUT1": 1, "LUT6": 2, "CARRY4": 3, "FDRE": 4, "FDSE": 1, "DSP48E1": 6, "RAM32M": 2, "MUXF7": 9}
    assert Area.of_cells(cells) == Area(
        lut=3, carry=3, lut_memory=2, registers=5, multipliers=6, block_memory=0, memory_lut=8
    )


def test_chain_of_registers(yosys):
    ecp5, lut6 = (synthesise(DelayChain(32, [3]), "chain", target) for target in Target)
    assert (ecp5.registers, ecp5.lut_memory, ecp5.multipliers, ecp5.carry) == (96, 0, 0, 0)
    # There a look-up table can be a shift register.
    assert (lut6.registers, lut6.lut_memory, lut6.multipliers, lut6.lut) == (0, 32, 0, 0)


def test_long_chain_is_a_memory(yosys):
    """Ten words, written and read at an address of four bits; the word read is a register."""
    ecp5 = synthesise(DelayChain(32, [11]), "ring", Target.ECP5)
    assert (ecp5.registers, ecp5.lut_memory, ecp5.block_memory) == (32 + 4, 8, 0)


def test_multiplier(yosys):
    """Four products of 12 by 12 bits."""
    ecp5 = synthesise(Multiply(stages=2), "multiply", Target.ECP5)
    assert (ecp5.multipliers, ecp5.block_memory) == (4, 0)
    assert ecp5.lut > 100


def test_the_area_of_a_design_is_that_of_all_its_modules(yosys):
    """Two units with 32 registers each, which are one module, and a register between them."""
    area = synthesise(TwoUnits(), "top", Target.ECP5)
    assert (area.registers, area.carry) == (2 * 32 + 32, 2 * 16)


def test_parts_of_a_wire_have_names_of_their_own():
    """Yosys' name of bit 3 of `slots` is that of a part of it in Amaranth."""
    text = to_rtlil(AgeOrder(8), "order")["order"]
    assert r"\slots[3]" in text
    assert r"\slots__3 " in _without_brackets(text)
    assert not re.search(r"\\\S+\[\d", _without_brackets(text))


def test_missing_tools_have_a_name(monkeypatch):
    monkeypatch.setattr(tools.shutil, "which", lambda name, path=None: None)
    monkeypatch.setattr(tools, "find_spec", lambda name: None)
    with pytest.raises(ToolError, match=r"neither pyosys nor yosys is installed: pip install .*synthesis"):
        synthesise(DelayChain(32, [3]), "chain", Target.ECP5)
