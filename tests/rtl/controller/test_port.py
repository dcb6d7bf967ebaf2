"""The command ports of a whole controller: with one clock, and with a system clock of its own."""

from pathlib import Path

import pytest

from flashtrain.rtl.clocks import Clocks
from flashtrain.rtl.controller import Controller, clock_domains
from flashtrain.sim.bench.runner import Simulator, run_bench
from flashtrain.sim.bench.streams import PERIOD_NS
from flashtrain.sim.verilator.verilated import exported_sources
from tests.rtl.controller.port_config import CONFIG
from tests.rtl.controller.sdr_board import PORTED, board_sources

HERE = Path(__file__).parent


@pytest.mark.usual("verilator-3.1")
@pytest.mark.icarus("refused")
@pytest.mark.parametrize("nand_period_ns", [None, 1.3, 3.1])
def test_port(simulator, seed, part, nand_period_ns):
    """nand_period_ns: of the NAND's clock, if the system has another one. Icarus needs minutes for it all."""
    run("port", simulator, seed, nand_period_ns, part)


@pytest.mark.long
def test_bring_up(simulator, seed):
    """By the Python driver, on chips of a few microseconds and on empty sockets."""
    run("bring_up", simulator, seed)


@pytest.mark.long
def test_independent_parts(simulator, seed):
    """By the Python driver, for engines with NV-DDR3. `test_sdr` has bring-up for engines with SDR."""
    run_bench(
        board_sources(PORTED),
        "sdr_board",
        HERE / "sdr_board_bench.py",
        simulator=simulator,
        seed=seed,
        delays=True,
    )


def run(
    bench: str, simulator: Simulator, seed: int, nand_period_ns: float | None = None, part: str | None = None
) -> None:
    own = None if nand_period_ns is None else 1000 / PERIOD_NS
    clocks = Clocks(CONFIG.timing.clock_mhz, own)
    what, domains = repr((CONFIG, clocks)), clock_domains(clocks)
    run_bench(
        exported_sources(lambda: Controller(CONFIG, clocks), "flashtrain", what, domains=domains),
        "flashtrain",
        HERE / f"{bench}_bench.py",
        simulator=simulator,
        seed=seed,
        parameters={"nand_period_ns": nand_period_ns},
        test_filter=part,
    )
