"""The files of an export: plain text, lists in order, a FuseSoC core, constraints and a manifest."""

import json
import re
from pathlib import Path

import yaml

from flashtrain.rtl.clocks import Clocks
from flashtrain.sim.integration.constraints import controller_constraints, period

ROOT = Path(__file__).parents[3]
CORE_FIELDS = {"CAPI=2", "name", "description", "filesets", "targets"}
TARGET_FIELDS = {"description", "filesets", "toplevel", "flow", "flow_options"}
FILE_TYPES = {"systemVerilogSource", "cppSource", "SDC", "xdc", "LPF", "vlt"}


def generated(package):
    """Text that is generated from the design, without the hand-written models."""
    return {file.path: file.text for file in package.files if file.path.startswith("rtl/")}


def test_no_name_is_escaped(package):
    for path, text in generated(package).items():
        assert "\\" not in text, path
        assert "[-1:0]" not in text, path


def test_each_module_names_its_source(package):
    text = package.texts["rtl/flashtrain_front_end.sv"]
    assert "\n// ZoneManager, hw/flashtrain/rtl/zones/manager.py\n" in text
    modules = re.findall(r"(?:^// .*\n)*^module (\w+)", text, re.MULTILINE)
    commented = re.findall(r"^// \w+, \S+\n(?:// .*\n)*module (\w+)", text, re.MULTILINE)
    assert len(modules) > 50
    # The rest are memories and helpers that Amaranth's library makes without a component.
    assert len(commented) >= 0.9 * len(modules), set(modules) - set(commented)


def test_sources_of_modules_exist(package):
    for path, text in generated(package).items():
        for source in re.findall(r"^// \w+, (\S+/\S+)$", text, re.MULTILINE):
            assert (ROOT / source).is_file(), (path, source)


def test_nothing_is_of_this_machine(package, folder):
    text = "".join(package.texts.values())
    assert str(ROOT) not in text
    assert str(folder) not in text


def test_lint(package):
    """Of one clock; a test of the simulation lints the rest."""
    package.check()


def test_lists_name_files_in_order(package, folder):
    rtl = package.texts["flashtrain.f"].split()
    assert rtl[-1] == "rtl/flashtrain_axi.sv"
    simulation = package.texts["flashtrain_sim.f"].split()
    assert simulation[: len(rtl)] == rtl
    assert simulation[-1] == "sim/flashtrain_tb.sv"
    assert len(set(simulation)) == len(simulation)
    assert all((folder / name).is_file() for name in simulation)
    # A module stands before those that instantiate it.
    seen = ""
    for name in rtl:
        text = (folder / name).read_text(encoding="utf-8")
        for module in re.findall(r"^  (flashtrain\w*) \w+ \($", text, re.MULTILINE):
            assert f"\nmodule {module}" in seen + text, (name, module)
        seen += text


def test_core(package, folder):
    """Fields that CAPI2 has with flows; FuseSoC 2.4 took the same text without a warning."""
    text = package.texts["flashtrain.core"]
    assert text.startswith("CAPI=2:\n")
    core = yaml.safe_load(text)
    assert set(core) == CORE_FIELDS
    for name, target in core["targets"].items():
        assert set(target) <= TARGET_FIELDS, name
        assert set(target["filesets"]) <= set(core["filesets"]), name
        assert re.search(rf"^module {target['toplevel']}\b", "".join(package.texts.values()), re.MULTILINE)
    for fileset in core["filesets"].values():
        for entry in fileset["files"]:
            ((path, attributes),) = entry.items()
            assert (folder / path).is_file()
            assert attributes["file_type"] in FILE_TYPES


def test_manifest(package):
    manifest = json.loads(package.texts["flashtrain.json"])
    assert manifest["tops"]["wrapper"] == "flashtrain_axi"
    assert [file["path"] for file in manifest["files"]] == [file.path for file in package.files]
    clocks = {
        (clock["module"], clock.get("port", clock.get("signal"))): clock for clock in manifest["clocks"]
    }
    assert clocks["flashtrain_axi", "aclk"]["mhz"] == 600
    derived = clocks["flashtrain_die", "updater.sequencer.clock"]
    assert (derived["mhz"], derived["divided_by"]) == (150, 4)
    assert {reset["port"]: reset["active"] for reset in manifest["resets"]} == {
        "aresetn": "low",
        "rst": "high",
    }
    bundles = {bundle["prefix"]: bundle for bundle in manifest["bundles"]}
    assert set(bundles) == {"m_axi_data", "m_axi_queue", "s_axil_regs", "irq", "nand0", "nand1"}
    pins = {pin["name"]: (pin["direction"], pin["width"]) for pin in bundles["m_axi_data"]["pins"]}
    assert pins["m_axi_data_rdata"] == ("input", 32)
    assert pins["m_axi_data_awcache"] == ("output", 4)
    ports = {port["name"]: port["width"] for port in manifest["modules"]["flashtrain"]}
    assert ports["data__rdata"] == 32
    assert manifest["memories"][0] == {
        "path": "flashtrain_channel/write_buffer/memory", "copies": 2, "rows": 768, "bits": 32,
    }  # fmt: skip
    assert manifest["configuration"]["timing"]["tprog"] == [1, 4000]


def test_the_divided_clock_of_a_die_has_a_register(package):
    """The constraint and the manifest name it."""
    text = package.texts["rtl/flashtrain_die.sv"]
    assert re.search(r"^  flashtrain_die__updater updater \(", text, re.MULTILINE)
    assert re.search(r"^  flashtrain_die__updater__sequencer sequencer \(", text, re.MULTILINE)
    module = text.partition("\nmodule flashtrain_die__updater__sequencer(")[2].partition("endmodule")[0]
    assert re.search(r"output reg +clock\b", module)
    assert "clock <=" in module


def test_constraints():
    one = controller_constraints("flashtrain_axi", "x", Clocks(600))
    assert "create_clock -name aclk -period 1.666 [get_ports aclk]" in one
    assert "nand_clk" not in one
    two = controller_constraints("flashtrain_axi", "x", Clocks(600, 250.0))
    assert "create_clock -name aclk -period 4.000 [get_ports aclk]" in two
    assert "create_clock -name nand_clk -period 1.666 [get_ports nand_clk]" in two
    assert two.count("set_max_delay 1.666 ") == 2
    assert float(period(333)) <= 1000 / 333
