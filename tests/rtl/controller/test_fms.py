"""The whole controller with its dies, under a host that checks all. The plan: docs/verification.md."""

from pathlib import Path

import pytest

from flashtrain.native.build_cache import BUILD
from flashtrain.sim.bench.coverage import Plan, load
from flashtrain.sim.bench.fms_top import TOP, bench_sources
from flashtrain.sim.bench.runner import Simulator, run_bench
from flashtrain.spec import FmsConfig
from tests.rtl.controller.fms_config import CONFIGS, QUICK, TINY

HERE = Path(__file__).parent

PLAN = HERE.parents[2] / "docs" / "verification.md"
FAILING_HOST = HERE.parent / "failing_host.cpp"
FIXED = {Simulator.ICARUS: QUICK, Simulator.VERILATOR: TINY}
"""The configuration of the fixed part on each simulator."""
RANDOM_COMMANDS = {Simulator.ICARUS: 45, Simulator.VERILATOR: 160}


def run(
    bench: str,
    simulator: Simulator,
    seed: int,
    config: FmsConfig,
    commands: int = 0,
    nand_periods_ps: tuple[int, ...] = (),
    rates: Path | None = None,
    **design,
) -> set[str]:
    """Run a bench; the points of the plan that it has hit.

    nand_periods_ps, rates: see `fms_helpers`. `design`: see `FmsSystem`.
    """
    coverage = (BUILD / "coverage" / f"{bench}-{simulator.value}-{config.name}.json").resolve()
    coverage.unlink(missing_ok=True)
    run_bench(
        bench_sources(config, simulator, FAILING_HOST, **design),
        TOP,
        HERE / f"{bench}_bench.py",
        simulator=simulator,
        seed=seed,
        parameters={
            "config": config.name, "commands": commands, "plan": str(PLAN), "coverage": str(coverage),
            "nand_periods_ps": nand_periods_ps, "rates": str(rates),
        },
    )  # fmt: skip
    return set(load(coverage))


@pytest.mark.usual(
    "verilator-commands",
    "verilator-data",
    "verilator-queues",
    "verilator-random",
    "verilator-reset",
    "verilator-zones",
)
@pytest.mark.parametrize("bench", ("data", "commands", "zones", "queues", "reset", "random"))
def test_fms(bench: str, simulator: Simulator, seed: int) -> None:
    hits = run(bench, simulator, seed, FIXED[simulator], RANDOM_COMMANDS[simulator])
    Plan.read(PLAN).check(bench, hits)


@pytest.mark.usual("verilator")
def test_fms_faults(simulator: Simulator, seed: int) -> None:
    """On Icarus the bad block is a part of the design; on Verilator the bench names it to the arrays."""
    design = {"bad_block": 1, "bad_planes": 0b01} if simulator is Simulator.ICARUS else {}
    hits = run("faults", simulator, seed, FIXED[simulator], **design)
    Plan.read(PLAN).check("faults", hits)


@pytest.mark.parametrize("name", CONFIGS)
def test_fms_long(name: str, seed: int, request: pytest.FixtureRequest) -> None:
    """Random commands on other devices, too; as many as wanted."""
    commands = request.config.getoption("--long")
    if not commands:
        pytest.skip("only with --long COMMANDS")
    run("random", Simulator.VERILATOR, seed, CONFIGS[name], commands)
