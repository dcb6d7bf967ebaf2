"""`flashtrain train`: trains a network whose tensors live in flash, and the same without flash."""

import argparse
import json
from pathlib import Path

from flashtrain.perf.usage import Usage
from flashtrain.training.data import digits
from flashtrain.training.optimizers import Optimizer
from flashtrain.training.recipes import RECIPES, Recipe
from flashtrain.training.reference import train_reference
from flashtrain.training.report import TrainingReport, training_report
from flashtrain.training.sequence import UpdatePlace

from .command import Command, add_json, add_link, add_output, add_preset, add_update, at_least_one
from .console import Console
from .device import device_for
from .iteration_trace import IterationTrace
from .links import LINKS
from .three_ways import three_ways
from .training_run import TrainingRun, run_training
from .usage_text import usage_document, usage_text

DEFAULT_FOLDER = "build/train"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(RECIPES)
    parser.add_argument("--network", choices=list(RECIPES), default="mlp", help=f"{names} (default: mlp)")
    add_link(parser)
    add_preset(parser)
    add_update(parser)
    parser.add_argument("--iterations", type=at_least_one, help="mini-batches (default: the recipe's)")
    parser.add_argument("--batch", type=at_least_one, help="examples per iteration (default: the recipe's)")
    parser.add_argument("--seed", type=int, default=0, help="of weights and batches (default: 0)")
    add_output(parser, DEFAULT_FOLDER, "folder for figures, trace and summary")
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    recipe = _recipe(options)
    folder: Path = options.output
    folder.mkdir(parents=True, exist_ok=True)
    data = digits()
    console.step(f"training {recipe.network.name} in plain NumPy")
    place = UpdatePlace(options.update)
    reference = train_reference(
        recipe.network, data, recipe.optimizer, recipe.batch, recipe.iterations, options.seed,
        skip_overflow=place is UpdatePlace.DIE,
    )  # fmt: skip
    with device_for(options, place.node, console) as device:
        trace = IterationTrace.of(device.link, iteration=(recipe.iterations + 1) // 2)
        result = run_training(recipe, data, options.seed, place, device, trace, console)
    report = training_report(recipe.network, data.test, result.training, reference)
    # Late: matplotlib takes a moment to import.
    from flashtrain.training.figures import draw_losses

    files = [folder / "loss.png"]
    title = f"{recipe.network.name}, {options.preset}, {options.link} link"
    draw_losses(result.training.log.losses, reference.losses, files[0], title)
    files += trace.write(folder, result.usage.config, title)
    ways = None
    if place is UpdatePlace.DIE and LINKS[options.link].timed:
        ways = three_ways(result.usage.config, recipe.optimizer, console)
    document = {
        "preset": options.preset,
        "link": options.link,
        "seed": options.seed,
        "update": place.value,
        **report.document(),
        "usage": usage_document(result.usage, result.training.run),
        "clocks": result.clocks,
        "wall_seconds": result.wall_seconds,
        "clocks_per_second": result.clocks_per_second,
        "losses": result.training.log.losses,
        "accuracies": result.accuracies,
        "three_ways": ways.document() if ways else None,
        "files": [str(file) for file in files],
    }
    (folder / "summary.json").write_text(json.dumps(document, indent=2) + "\n")
    files.append(folder / "summary.json")
    console.say(summary(report, result))
    if ways:
        console.say(f"\n{ways.text()}")
    console.say("\nfiles\n" + "\n".join(f"  {file}" for file in files))
    console.document(document)
    return 0 if report.bit_exact else 1


def summary(report: TrainingReport, result: TrainingRun) -> str:
    """What is shown at the end."""
    usage = usage_text(result.usage, result.training.run)
    return f"\n{report.text()}\n\n{usage}\n\n{_simulated(result.usage, result)}"


def _simulated(usage: Usage, result: TrainingRun) -> str:
    if not result.clocks:
        return f"{result.wall_seconds:.1f} s; this link has no time"
    return (
        f"{result.clocks:,} clocks simulated ({usage.seconds * 1e3:.2f} ms of the device's time)"
        f" in {result.wall_seconds:.1f} s: {result.clocks_per_second:,.0f} clocks per second"
    )


def _recipe(options: argparse.Namespace) -> Recipe:
    known = RECIPES[options.network]
    optimizer: Optimizer = known.optimizer
    return Recipe(
        known.network, optimizer, options.batch or known.batch, options.iterations or known.iterations
    )


COMMAND = Command(
    name="train",
    summary="train a network whose tensors live in the simulated flash, and compare it with plain NumPy",
    examples="""\
  flashtrain train                                             mlp through the RTL, preset small
  flashtrain train --network convnet --link functional         seconds instead of minutes, without time
  flashtrain train --network wide --iterations 5               enough weights to keep all dies busy
  flashtrain train --update core                               the core reads and supersedes optimizer state
  flashtrain train --iterations 10 --output /tmp/run --json    a short run, for machines

Figures: loss.png (both runs), timeline.png (channels and dies over one iteration).
trace.json opens in https://ui.perfetto.dev.
Exit code 1 if the result differs from plain NumPy in a single bit.
""",
    add_arguments=add_arguments,
    run=run,
)
