"""Fixtures of the tests with random and mutated commands."""

from collections.abc import Callable

import pytest

from flashtrain.attack.fuzz import Fuzz, Tally
from flashtrain.host import FunctionalLink, LinkFactory
from flashtrain.spec import preset

Attack = Callable[..., Tally]


@pytest.fixture
def attack(seed: int) -> Attack:
    """Runs so many commands of the seed on devices behind these Links, by default the functional model."""

    def run(commands: int, links: dict[str, LinkFactory] | None = None, patience: float = 0.0) -> Tally:
        links = links or {"functional": FunctionalLink}
        tally = Fuzz(preset("tiny"), links, seed, patience).run(commands, lambda tally: None)
        print(tally)
        return tally

    return run
