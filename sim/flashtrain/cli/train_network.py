"""Network and data of `flashtrain train`: by name, or those of the user."""

import argparse
from pathlib import Path

from flashtrain.training.data import Dataset, digits
from flashtrain.training.networks import Network
from flashtrain.training.own import fitting, load_data, try_network
from flashtrain.training.recipes import Recipe

from .known_recipe import NETWORKS, is_own
from .train_options import chosen_recipe


def add_network(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "network", nargs="?", default=argparse.SUPPRESS, metavar="NETWORK",
        help=f"{NETWORKS} (default: mlp)",
    )  # fmt: skip
    parser.add_argument("--network", metavar="NETWORK", default="mlp", help=argparse.SUPPRESS)
    add_data(parser)


def add_data(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", type=Path, metavar="FILE",
        help=".npz with train_inputs, train_targets, test_inputs, test_targets (default: digits)",
    )  # fmt: skip


def chosen_training(options: argparse.Namespace) -> tuple[Recipe, Dataset]:
    """Recipe and data of the options, which fit each other."""
    recipe = chosen_recipe(options)
    return recipe, data_for(options.network, recipe.network, options.data)


def data_for(name: str, network: Network, file: Path | None) -> Dataset:
    """Data of this file, or the digits, for the network of this name; it tries one of the user's first."""
    if file is None:
        data = fitting("the digits (--data has others)", digits(), network)
    else:
        data = load_data(file, network)
    if is_own(name):
        try_network(network, data.train)
    return data
