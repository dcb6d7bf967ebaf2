"""`flashtrain codec`: the window code of activations beside other codes."""

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from functools import reduce
from operator import add
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flashtrain.perf.codec.activations import saved_activations
from flashtrain.perf.codec.alternatives import ALTERNATIVES, ZSTD
from flashtrain.perf.codec.array_file import arrays_of
from flashtrain.perf.codec.ratios import TensorRatios, tensor_ratios, together, with_raw
from flashtrain.perf.codec.scaled import FORMATS, dense_ratio, scaled_sizes
from flashtrain.spec import ConfigError
from flashtrain.spec.codec import PAGE_SIZES
from flashtrain.training.recipes import RECIPES

from .command import Command, add_json, add_seed, at_least_one, at_least_zero
from .console import Console, table
from .known_recipe import NETWORKS, known_recipe
from .train_network import add_data, data_for

BATCH = 1024
COLUMNS = {
    "BF16": "BF16",
    "zeros out, 16 bits": "no zeros",
    "Huffman": "Huffman",
    "zstd": "zstd",
    "bound": "bound",
    "ROUND16": "ROUND16",
    "zeros out, FP32": "FP32: no zeros",
    "WINDOW32": "WINDOW32",
}
"""Codes in the order of the columns, and their headings."""
BF16_COLUMNS = {
    "zeros out, 16 bits": "no zeros",
    "Huffman": "Huffman",
    "zstd": "zstd",
    "bound": "bound",
    "ROUND16": "WINDOW16",
}
"""The same of tensors in BF16: WINDOW16 of these has the pages of ROUND16 of FP32."""
AGAINST = {"FP32": (4, COLUMNS), "BF16": (2, BF16_COLUMNS)}
"""Bytes of an element of the tensors, and the columns."""
NO_ZSTD = "zstd: left out, the package zstandard is not installed"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    ratios = actions.add_parser("ratios", help="sizes of activations in each code")
    _add_sources(ratios)
    ratios.add_argument(
        "--against", choices=list(AGAINST), default="FP32",
        help="format of the tensors that are stored (default: FP32)",
    )  # fmt: skip
    ratios.set_defaults(action=_ratios)
    scaled = actions.add_parser("scaled", help="activations in MXFP8: what a window code would save")
    _add_sources(scaled)
    scaled.set_defaults(action=_scaled)


def _add_sources(parser: argparse.ArgumentParser) -> None:
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--network", action="append", metavar="NETWORK",
        help=f"activations of {NETWORKS}; may come several times (default: all)",
    )  # fmt: skip
    source.add_argument(
        "--file", type=Path, action="append", metavar="FILE",
        help="float32 arrays of a .npy or .npz file instead; may come several times",
    )  # fmt: skip
    add_data(parser)
    parser.add_argument(
        "--iterations", type=at_least_zero, metavar="N", help="of training before (default: the recipe's)"
    )
    parser.add_argument(
        "--batch", type=at_least_one, metavar="N",
        help=f"examples whose activations are saved (default: {BATCH})",
    )  # fmt: skip
    parser.add_argument(
        "--page-bytes", type=int, choices=PAGE_SIZES, default=4096, help="of stored pages (default: 4096)"
    )
    add_seed(parser, default=0, what="of weights and batches")
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    return options.action(options, console)


def _ratios(options: argparse.Namespace, console: Console) -> int:
    _require_networks(options)
    codes, size = [code for code in ALTERNATIVES if ZSTD or code != "zstd"], AGAINST[options.against][0]
    documents: list[dict[str, object]] = []
    console.say(f"bytes of {options.against} per byte in each code; pages of {options.page_bytes} bytes")
    for title, arrays in _sources(options, console):
        floats = {name: array for name, array in arrays.items() if array.dtype == np.float32}
        raw = [array.nbytes for name, array in arrays.items() if name not in floats]
        tensors = [tensor_ratios(name, a, options.page_bytes, codes) for name, a in floats.items()]
        totals = [together("all", tensors)]
        if raw and options.against == "FP32":
            totals.append(with_raw("all, masks raw", totals[0], raw))
        console.say(f"\n{_table(title, [*tensors, *totals], options.against)}")
        documents.append({
            "source": title, "raw_bytes": sum(raw),
            "tensors": [row.document(size) for row in tensors],
            "totals": [row.document(size) for row in totals],
        })  # fmt: skip
    if not ZSTD:
        console.say(f"\n{NO_ZSTD}")
    console.document({"page_bytes": options.page_bytes, "zstd": ZSTD, "sources": documents})
    return 0


