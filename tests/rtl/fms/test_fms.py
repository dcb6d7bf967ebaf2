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
RANDOM_COMMANDS = {Simulator.ICARUS: 45, Simulator.VERILATOR: 300}


def run(
    bench: str, simulator: Simulator, seed: int, *, commands: int = 0, part: str = "fixed", **design
) -> None:
    """Run a bench, and check that it has hit its points of the plan. `design`: see `bench_sources`."""
    coverage = (BUILD / "coverage" / f"{bench}-{simulator.value}-{part}.json").resolve()
    coverage.unlink(missing_ok=True)
    run_bench(
        bench_sources(CONFIG, simulator, **design),
        TOP,
        HERE / f"{bench}_bench.py",
        simulator=simulator,
        seed=seed,
        parameters={"plan": str(PLAN), "coverage": str(coverage), "commands": commands},
    )
    Plan.read(PLAN).check(bench, load(coverage))


@pytest.mark.parametrize("bench", ("data", "commands", "zones", "queues", "reset"))
def test_fms(bench: str, simulator: Simulator, seed: int) -> None:
    run(bench, simulator, seed)


def test_fms_random(simulator: Simulator, seed: int) -> None:
    run("random", simulator, seed, commands=RANDOM_COMMANDS[simulator])


def test_fms_faults(seed: int) -> None:
    """A design of its own: on Icarus, which compiles it in a second."""
    if not Simulator.ICARUS.available:
        pytest.skip("icarus is not installed")
    run("faults", Simulator.ICARUS, seed, bad_block=1, bad_planes=0b01)


def test_fms_long(simulator: Simulator, seed: int, request: pytest.FixtureRequest) -> None:
    commands = request.config.getoption("--long")
    if not commands:
        pytest.skip("only with --long COMMANDS")
    run("random", simulator, seed, commands=commands, part="long")
