"""The units of `flashtrain.rtl.host_if`, each with its bench."""

from dataclasses import replace
from pathlib import Path

import pytest

from flashtrain.rtl.host_if.command_tracker import CommandTracker
from flashtrain.rtl.host_if.counters import Counters
from flashtrain.rtl.host_if.decode import Decoder
from flashtrain.rtl.host_if.enable import EnableSequencer
from flashtrain.rtl.host_if.register_file import RegisterFile
from flashtrain.rtl.host_if.seconds import Seconds
from flashtrain.rtl.host_if.stopwatch import Stopwatch
from flashtrain.sim.bench.runner import Simulator, run_bench
from flashtrain.spec import preset
from tests.configurations import configuration


def run(top, name: str, simulator: Simulator, seed: int, part: str | None = None, **parameters):
    bench = Path(__file__).with_name(f"{name}_bench.py")
    run_bench(top, name, bench, simulator=simulator, seed=seed, parameters=parameters, test_filter=part)


@pytest.mark.usual(
    "icarus-tiny", "verilator-tiny", "verilator-tiny_codec", "verilator-tiny_ecc", "verilator-tiny_parts"
)
@pytest.mark.icarus("four_cycles|transfer_error")
@pytest.mark.parametrize(
    "preset_name",
    ["tiny", "behemoth", "tiny_ecc", "behemoth_ecc", "tiny_codec", "behemoth_codec", "tiny_parts"],
)
def test_decoder(simulator, seed, part, preset_name):
    entries = 1_000 if simulator is Simulator.ICARUS else 8_000
    run(
        Decoder(configuration(preset_name)),
        "decoder",
        simulator,
        seed,
        part,
        preset=preset_name,
        entries=entries,
    )


@pytest.mark.one_simulator
@pytest.mark.parametrize("codec", [False, True], ids=["raw", "codec"])
def test_tracker(simulator, seed, codec):
    config = replace(preset("tiny_ecc"), codec=codec)
    run(CommandTracker(config), "tracker", simulator, seed, codec=codec)


@pytest.mark.one_simulator
def test_stopwatch(simulator, seed):
    run(Stopwatch(preset("tiny")), "stopwatch", simulator, seed)


@pytest.mark.one_simulator
def test_seconds(simulator, seed):
    run(Seconds(250), "seconds", simulator, seed, cycles=250)


@pytest.mark.one_simulator
def test_enable(simulator, seed):
    run(EnableSequencer(), "enable_sequencer", simulator, seed)


@pytest.mark.one_simulator
def test_counters(simulator, seed):
    run(Counters(), "counters", simulator, seed)


@pytest.mark.one_simulator
@pytest.mark.parametrize("command_port", [False, True], ids=["plain", "port"])
@pytest.mark.parametrize("preset_name", ["tiny", "behemoth"])
def test_registers(simulator, seed, preset_name, command_port):
    config = replace(preset(preset_name), command_port=command_port)
    run(RegisterFile(config), "registers", simulator, seed, preset=preset_name, command_port=command_port)