def _scaled(options: argparse.Namespace, console: Console) -> int:
    _require_networks(options)
    dense = ", ".join(f"{dense_ratio(form):.3f} of {name}" for name, form in FORMATS.items())
    console.say(
        f"bytes of MXFP8 per byte in a window code, in pages of {options.page_bytes} bytes, and its bound;"
        f" without zeros at most {dense}"
    )
    rows: list[tuple[str, ...]] = []
    documents: list[dict[str, object]] = []
    for title, arrays in _sources(options, console):
        floats = [array for array in arrays.values() if array.dtype == np.float32]
        sizes = {
            name: reduce(add, (scaled_sizes(array, form, options.page_bytes) for array in floats))
            for name, form in FORMATS.items()
        }
        figures = (f"{value:.3f}" for each in sizes.values() for value in (each.ratio, each.bound))
        zeros = "/".join(f"{each.zeros / each.elements:.0%}" for each in sizes.values())
        rows.append((title, f"{next(iter(sizes.values())).bytes / 1e6:.2f}", zeros, *figures))
        documents.append({"source": title, "formats": {name: asdict(each) for name, each in sizes.items()}})
    columns = (f"{name}{what}" for name in FORMATS for what in ("", " bound"))
    console.say(f"\n{table(('network', 'MB', 'zeros', *columns), rows)}")
    console.document({"page_bytes": options.page_bytes, "sources": documents})
    return 0


def _require_networks(options: argparse.Namespace) -> None:
    """Arrays of files take no training. Raises `ConfigError` for its options beside `--file`."""
    for option in ("iterations", "batch", "data"):
        if options.file and getattr(options, option) is not None:
            raise ConfigError(f"--{option}: expected with --network only, got it with --file")


def _sources(options: argparse.Namespace, console: Console) -> Iterator[tuple[str, dict[str, NDArray]]]:
    """Names and arrays, each read or computed when it is needed."""
    if options.file:
        for path in options.file:
            yield path.name, dict(arrays_of(path))
        return
    for name in options.network or RECIPES:
        recipe = known_recipe(name)
        data = data_for(name, recipe.network, options.data)
        iterations = recipe.iterations if options.iterations is None else options.iterations
        console.step(f"training {name}: {iterations} iterations")
        yield (
            recipe.network.name,
            saved_activations(recipe, data, iterations, options.batch or BATCH, options.seed),
        )


def _table(title: str, rows: list[TensorRatios], against: str) -> str:
    size, headings = AGAINST[against]
    codes = [code for code in headings if code in (*rows[0].alternatives, *rows[0].coded)]
    modes = f"modes of {headings['ROUND16']}"
    columns = (title, "MB", "zeros", *(headings[code] for code in codes), "behind best", modes)
    return table(
        columns,
        [
            (
                row.name, f"{row.bytes / 1e6 * size / 4:.2f}", f"{row.zeros / row.elements:.0%}",
                *(f"{row.ratio(code, size):.2f}" for code in codes),
                " / ".join(f"{row.loss(codec):.1%}" for codec in row.coded if codec in headings), _modes(row),
            )
            for row in rows
        ],
    )  # fmt: skip


def _modes(row: TensorRatios) -> str:
    """Modes of the pages of the first codec, those of a tenth and more."""
    modes = row.coded["ROUND16"].modes
    pages = sum(modes.values())
    shares = sorted(modes.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {count / pages:.0%}" for name, count in shares if 10 * count >= pages)


COMMAND = Command(
    examples="""\
  flashtrain codec ratios                              activations of all networks of `flashtrain train`
  flashtrain codec ratios --network convnet --json     of one of them, for machines
  flashtrain codec ratios --file saved.npz             arrays of your own
  flashtrain codec ratios --file x.npy --page-bytes 16384
  flashtrain codec ratios --against BF16               of tensors that are in BF16 before any code
  flashtrain codec scaled --network attention          what a window code of MXFP8 would save
""",
    add_arguments=add_arguments,
    run=run,
    builds=False,
)
