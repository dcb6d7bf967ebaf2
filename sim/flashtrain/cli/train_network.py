"""Network and data of `flashtrain train`: by name, or those of the user."""

import argparse
from pathlib import Path

from flashtrain.spec import ConfigError
from flashtrain.training.data import Dataset, digits
from flashtrain.training.own import fitting, load_data, load_network, try_network
from flashtrain.training.recipes import RECIPES, Recipe

from .train_options import chosen_recipe


def add_network(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(RECIPES)
    parser.add_argument(
        "network", nargs="?", default=argparse.SUPPRESS, metavar="NETWORK",
        help=f"{names}, or MODULE:NAME or FILE.py:NAME (default: mlp)",
    )  # fmt: skip
    parser.add_argument("--network", metavar="NETWORK", default="mlp", help="the same")
    parser.add_argument(
        "--data", type=Path, metavar="FILE",
        help=".npz with train_inputs, train_targets, test_inputs, test_targets (default: digits)",
    )  # fmt: skip


def chosen_training(options: argparse.Namespace) -> tuple[Recipe, Dataset]:
    """Recipe and data of the options, which fit each other."""
    own = ":" in options.network
    if not own and options.network not in RECIPES:
        raise ConfigError(
            f"network {options.network!r}: expected one of {', '.join(RECIPES)}, or MODULE:NAME for your own"
        )
    recipe = chosen_recipe(options, load_network(options.network) if own else None)
    if options.data is None:
        data = fitting("the digits (--data has others)", digits(), recipe.network)
    else:
        data = load_data(options.data, recipe.network)
    if own:
        try_network(recipe.network, data.train)
    return recipe, data
