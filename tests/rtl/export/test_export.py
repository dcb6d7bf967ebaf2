"""Export of a small design: shared modules, arrays, empty ports, determinism, lint, simulation."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from amaranth import Module, ResetSignal, Signal
from amaranth.hdl import CombinationalCycle, Fragment
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.export.systemverilog import (
    LintError,
    export_design,
    export_fragment,
    lint,
    to_systemverilog,
)
from flashtrain.rtl.lib.shared import ExportError, SharedModule
from flashtrain.sim.bench.runner import run_bench

Pair = data.StructLayout({"low": 3, "high": 5})


class Stepper(wiring.Component):
    """A counter and a table; holds another shared module, so that modules nest.

    Members
    -------
    step : In(Pair)           `low` is added to the count at each clock
    nothing : In(0)
    counts : Out(8).array(2)  the count, and its complement
    entry : Out(8)            the table's entry at `high`
    """

    step: In(Pair)
    nothing: In(0)
    counts: Out(8).array(2)
    entry: Out(8)

    def __init__(self, inverter: "Inverter"):
        self.inverter = inverter
        super().__init__()

    def elaborate(self, platform):
        m = Module()
        m.submodules.rows = rows = Memory(shape=8, depth=32, init=[7, 9])
        read = rows.read_port(domain="comb")
        m.submodules.inverter = inverter = SharedModule(self.inverter, "inverter")
        count = Signal(8)
        m.d.sync += count.eq(count + self.step.low)
        m.d.comb += [
            read.addr.eq(self.step.high),
            self.entry.eq(read.data),
            inverter.i.eq(count),
            self.counts[0].eq(count),
            self.counts[1].eq(inverter.o),
        ]
        return m


class Inverter(wiring.Component):
    """Combinational, so its module uses neither clock nor reset.

    Members
    -------
    i : In(8)
    o : Out(8)  the complement of i
    """

    i: In(8)
    o: Out(8)

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.o.eq(~self.i)
        return m


class Steppers(wiring.Component):
    """Three steppers, of which the last has a reset of its own.

    Members
    -------
    steps : In(Pair).array(3)
    counts, inverses, entries : Out(8).array(3)
    clear_last : In(1)  resets the last stepper, too
    """

    steps: In(Pair).array(3)
    counts: Out(8).array(3)
    inverses: Out(8).array(3)
    entries: Out(8).array(3)
    clear_last: In(1)

    def elaborate(self, platform):
        m = Module()
        stepper = Stepper(Inverter())
        clear_last = Signal()
        m.d.comb += clear_last.eq(self.clear_last | ResetSignal())
        for index in range(3):
            own = SharedModule(stepper, "stepper", reset=clear_last if index == 2 else None)
            m.submodules[f"stepper{index}"] = own
            m.d.comb += [
                own.step.eq(self.steps[index]),
                self.counts[index].eq(own.counts[0]),
                self.inverses[index].eq(own.counts[1]),
                self.entries[index].eq(own.entry),
            ]
        return m


@pytest.fixture(scope="module")
def design():
    return export_design(Steppers(), "steppers")


def test_each_module_is_written_once(design):
    assert set(design.files) == {"steppers.sv", "stepper.sv", "inverter.sv"}
    for module in ("steppers", "stepper", "inverter"):
        assert sum(text.count(f"\nmodule {module}(") for text in design.files.values()) == 1
    assert design.files["steppers.sv"].count("  stepper stepper") == 3


def test_manifest_lists_leaf_ports(design):
    manifest = json.loads(design.manifest({"preset": "tiny"}))
    assert manifest["configuration"] == {"preset": "tiny"}
    assert manifest["files"] == ["steppers.sv", "stepper.sv", "inverter.sv"]
    ports = {port["name"]: (port["direction"], port["width"]) for port in manifest["modules"]["stepper"]}
    assert ports == {
        "clk": ("input", 1),
        "rst": ("input", 1),
        "step": ("input", 8),
        "counts__0": ("output", 8),
        "counts__1": ("output", 8),
        "entry": ("output", 8),
    }


def test_equal_memory_rows_are_a_loop(design):
    contents = design.files["stepper.sv"].partition("initial begin\n")[2].partition("  end\n")[0]
    assert [line.strip() for line in contents.splitlines()] == [
        "rows[0] = 8'h07;",
        "rows[1] = 8'h09;",
        "for (int memory_row = 2; memory_row <= 31; memory_row = memory_row + 1) rows[memory_row] = 8'h00;",
    ]


@pytest.mark.parametrize("shortcuts", [True, False])
def test_text_is_the_same_in_every_process(shortcuts):
    """And by Amaranth's own functions."""
    script = (
        "import importlib.util, sys; from flashtrain.rtl.export import shortcuts;"
        f"shortcuts.VERSION = shortcuts.VERSION if {shortcuts} else '';"
        f"spec = importlib.util.spec_from_file_location('design', {str(Path(__file__))!r});"
        "design = importlib.util.module_from_spec(spec); spec.loader.exec_module(design);"
        "sys.stdout.write(design.to_systemverilog(design.Steppers(), 'steppers'))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            cwd="/",
            text=True,
            capture_output=True,
            check=True,
        ).stdout
        for hash_seed in (("1", "2", "3") if shortcuts else ("1",))
    }
    assert texts == {to_systemverilog(Steppers(), "steppers")}
    assert str(Path(__file__).parent) not in texts.pop()


