"""`flashtrain platform ranks` and `compare`: several ranks, and their model beside a training of PyTorch."""

import argparse
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from flashtrain.native.user_cache import select_cache, user_cache
from flashtrain.platform.errors import PlatformError
from flashtrain.platform.fms import FmsModel
from flashtrain.platform.models import FmsRates
from flashtrain.platform.ranks import RankChoices, RankLink, Weights, network_job, run_ranks, workload_job
from flashtrain.spec import FmsConfig

from .behemoth import chosen_workload
from .command import above_zero, add_configuration, add_json, at_least_one, configuration
from .console import Console
from .iteration import add_iteration, say_iteration
from .links import LINKS

if TYPE_CHECKING:
    from flashtrain.torch.ranks.measured_job import MeasuredSteps

STORAGES = {"fms": FmsModel, "fms-rates": FmsRates}
MOST_PROCESSES = 64
"""Ranks of `compare`, each of which imports PyTorch."""
LEAST_PAGE_BYTES = 4096
"""The record of a commit fits into a page of so many, which the model takes for granted."""


def add_ranks(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = actions.add_parser("ranks", help="play an iteration on several ranks, each with a device")
    parser.add_argument("family", help="gpt or t5")
    parser.add_argument("size", nargs="?", help="row of the published table, such as 2x4")
    parser.add_argument(
        "--ranks", type=at_least_one, default=2, metavar="N",
        help="ranks that divide the micro-batches and the weights (default: 2)",
    )  # fmt: skip
    parser.add_argument(
        "--storage", choices=list(STORAGES), default="fms", help="of each rank (default: fms)"
    )
    parser.add_argument(
        "--link-gbs", type=above_zero, default=RankLink().bytes_per_second / 1e9, metavar="X",
        help="GB/s of the link of each rank, each way (default: 100)",
    )  # fmt: skip
    parser.add_argument(
        "--link-us", type=float, default=RankLink().seconds * 1e6, metavar="X",
        help="microseconds of a round of a collective (default: 5)",
    )  # fmt: skip
    parser.add_argument(
        "--weights", choices=list(Weights), default=Weights.FLASH,
        help="place of the shards between their uses (default: flash)",
    )  # fmt: skip
    parser.add_argument(
        "--no-overlap", action="store_true", help="the dies update behind the whole backward pass"
    )
    add_iteration(parser, "ranks", "rank")
    add_configuration(parser, default="behemoth")
    parser.set_defaults(action=_ranks)
    add_json(parser)


def add_compare(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = actions.add_parser(
        "compare", help="train a small network under FSDP2 on several ranks, and compare it with the model"
    )
    parser.add_argument("--ranks", type=at_least_one, default=2, metavar="N", help="processes (default: 2)")
    parser.add_argument("--width", type=at_least_one, default=64, metavar="N", help="(default: 64)")
    parser.add_argument("--layers", type=at_least_one, default=4, metavar="N", help="(default: 4)")
    parser.add_argument(
        "--batch", type=at_least_one, default=256, metavar="N", help="rows of each rank (default: 256)"
    )
    parser.add_argument("--steps", type=at_least_one, default=2, metavar="N", help="(default: 2)")
    parser.add_argument("--link", choices=list(LINKS), default="model", help="(default: model)")
    add_configuration(parser, offered=lambda config: config.geometry.page_bytes >= LEAST_PAGE_BYTES)
    parser.set_defaults(action=_compare)
    add_json(parser)


def _ranks(options: argparse.Namespace, console: Console) -> int:
    job = workload_job(chosen_workload(options.family, options.size, options.phi), options.ranks)
    report = run_ranks(
        job,
        STORAGES[options.storage](configuration(options)),
        RankLink(options.link_gbs * 1e9, options.link_us * 1e-6),
        options.tflops * 1e12 / options.ranks,
        options.buffer * 1e9,
        RankChoices(Weights(options.weights), overlap=not options.no_overlap),
    )
    say_iteration(report, f"{job.name}, {job.ranks} ranks", options, console)
    return 0


def _compare(options: argparse.Namespace, console: Console) -> int:
    from flashtrain.platform.ranks.comparison import compared

    config, ranks = configuration(options), options.ranks
    if ranks > MOST_PROCESSES:
        raise PlatformError(f"{ranks} ranks are as many processes; expected at most {MOST_PROCESSES}")
    job = network_job(options.width, options.layers, options.batch, ranks)
    size = options.width, options.layers, options.batch, options.steps
    console.step(f"{options.steps + 1} steps on {ranks} ranks")
    with (
        TemporaryDirectory() as folder,
        ProcessPoolExecutor(ranks, get_context("spawn"), select_cache, (user_cache().folder,)) as pool,
    ):
        store = Path(folder) / "store"
        started = [
            pool.submit(_rank, store, rank, ranks, config, options.link, *size) for rank in range(ranks)
        ]
        measured = [one.result() for one in started]
    found = compared(job, config, options.steps, measured)
    console.say(found.text())
    console.say("equal" if found.is_equal else "NOT equal")
    console.document(found.document())
    return 0 if found.is_equal else 1


def _rank(store: Path, rank: int, ranks: int, config: FmsConfig, link: str, *size: int) -> "MeasuredSteps":
    """A rank, in a process of its own."""
    from flashtrain.torch.ranks.measured_job import measured_rank  # takes seconds to import

    return measured_rank(store, rank, ranks, config, LINKS[link].factory, *size)
