"""Fixtures of all tests."""

import gc
import os
import random
import resource
import time
from pathlib import Path

import pytest

from flashtrain.native.build_cache import BUILD
from flashtrain.sim.bench.coverage import Plan, merge, table
from flashtrain.sim.bench.parameters import set_long
from flashtrain.sim.bench.runner import Simulator

PLAN = Path(__file__).parents[1] / "docs" / "verification.md"
STARTED = pytest.StashKey[float]()
KEPT = pytest.StashKey[int]()
MOST_GARBAGE = 200 << 20
"""Bytes of memory before garbage is collected: a device and its Link refer to each other."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", default="1", help="seed of all randomised tests (1 by default), or 'random'")
    parser.addoption("--long", type=int, default=0, metavar="COMMANDS",
                     help="also run the long random benches, of so many commands")  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    config.stash[STARTED] = time.time()
    config.stash[KEPT] = 0
    set_long(os.environ, bool(config.getoption("--long")))
    # With these, pytest shows differences whole: for two arrays of some MiB it works for hours.
    for name in ("CI", "BUILD_NUMBER"):
        os.environ.pop(name, None)
    # To elaborate makes many objects and little to collect, for which a sixth of its time went.
    gc.set_threshold(100_000, 50, 100)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what `early` marks. Leave out what `long` marks, and cases that are not `usual`.

    What `one_simulator` marks runs on the first one that is installed.
    """
    items.sort(key=lambda item: item.get_closest_marker("early") is None)
    if config.getoption("--long"):
        return
    unknown = {(function_of(item), case) for item in items for case in usual_cases(item) or ()}
    for item in items:
        usual, case = usual_cases(item), case_of(item)
        unknown.discard((function_of(item), case))
        if item.get_closest_marker("long") or (usual is not None and case not in usual) or is_second(item):
            item.add_marker(pytest.mark.skip(reason="only with --long"))
    if unknown and not any("::" in argument for argument in config.args):
        raise pytest.UsageError(f"a marker `usual` names cases that do not exist: {sorted(unknown)}")


def pytest_collection_finish(session: pytest.Session) -> None:
    """No collection of garbage looks at what has been imported, and at the tests."""
    gc.freeze()


def function_of(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def case_of(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[2].rstrip("]")


def usual_cases(item: pytest.Item) -> tuple[str, ...] | None:
    """The cases of a test that run without `--long`; None for all of them."""
    marker = item.get_closest_marker("usual")
    return None if marker is None else marker.args


def is_second(item: pytest.Item) -> bool:
    """Whether one simulator is enough for the test, and another one than that of this case is there."""
    if item.get_closest_marker("one_simulator") is None:
        return False
    assert isinstance(item, pytest.Function)
    return item.callspec.params["simulator"] is not next(one for one in Simulator if one.available)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    if resident_bytes() > item.config.stash[KEPT] + MOST_GARBAGE:
        gc.collect()
        item.config.stash[KEPT] = resident_bytes()


def resident_bytes() -> int:
    """The memory of this process; 0 where the system does not say it as Linux does."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text(encoding="ascii").split()[1]) * resource.getpagesize() if statm.exists() else 0


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


@pytest.fixture
def part(request: pytest.FixtureRequest, simulator: Simulator) -> str | None:
    """The tests of a bench that run, as a regular expression; None for all. `icarus` marks those on Icarus.

    Icarus is there for X and for resets, and simulates some thousand cycles a second.
    """
    marker = request.node.get_closest_marker("icarus")
    if simulator is Simulator.VERILATOR or marker is None:
        return None
    (usual,) = marker.args
    return marker.kwargs.get("long") if request.config.getoption("--long") else usual
