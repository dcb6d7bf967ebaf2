"""The whole controller with its dies, under a host that checks all. The plan: docs/verification.md."""

import sys
from pathlib import Path

import pytest

from flashtrain.sim.bench.coverage import Plan, load
from flashtrain.sim.bench.fms_top import TOP, bench_sources
from flashtrain.sim.build_cache import BUILD
from flashtrain.sim.runner import Simulator, run_bench

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from fms_config import CONFIG  # noqa: E402

PLAN = HERE.parents[2] / "docs" / "verification.md"
BENCHES = ("data", "commands", "zones", "queues", "reset", "random")
RANDOM_COMMANDS = {Simulator.ICARUS: 45, Simulator.VERILATOR: 300}


def run(bench: str, simulator: Simulator, seed: int, commands: int, part: str) -> None:
    coverage = (BUILD / "coverage" / f"{bench}-{simulator.value}-{part}.json").resolve()
    coverage.unlink(missing_ok=True)
    run_bench(
        bench_sources(CONFIG, simulator),
        TOP,
        HERE / f"{bench}_bench.py",
        simulator=simulator,
        seed=seed,
        parameters={"plan": str(PLAN), "coverage": str(coverage), "commands": commands},
    )
    Plan.read(PLAN).check(bench, load(coverage))


@pytest.mark.parametrize("bench", BENCHES)
def test_fms(bench: str, simulator: Simulator, seed: int) -> None:
    run(bench, simulator, seed, RANDOM_COMMANDS[simulator], "fixed")


def test_fms_long(simulator: Simulator, seed: int, request: pytest.FixtureRequest) -> None:
    commands = request.config.getoption("--long")
    if not commands:
        pytest.skip("only with --long COMMANDS")
    run("random", simulator, seed, commands, "long")
