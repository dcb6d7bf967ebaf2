"""The recipe of a network that an option names: one of the tree's, or one of the user's."""

from flashtrain.spec import ConfigError
from flashtrain.training.optimizers import OPTIMIZERS
from flashtrain.training.own import load_network
from flashtrain.training.recipes import RECIPES, Recipe

OWN_BATCH, OWN_ITERATIONS = 32, 100
NETWORKS = f"{', '.join(RECIPES)}, or MODULE:NAME or FILE.py:NAME"
"""All that an option for a network takes, for its help."""


def is_own(name: str) -> bool:
    """Whether this is a network of the user."""
    return ":" in name


def known_recipe(name: str) -> Recipe:
    """The recipe by the name of its network; :class:`ConfigError` if there is none."""
    if is_own(name):
        return Recipe(load_network(name), OPTIMIZERS["adam"], OWN_BATCH, OWN_ITERATIONS)
    if name not in RECIPES:
        raise ConfigError(
            f"network {name!r}: expected one of {', '.join(RECIPES)}, or MODULE:NAME for your own"
        )
    return RECIPES[name]
