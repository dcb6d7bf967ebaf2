"""Fixtures of all tests."""

import gc
import random
import time
from pathlib import Path

import pytest

from flashtrain.native.build_cache import BUILD
from flashtrain.sim.bench.coverage import Plan, merge, table
from flashtrain.sim.bench.runner import Simulator

PLAN = Path(__file__).parents[1] / "docs" / "verification.md"
STARTED = pytest.StashKey[float]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", default="1", help="seed of all randomised tests (1 by default), or 'random'")
    parser.addoption("--long", type=int, default=0, metavar="COMMANDS",
                     help="also run the long random benches, of so many commands")  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    config.stash[STARTED] = time.time()
    # To elaborate makes many objects and little to collect, for which a sixth of its time went.
    gc.set_threshold(100_000, 50, 100)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what `early` marks. Leave out what `long` marks: a test, or those of its cases that have all
    these words in their names."""
    items.sort(key=lambda item: item.get_closest_marker("early") is None)
    if config.getoption("--long"):
        return
    for item in items:
        case = set(item.name.rpartition("[")[2].rstrip("]").split("-"))
        if any(case.issuperset(marker.args) for marker in item.iter_markers("long")):
            item.add_marker(pytest.mark.skip(reason="takes the better part of a minute: only with --long"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """The functional coverage of this session's benches, all together."""
    files = [
        file for file in (BUILD / "coverage").glob("*.json") if file.stat().st_mtime >= config.stash[STARTED]
    ]
    if files:
        terminalreporter.section("functional coverage (docs/verification.md)")
        for line in table(Plan.read(PLAN), merge(files)):
            terminalreporter.write_line(line)


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """Seed of a randomised test; printed with the test's output."""
    option = request.config.getoption("--seed")
    chosen = random.SystemRandom().randrange(2**31) if option == "random" else int(option)
    print(f"seed {chosen} (pytest --seed {chosen} replays it)")
    return chosen


@pytest.fixture(params=list(Simulator), ids=lambda simulator: simulator.value)
def simulator(request: pytest.FixtureRequest) -> Simulator:
    """Each simulator in turn."""
    if not request.param.available:
        pytest.skip(f"{request.param.value} is not installed: 'apt-get install iverilog' brings it")
    return request.param
