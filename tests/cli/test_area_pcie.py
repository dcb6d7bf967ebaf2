"""`flashtrain area pcie`: what is measured."""

import json

from flashtrain.cli.main import main
from flashtrain.sim.synthesis.synthesis import Area

from .area_tools import replace_tools

LUTS = {
    "pcie_function": 2_496, "pcie_registers": 10, "pcie_queues": 20, "pcie_coalescer": 12,
    "pcie_mailbox": 15, "pcie_buffer": 25, "pcie_walker": 30, "pcie_port": 40, "pcie_wide_port": 45,
    "pcie_translator": 50, "pcie_mover": 60, "pcie_device_queue": 70, "pcie_device_registers": 80,
    "pcie_namespaces": 90, "pcie_front_end": 5_000,
}  # fmt: skip


def test_the_function_and_its_units_are_measured(capsys, monkeypatch):
    replace_tools(
        monkeypatch,
        lambda component, name, target: Area(lut=LUTS[name], memory_lut=4),
        clocks=lambda name, seed: 100.0,
    )
    assert main(["area", "pcie", "--no-clock", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {key: part["lut6"] for key, part in found["parts"].items()} == {
        key: count + 4 for key, count in LUTS.items()
    }
    assert main(["area", "pcie", "--no-clock"]) == 0
    assert "the whole function has 2,500 LUT6, 5% of" in capsys.readouterr().out


def test_a_path_that_is_too_deep(capsys, monkeypatch):
    replace_tools(
        monkeypatch,
        lambda component, name, target: Area(lut=1),
        clocks=lambda name, seed: 100.0,
        depth_of=lambda name: 10.1 if name == "pcie_walker" else 10.0,
    )
    assert main(["area", "pcie", "--no-clock"]) == 1
    assert "10.1" in capsys.readouterr().out
