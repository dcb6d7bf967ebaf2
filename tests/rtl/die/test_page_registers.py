# amaranth: UnusedElaboratable=no
"""The page registers of a die say when their clock may stand still."""

from pathlib import Path

import pytest
from amaranth import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.die.registers.page_registers import PageRegisters
from flashtrain.rtl.export.systemverilog import export_design
from flashtrain.rtl.lib.shared import leaf_ports
from flashtrain.sim.bench.runner import run_bench
from flashtrain.spec import FmsConfig
from tests.rtl.die.die_configs import config_named

HERE = Path(__file__).parent


class Packed(wiring.Component):
    """All inputs of page registers side by side, and all outputs but `moves`."""

    def __init__(self, config: FmsConfig):
        self.registers = PageRegisters(config)
        ports = list(leaf_ports(self.registers))
        self.widths = {name: len(value) for name, flow, value in ports if flow is In}
        self._inputs = Cat(value for _, flow, value in ports if flow is In)
        self._outputs = Cat(value for name, flow, value in ports if flow is Out and name != "moves")
        super().__init__(
            {"inputs": In(len(self._inputs)), "outputs": Out(len(self._outputs)), "moves": Out(1)}
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.registers = self.registers
        m.d.comb += [
            self._inputs.eq(self.inputs),
            self.outputs.eq(self._outputs),
            self.moves.eq(self.registers.moves),
        ]
        return m


@pytest.mark.parametrize("name", ["one", "coded"])
def test_registers_miss_nothing_while_they_stand_still(name, simulator, seed, tmp_path):
    packed = Packed(config_named(name))
    bench = tmp_path / "moves_bench.sv"
    text = (HERE / "moves_bench.sv").read_text()
    for name, width in (("INPUTS", len(packed.inputs)), ("OUTPUTS", len(packed.outputs))):
        text = text.replace(f"parameter integer {name} = 1", f"parameter integer {name} = {width}")
    bench.write_text(text)
    run_bench(
        [*export_design(packed, "registers").write(tmp_path), bench],
        "moves_bench",
        HERE / "moves_bench.py",
        simulator=simulator,
        seed=seed,
        parameters={"widths": packed.widths},
    )
