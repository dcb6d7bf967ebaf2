"""The controller with a system clock of its own."""

import json
import re

import pytest
from amaranth.hdl import Fragment

from flashtrain.rtl.clocks import Clocks
from flashtrain.rtl.controller import Controller, clock_domains
from flashtrain.rtl.crossing.channel_crossing import CHANNELS, FRONT, ChannelCrossing
from flashtrain.rtl.crossing.data_crossing import DataCrossing
from flashtrain.rtl.export.readable import readable
from flashtrain.rtl.export.synchronisers import ATTRIBUTES
from flashtrain.rtl.export.systemverilog import export_design, lint
from flashtrain.sim.bench.runner import Simulator
from flashtrain.sim.bench.streams import PERIOD_NS
from flashtrain.spec import preset
from flashtrain.spec.errors import ConfigError
from flashtrain.spec.presets import PRESETS
from tests.rtl.controller.fms_config import QUICK, QUICK_PRESETS, STEADY, TINY
from tests.rtl.controller.test_fms import run

CLOCKS = Clocks(600, 1000 / PERIOD_NS)
"""The system's clock is that of all benches. The NAND's clock has another ratio in each test."""
ANY_RATIO = 700, 6_000


@pytest.mark.long
def test_random_commands(simulator, seed):
    """Data and statuses are those of the functional model, as they are with one clock."""
    config, commands = (QUICK, 12) if simulator is Simulator.ICARUS else (TINY, 400)
    run("random", simulator, seed, config, commands, ANY_RATIO, clocks=CLOCKS)


@pytest.mark.long
@pytest.mark.parametrize("config", QUICK_PRESETS, ids=lambda config: config.name)
def test_random_commands_on_each_preset(config, seed, request):
    """As `test_fms_long` with one clock: data and statuses are those of the functional model."""
    commands = request.config.getoption("--long")
    run("random", Simulator.VERILATOR, seed, config, commands, ANY_RATIO, clocks=CLOCKS)


@pytest.mark.long
@pytest.mark.parametrize("bench", ["data", "commands", "zones", "queues", "reset"])
def test_each_bench(bench, seed):
    run(bench, Simulator.VERILATOR, seed, TINY, 0, ANY_RATIO, clocks=CLOCKS)


@pytest.mark.long
def test_rates(seed, tmp_path):
    """The slower of port and bus sets the rate."""
    bytes_per_cycle = STEADY.data_bytes  # of the port; all buses together have as many
    rows = []
    for period_ps in (0, 1_000, 1_500, 2_006, 3_000, 5_000):
        file = tmp_path / "rates.json"
        clocks = {"nand_periods_ps": (period_ps, period_ps), "clocks": CLOCKS} if period_ps else {}
        run("rate", Simulator.VERILATOR, seed, STEADY, rates=file, **clocks)
        rates = json.loads(file.read_text(encoding="utf-8"))
        ratio = period_ps / 1000 / PERIOD_NS if period_ps else 1
        rows.append((ratio, min(1, ratio) * bytes_per_cycle, rates["ZONE_APPEND"], rates["READ"]))
    print("system / NAND clock   bound   append   read   bytes per cycle of the NAND")
    for ratio, bound, append, read in rows:
        print(f"{ratio:19.3f} {bound:7.2f} {append:8.2f} {read:6.2f}")
    one_clock = rows[0]
    for row in rows[1:]:
        for rate, alone in zip(row[2:], one_clock[2:], strict=True):
            assert min(0.97 * alone, 0.9 * row[1]) <= rate <= row[1], row


@pytest.mark.usual("tiny", "small_ecc", "small_codec", "behemoth_codec")
@pytest.mark.parametrize("name", PRESETS)
def test_each_preset(name):
    config = preset(name)
    assert Fragment.get(Controller(config, Clocks(config.timing.clock_mhz, 250.0)), None)


@pytest.mark.parametrize("name", ["tiny_codec", "behemoth_wide"])
def test_the_crossings_are_lint_clean(name, tmp_path):
    for unit in (ChannelCrossing(preset(name)), DataCrossing(preset(name))):
        files = export_design(unit, "crossing", (FRONT, CHANNELS)).write(tmp_path)
        lint(files, "crossing")


def test_each_synchroniser_has_its_attributes():
    design = readable(export_design(ChannelCrossing(TINY), "crossing", (FRONT, CHANNELS)))
    text = design.files["crossing.sv"]
    registers = re.findall(r"((?:^  \(\* .* \*\)\n)*)^  reg \[.*\] stages\b", text, re.MULTILINE)
    # Two for each handshake, one for a level, two pointers and a reset for a FIFO.
    assert len(registers) == 2 * 7 + 2 + 3
    for attributes in registers:
        assert all(f"(* {name} = " in attributes for name in ATTRIBUTES), attributes


@pytest.mark.parametrize("mhz", [0.0, -250.0, 0.01, 20_000.0, float("nan"), float("inf")])
def test_a_clock_that_cannot_be(mhz):
    with pytest.raises(ConfigError, match=r"system clock: .* MHz; expected 1 to 5,000 MHz"):
        Clocks(600, mhz)


def test_domains():
    assert clock_domains(Clocks(600)) == ("sync",)
    assert clock_domains(CLOCKS) == ("sync", "nand")
