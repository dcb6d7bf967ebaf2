"""The model of an SDR NAND part that docs/verification.md describes: values, times and careless hosts."""

import subprocess
from pathlib import Path

import pytest

from flashtrain.rtl.export.tools import verilator_binary, verilator_environment
from flashtrain.sim.bench.runner import Simulator, run_bench
from tests.parts.sdr_sources import PART

HERE = Path(__file__).parent
BUS = [*PART, HERE / "sdr" / "sdr_bus.sv"]


def run(bench: str, simulator: Simulator, seed: int, **options):
    return run_bench(BUS, "sdr_bus", HERE / bench, simulator=simulator, seed=seed, delays=True, **options)


def test_times(simulator, seed):
    run("sdr_times_bench.py", simulator, seed)


@pytest.mark.icarus(r"^(?!.*(whole_page|wrong_bits|random_operations))")
def test_commands(simulator, seed, part, request):
    operations = max(60, request.config.getoption("--long"))
    run("sdr_part_bench.py", simulator, seed, test_filter=part, parameters={"operations": operations})


@pytest.mark.usual("icarus")
def test_luns(simulator, seed):
    """Two LUNs behind one chip enable."""
    run_bench(
        [*PART, HERE / "sdr" / "sdr_luns.sv"],
        "sdr_luns",
        HERE / "sdr_luns_bench.py",
        simulator=simulator,
        seed=seed,
        delays=True,
    )


def test_storms(seed, request):
    """Random cycles on each part, with the same answers in all simulators."""
    actions = max(300, request.config.getoption("--long"))
    digests = {}
    for simulator in filter(lambda each: each.available, Simulator):
        report = run("sdr_storm_bench.py", simulator, seed, parameters={"actions": actions})
        digests[simulator] = sorted(
            file.read_text(encoding="ascii") for file in report.folder.glob("*.digest")
        )
        assert len(digests[simulator]) == 2
    assert len(set(map(tuple, digests.values()))) == 1, digests


def test_no_simulator_warns(simulator):
    """Of the part alone, with its default parameters."""
    command = (
        ["iverilog", "-g2012", "-Wall", "-o", "/dev/null"]
        if simulator is Simulator.ICARUS
        else [str(verilator_binary()), "--lint-only", "--timing", "-Wall", "--top-module"]
    )
    environment = None if simulator is Simulator.ICARUS else verilator_environment()
    top = ["-s", "sdr_part"] if simulator is Simulator.ICARUS else ["sdr_part"]
    done = subprocess.run([*command, *top, *PART], env=environment, text=True, capture_output=True)
    assert (done.returncode, done.stderr) == (0, "")
