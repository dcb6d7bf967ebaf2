"""A device for training, opened by the names on the command line."""

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from flashtrain.host import Device, LinkFactory, WearBudget, open_device
from flashtrain.spec import NODES, FmsConfig, NodeTable
from flashtrain.spec.streams import SERVE_NODE

from .command import add_configuration, add_link, configuration
from .console import Console
from .image import add_image
from .links import LINKS, announced
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
    add_link(parser, link)
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
    factory = around(announced(LINKS[options.link], console.step))
    config = configuration(options)
    image = getattr(options, "image", None)
    with (
        wear_warnings(console),
        open_device(
            config, factory, node, memory_bytes(config), image=image, wear_budget=wear_budget
        ) as device,
    ):
        yield device
