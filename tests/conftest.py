"""Fixtures of all tests."""

import random

import pytest

from flashtrain.sim.runner import Simulator


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", type=int, help="seed of all randomised tests, to replay a run")


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """Seed of a randomised test; printed with the test's output."""
    chosen = request.config.getoption("--seed")
    if chosen is None:
        chosen = random.SystemRandom().randrange(2**31)
    print(f"seed {chosen} (pytest --seed {chosen} replays it)")
    return chosen


@pytest.fixture(params=list(Simulator), ids=lambda simulator: simulator.value)
def simulator(request: pytest.FixtureRequest) -> Simulator:
    """Each simulator in turn."""
    if not request.param.available:
        pytest.skip(f"{request.param.value} is not installed: 'apt-get install iverilog' brings it")
    return request.param
