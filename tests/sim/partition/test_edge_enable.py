# amaranth: UnusedElaboratable=no
"""A derived enable: without it an edge changes nothing."""

from pathlib import Path

import pytest
from amaranth import Cat, Module, Signal
from amaranth.hdl import Fragment, Instance
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.die.registers.page_registers import PageRegisters
from flashtrain.rtl.export.systemverilog import export_design
from flashtrain.rtl.lib.shared import leaf_ports
from flashtrain.sim.bench.runner import Simulator, run_bench
from flashtrain.sim.partition.edge_enable import EdgeEnableError, add_edge_enable
from flashtrain.spec import FmsConfig
from tests.rtl.die.die_configs import config_named

HERE = Path(__file__).parent


class Packed(wiring.Component):
    """All inputs of page registers side by side, all outputs, and their enable."""

    def __init__(self, config: FmsConfig):
        self.registers = PageRegisters(config)
        ports = list(leaf_ports(self.registers))
        self.widths = {name: len(value) for name, flow, value in ports if flow is In}
        self._inputs = Cat(value for _, flow, value in ports if flow is In)
        self._outputs = Cat(value for _, flow, value in ports if flow is Out)
        super().__init__(
            {"inputs": In(len(self._inputs)), "outputs": Out(len(self._outputs)), "edge_enable": Out(1)}
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.registers = registers = Fragment.get(self.registers, platform)
        m.d.comb += [
            self._inputs.eq(self.inputs),
            self.outputs.eq(self._outputs),
            self.edge_enable.eq(add_edge_enable(registers, "registers")),
        ]
        return m


@pytest.mark.parametrize("name", ["one", "coded"])
def test_registers_miss_nothing_without_edges(name, seed, tmp_path):
    """On one simulator: the enable is a part of a netlist, which other tests run on both."""
    packed = Packed(config_named(name))
    bench = tmp_path / "edge_enable_bench.sv"
    text = (HERE / "edge_enable_bench.sv").read_text(encoding="utf-8")
    for name, width in (("INPUTS", len(packed.inputs)), ("OUTPUTS", len(packed.outputs))):
        text = text.replace(f"parameter integer {name} = 1", f"parameter integer {name} = {width}")
    bench.write_text(text, encoding="utf-8")
    run_bench(
        [*export_design(packed, "registers").write(tmp_path), bench],
        "edge_enable_bench",
        HERE / "edge_enable_bench.py",
        simulator=Simulator.VERILATOR,
        seed=seed,
        parameters={"widths": packed.widths},
    )


def test_what_cannot_be_derived_is_refused():
    of_instance, of_domain = Module(), Module()
    of_instance.submodules.cell = Instance("cell", i_clk=Signal())
    of_domain.d.other += Signal().eq(1)
    for module, message in ((of_instance, "instance of cell"), (of_domain, "clock domain 'other'")):
        with pytest.raises(EdgeEnableError, match=f"part.* has .*{message}"):
            add_edge_enable(Fragment.get(module, None), "part")