def test_a_loop_has_a_name():
    m = Module()
    ahead = Signal(4)
    behind = Signal(4)
    m.d.comb += [ahead.eq(behind + 1), behind.eq(ahead)]
    with pytest.raises(CombinationalCycle, match="signal ahead bit 0"):
        export_fragment(Fragment.get(m, None), {}, "loop")


def test_files_are_lint_clean(design, tmp_path):
    files = design.write(tmp_path)
    lint(files, "steppers")
    written = [path.stat().st_mtime_ns for path in files]
    design.write(tmp_path)
    assert [path.stat().st_mtime_ns for path in files] == written


def test_lint_finds_a_loop(tmp_path):
    source = tmp_path / "loop.sv"
    source.write_text(
        "module loop(output a); wire b; assign a = ~b; assign b = a; endmodule\n", encoding="utf-8"
    )
    with pytest.raises(LintError, match="UNOPTFLAT"):
        lint([source], "loop")


def test_design_runs(simulator, seed):
    run_bench(
        Steppers(),
        "steppers",
        Path(__file__).with_name("steppers_bench.py"),
        simulator=simulator,
        seed=seed,
    )


class TwoInverters(wiring.Component):
    """Gives one module name to two objects."""

    i: In(8)
    o: Out(8)

    def __init__(self, first: Inverter, second: Inverter):
        self.inverters = first, second
        super().__init__()

    def elaborate(self, platform):
        m = Module()
        m.submodules.first = first = SharedModule(self.inverters[0], "inverter")
        m.submodules.second = second = SharedModule(self.inverters[1], "inverter")
        m.d.comb += [first.i.eq(self.i), second.i.eq(first.o), self.o.eq(second.o)]
        return m


def test_two_components_of_one_name():
    inverters = Inverter(), Inverter()
    texts = {to_systemverilog(inverter, "inverter") for inverter in inverters}
    assert len(texts) == 1
    with pytest.raises(ExportError, match="'inverter' stands for two different components"):
        export_design(TwoInverters(*inverters), "two_inverters")


class Clocked(wiring.Component):
    """Has a port that is called like the clock."""

    clk: In(1)

    def elaborate(self, platform):
        return Module()


def test_a_port_that_is_called_clk():
    with pytest.raises(ExportError, match="two ports that are called 'clk'"):
        export_design(Clocked(), "clocked")
