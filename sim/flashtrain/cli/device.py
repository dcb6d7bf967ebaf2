"""A device for training, opened by the names on the command line."""

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from flashtrain.host import Device, LinkFactory, WearBudget, open_device
from flashtrain.spec import NODES, ConfigError, FmsConfig, NodeTable
from flashtrain.spec.streams import SERVE_NODE

from .command import add_configuration, add_format, add_link, configuration
from .console import Console
from .image import add_image
from .links import LINKS, LinkKind, announced
from .wear_options import wear_warnings

LEAST_MEMORY_BYTES = 64 << 20
MOST_MEMORY_BYTES = 2 << 30
COMMANDS_IN_MEMORY = 16


def memory_bytes(config: FmsConfig) -> int:
    """Tensor buffer of the command's devices: room for the data of several of the largest commands."""
    wanted = COMMANDS_IN_MEMORY * config.max_blocks * config.geometry.page_bytes
    return min(max(wanted, LEAST_MEMORY_BYTES), MOST_MEMORY_BYTES, 1 << config.address_bits)


def add_served_device(parser: argparse.ArgumentParser, link: str) -> None:
    """The options of a device whose streams are namespaces. link: the default."""
    add_configuration(parser)
    add_link(parser, link, boards=True)
    add_format(parser)
    add_image(parser, "this file, new or of an earlier run, whose configuration it has")
    parser.add_argument(
        "--node", choices=list(NODES), default=SERVE_NODE.name,
        help=f"table of streams; each stream is a namespace (default: {SERVE_NODE.name})",
    )  # fmt: skip


@contextmanager
def device_for(
    options: argparse.Namespace,
    node: NodeTable,
    console: Console,
    around: Callable[[LinkFactory], LinkFactory] = lambda factory: factory,
    wear_budget: WearBudget | None = None,
) -> Iterator[Device]:
    """The device of `--preset` or `--config`, of `--link`, and of `--image`, with the streams of `node`.

    around: makes another factory of that of the Link.
    """
    kind = LINKS[options.link]
    factory = around(announced(kind, console.step))
    config = configuration(options)
    image = getattr(options, "image", None)
    if kind.kept:
        with wear_warnings(console), board_device(kind, config, node, options) as device:
            device.wear_budget = wear_budget
            yield device
        return
    check_format(options)
    with (
        wear_warnings(console),
        open_device(
            config, factory, node, memory_bytes(config), image=image, wear_budget=wear_budget
        ) as device,
    ):
        yield device


def check_format(options: argparse.Namespace) -> None:
    """Raise :class:`ConfigError` for an option `--format` of a flash that is new or in an image."""
    if getattr(options, "format", False):
        raise ConfigError(f"--format is for a board; --link {options.link} has a flash of its own")


@contextmanager
def board_device(
    kind: LinkKind, config: FmsConfig, node: NodeTable, options: argparse.Namespace
) -> Iterator[Device]:
    """The device of a board: with `--format` empty, or else recovered."""
    if getattr(options, "image", None) is not None:
        raise ConfigError("--image is for simulated devices; a board keeps its flash itself")
    with (
        kind.factory(config, 0) as link,
        open_device(link=link, node=node, recover=not options.format) as device,
    ):
        yield device
