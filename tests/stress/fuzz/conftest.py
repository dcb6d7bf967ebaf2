"""Fixtures of the tests with random and mutated commands."""

from collections.abc import Callable

import pytest

from flashtrain.host import FunctionalLink, LinkFactory
from flashtrain.stress.fuzz import Fuzz, Tally
from tests.configurations import configuration

Attack = Callable[..., Tally]


@pytest.fixture
def attack(seed: int) -> Attack:
    """Runs so many commands of the seed on devices behind these Links, by default the functional model."""

    def run(
        commands: int,
        links: dict[str, LinkFactory] | None = None,
        minimising_seconds: float = 0.0,
        name: str = "tiny",
    ) -> Tally:
        links = links or {"functional": FunctionalLink}
        tally = Fuzz(configuration(name), links, seed, minimising_seconds).run(commands, lambda tally: None)
        print(tally)
        return tally

    return run
