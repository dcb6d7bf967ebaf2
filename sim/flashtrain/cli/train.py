"""`flashtrain train`: trains a network whose tensors live in flash, and the same without flash."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from flashtrain.spec import ConfigError
from flashtrain.spec.streams import Codec
from flashtrain.training.reference import train_reference
from flashtrain.training.report import TrainingReport, training_report
from flashtrain.training.sequence import UpdatePlace
from flashtrain.writing import write_text

from .command import (
    Command,
    add_configuration,
    add_format,
    add_json,
    add_link,
    add_output,
    add_overlap,
    add_seed,
    add_update,
    configuration,
)
from .console import Console
from .device import device_for
from .image import add_image, require_new_image
from .links import LINKS
from .places import compare_places
from .run_trace import RunTrace
from .trace_options import TraceRequest, add_trace, trace_request
from .train_network import add_network, chosen_training
from .train_options import add_training_options
from .training_run import TrainingRun, run_training
from .usage_text import usage_document, usage_text
from .wear_options import add_wear, wear_budget

DEFAULT_FOLDER = "build/train"
_CODECS = (Codec.WINDOW32, Codec.ROUND16)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = "flashtrain train [NETWORK] [--data FILE] [options]"
    add_network(parser)
    add_training_options(parser)
    add_link(parser, boards=True)
    add_format(parser)
    add_configuration(parser)
    add_update(parser)
    add_overlap(parser)
    parser.add_argument(
        "--codec", choices=[codec.name.lower() for codec in _CODECS],
        metavar="NAME", help="of the activations, on small_codec: window32, or round16, which rounds to BF16",
    )  # fmt: skip
    add_seed(parser, default=0, what="of weights and batches")
    parser.add_argument(
        "--compare-places", action="store_true",
        help="measure a step in the controller and on the host, too (--link rtl, --update die)",
    )  # fmt: skip
    add_image(parser)
    add_wear(parser)
    parser.add_argument(
        "--resume", action="store_true",
        help="go on with the run in --image after its process has ended, to the same bits",
    )  # fmt: skip
    add_output(parser, DEFAULT_FOLDER, "folder for figures, trace and summary")
    add_trace(parser, of_iterations=True)
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    place = UpdatePlace(options.update)
    if options.compare_places and not (place is UpdatePlace.DIE and LINKS[options.link].timed):
        raise ConfigError(
            "--compare-places measures a step on the dies: it needs --link rtl and --update die"
        )
    if LINKS[options.link].kept and place is not UpdatePlace.CORE:
        raise ConfigError("the chips of a board compute no steps: expected --update core")
    _check_image(options, place)
    budget = wear_budget(options)
    configuration(options)  # a mistake in its file is found now, and not after the training in NumPy
    folder: Path = options.output
    recipe, data = chosen_training(options)
    recipe.policy.check(recipe.optimizer, place, options.overlap)
    request = _trace_request(options, recipe.iterations)
    console.step(f"training {recipe.network.name} in plain NumPy")
    reference = train_reference(
        recipe.network, data, recipe.optimizer, recipe.batch, recipe.iterations, options.seed,
        skip_overflow=place is UpdatePlace.DIE, policy=recipe.policy,
    )  # fmt: skip
    codec = Codec[options.codec.upper()] if options.codec else Codec.RAW
    node = place.node.with_codecs(activations=codec)
    trace = RunTrace(request)
    with device_for(options, node, console, trace.around, budget) as device:
        result = run_training(
            recipe,
            data,
            options.seed,
            place,
            device,
            trace,
            console,
            options.evaluate,
            options.resume,
            options.overlap,
        )
    report = training_report(recipe.network, data.test, result.training, reference)
    title = f"{recipe.network.name}, {result.usage.config.name}, {options.link} link"
    begin = result.training.begin
    files = _draw_losses(result.training.log.losses, reference.losses, folder / "loss.png", title, begin)
    files += _draw_timeline(trace, folder / "timeline.png", title)
    files += trace.write()
    places = None
    if options.compare_places:
        places = compare_places(result.usage.config, recipe.optimizer, console)
    document = {
        "configuration": result.usage.config.name,
        "link": options.link,
        "seed": options.seed,
        "update": place.value,
        "overlap": options.overlap,
        "codec": codec.name,
        "activations": recipe.network.activations.value,
        **report.document(),
        "usage": usage_document(result.usage, result.training.run),
        "cycles": result.cycles,
        "wall_seconds": result.wall_seconds,
        "cycles_per_second": result.cycles_per_second,
        "losses": result.training.log.losses,
        "evaluations": [{"iteration": at, **asdict(found)} for at, found in result.evaluations],
        "places": places.document() if places else None,
        "files": [str(file) for file in files],
    }
    write_text(folder / "summary.json", json.dumps(document, indent=2) + "\n")
    files.append(folder / "summary.json")
    console.say(summary(report, result, LINKS[options.link].kept))
    if places:
        console.say(f"\n{places.text()}")
    console.say("\nfiles\n" + "\n".join(f"  {file}" for file in files))
    trace.report(console)
    console.document(document)
    return 0 if report.bit_exact or codec is Codec.ROUND16 else 1


def _check_image(options: argparse.Namespace, place: UpdatePlace) -> None:
    if not options.resume:
        require_new_image(options.image)
    elif options.image is None or place is not UpdatePlace.DIE:
        raise ConfigError("--resume goes on with weights on the dies: it needs --image and --update die")


def _trace_request(options: argparse.Namespace, iterations: int) -> TraceRequest:
    """The trace that is asked for; else, on a Link with time, that of the iteration in the middle."""
    kind = LINKS[options.link]
    asked = trace_request(options, kind, iterations)
    if asked.trace is not None or asked.waves is not None or not kind.timed:
        return asked
    middle = (iterations + 1) // 2
    path = options.output / "trace.json"
    return replace(asked, trace=path, iterations=asked.iterations or (middle, middle), is_default=True)


def _draw_losses(
    losses: Sequence[float], reference: Sequence[float], path: Path, title: str, begin: int
) -> list[Path]:
    """The figure, if there is a curve to draw; one of an earlier run is removed."""
    if len(losses) < 2:
        path.unlink(missing_ok=True)
        return []
    # Late: matplotlib takes a moment to import.
    from flashtrain.training.figures import draw_losses

    draw_losses(losses, reference, path, title, begin)
    return [path]


def _draw_timeline(trace: RunTrace, path: Path, title: str) -> list[Path]:
    """Channels and dies in the window of the trace. Without one, that of an earlier run is removed."""
    if trace.captured is None:
        path.unlink(missing_ok=True)
        return []
    # Late, as above.
    from flashtrain.sim.trace.figure import draw_timeline
    from flashtrain.sim.trace.trace import intervals

    names = [mark.name for mark in trace.captured.marks]
    part = "" if not names else f", {names[0]}" if len(names) == 1 else f", {names[0]} to {names[-1]}"
    draw_timeline(intervals(trace.captured.events), trace.captured.config, path, title + part)
    return [path]


def summary(report: TrainingReport, result: TrainingRun, board: bool) -> str:
    """The text at the end. board: the device is real, or counts its own cycles as one."""
    usage = usage_text(result.usage, result.training.run)
    return f"\n{report.text()}\n\n{usage}\n\n{_time(result, board)}"


def _time(result: TrainingRun, board: bool) -> str:
    wall = f"in {result.wall_seconds:.1f} s"
    if not result.cycles:
        return f"{result.wall_seconds:.1f} s; this link has no time"
    milliseconds = result.cycles / result.usage.config.timing.clock_hz * 1e3
    if board:
        return f"{result.cycles:,} cycles of the board's clock ({milliseconds:.2f} ms) {wall}"
    return (
        f"{result.cycles:,} cycles simulated ({milliseconds:.2f} ms of the device's time)"
        f" {wall}: {result.cycles_per_second:,.0f} cycles per second"
    )


COMMAND = Command(
    examples="""\
  flashtrain train                                             mlp through the RTL, preset small
  flashtrain train convnet --link functional                   seconds instead of minutes, without time
  flashtrain train my/net.py:NETWORK --data my/data.npz        your own network and data
  flashtrain train --link functional --image mlp.img --resume  begins, or goes on after a kill

trace.json opens in https://ui.perfetto.dev. Exit code 1 if a single bit differs from plain NumPy.
""",
    add_arguments=add_arguments,
    run=run,
)
