"""`flashtrain sequence`: generate, inspect and replay training command sequences."""

import argparse
import time
from dataclasses import asdict
from pathlib import Path

from flashtrain.perf.usage import Snapshot
from flashtrain.spec import ConfigError
from flashtrain.traces import WRITABLE, save_trace
from flashtrain.traces.recorder import TraceRecorder
from flashtrain.training.flash_training import replay
from flashtrain.training.report import update_document, update_lines
from flashtrain.training.sequence import (
    Append,
    Compute,
    Initialise,
    Read,
    Repeat,
    Reset,
    Step,
    TrainingSequence,
    Update,
    UpdatePlace,
    load_sequence,
    save_sequence,
    summarise,
    summary_table,
    training_sequence,
)
from flashtrain.training.sequence.fit import require_fit
from flashtrain.training.sequence.loops import with_depth
from flashtrain.training.sequence.sequence import PHASES
from flashtrain.training.tensors import DeviceStorage

from .behemoth import add_behemoth
from .command import (
    Command,
    add_configuration,
    add_json,
    add_link,
    add_overlap,
    add_update,
    at_least_one,
    configuration,
)
from .console import Console
from .device import device_for
from .image import add_image, require_new_image
from .known_recipe import NETWORKS, known_recipe
from .links import LINKS
from .outputs import output_file
from .run_trace import RunTrace
from .sequence_capture import add_sequence_capture
from .trace_options import add_trace, trace_request
from .usage_text import usage_document, usage_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)

    generate = actions.add_parser("generate", help="make the sequence of a network and save it")
    generate.add_argument("file", type=output_file, help="file to write")
    generate.add_argument("--network", metavar="NETWORK", default="mlp", help=f"{NETWORKS} (default: mlp)")
    generate.add_argument("--batch", type=at_least_one, help="examples per iteration (default: the recipe's)")
    add_update(generate)
    add_overlap(generate)
    generate.set_defaults(action=_generate)
    add_json(generate)

    add_behemoth(actions)
    add_sequence_capture(actions)

    show = actions.add_parser("show", help="what a saved sequence asks of the flash")
    show.add_argument("file", type=Path, help="file to read")
    show.add_argument("--steps", action="store_true", help="list the steps, too")
    add_configuration(show)
    show.set_defaults(action=_show)
    add_json(show)

    play = actions.add_parser("replay", help="carry out the traffic of a saved sequence with made-up data")
    play.add_argument("file", type=Path, help="file to read")
    play.add_argument("--iterations", type=at_least_one, default=4, help="how often (default: 4)")
    play.add_argument(
        "--block-trace",
        type=output_file,
        metavar="FILE",
        help="write its reads and writes as a block trace",
    )
    play.add_argument(
        "--format", choices=WRITABLE, default="fio", metavar="NAME", dest="file_format",
        help=f"of the block trace: {', '.join(WRITABLE)} (default: fio)",
    )  # fmt: skip
    add_configuration(play)
    add_link(play)
    add_image(play)
    add_trace(play, of_iterations=True)
    play.set_defaults(action=_replay)
    add_json(play)


def run(options: argparse.Namespace, console: Console) -> int:
    return options.action(options, console)


def _generate(options: argparse.Namespace, console: Console) -> int:
    recipe = known_recipe(options.network)
    batch = options.batch or recipe.batch
    place = UpdatePlace(options.update)
    sequence = training_sequence(recipe.network, batch, recipe.optimizer, place, options.overlap)
    save_sequence(sequence, options.file)
    console.say(f"{options.file}: {_title(sequence)}")
    console.document({"file": str(options.file), **_head(sequence)})
    return 0


def _show(options: argparse.Namespace, console: Console) -> int:
    sequence, config = load_sequence(options.file), configuration(options)
    console.say(summary_table(sequence, config))
    if options.steps:
        for phase in PHASES:
            console.say(f"\n{phase}")
            for index, (step, depth) in enumerate(with_depth(getattr(sequence, phase))):
                console.say(f"  {index:4}  {'  ' * depth}{_say(step)}")
    phases = {
        phase: {
            role.value: asdict(traffic)
            for role, traffic in summarise(sequence, getattr(sequence, phase), config).items()
        }
        for phase in PHASES
    }
    console.document({**_head(sequence), "configuration": config.name, "phases": phases})
    return 0


def _replay(options: argparse.Namespace, console: Console) -> int:
    sequence = load_sequence(options.file)
    require_fit(sequence, options.iterations, configuration(options), sequence.update.node)
    require_new_image(options.image)
    recorder = TraceRecorder()
    trace = RunTrace(trace_request(options, LINKS[options.link], options.iterations))
    if options.block_trace and (options.trace or options.waves):
        raise ConfigError("--block-trace excludes --trace and --waves: replay the sequence once for each")
    around = recorder.around if options.block_trace else trace.around

    def on_iteration(done: int) -> None:
        trace.after_iteration(done)
        console.progress(f"iteration {done} of {options.iterations}")
        trace.before_iteration(done + 1)

    with device_for(options, sequence.update.node, console, around) as device:
        before, started = Snapshot.of(device), time.monotonic()
        trace.start(device)
        trace.before_iteration(1)
        run_of = replay(sequence, options.iterations, DeviceStorage.on(device), on_iteration=on_iteration)
        trace.stop()
        seconds = time.monotonic() - started
        usage = Snapshot.of(device).since(before)
    if options.block_trace:
        save_trace(options.block_trace, recorder.records(), options.file_format)
        console.say(f"{options.block_trace}: the device's reads and writes, in format {options.file_format}")
    appended = sum(traffic.appended_bytes for traffic in run_of.traffic.values())
    read = sum(traffic.read_bytes for traffic in run_of.traffic.values())
    expected = "as appended" if run_of.updates is None else "as appended and updated"
    lines = [
        _title(sequence),
        f"{options.iterations} iterations: {appended:,} bytes appended, {read:,} read, all {expected}",
        *update_lines(run_of.updates),
        f"simulated {usage.seconds * 1e3:.3f} ms ({usage.cycles:,} cycles) in {seconds:.1f} s",
    ]
    console.say("\n".join(lines))
    console.say(usage_text(usage, run_of))
    files = trace.write()
    console.document(
        {
            **_head(sequence),
            "iterations": options.iterations,
            "streams": {role.value: asdict(traffic) for role, traffic in run_of.traffic.items()},
            "updates": update_document(run_of.updates),
            "usage": usage_document(usage, run_of),
            "wall_seconds": seconds,
            "files": [str(file) for file in files],
        }
    )
    trace.report(console)
    return 0


def _title(sequence: TrainingSequence) -> str:
    return (
        f"{sequence.network}, batch {sequence.batch}, {sequence.optimizer}: {len(sequence.tensors)} tensors,"
        f" {sequence.iteration_steps} steps per iteration, update by the {sequence.update}"
        f"{' during the backward pass' if sequence.overlaps else ''}"
    )


def _head(sequence: TrainingSequence) -> dict[str, object]:
    return {
        "network": sequence.network,
        "optimizer": sequence.optimizer,
        "batch": sequence.batch,
        "update": sequence.update.value,
        "overlap": sequence.overlaps,
        "tensors": len(sequence.tensors),
        "steps": {phase: len(getattr(sequence, phase)) for phase in PHASES},
    }


def _say(step: Step) -> str:
    match step:
        case Append():
            return f"{step.port.name.lower():5} append  {step.tensor}"
        case Read():
            return f"{step.port.name.lower():5} read    {step.tensor}"
        case Reset():
            return f"{step.port.name.lower():5} reset   {step.stream}"
        case Compute():
            return f"      {step.operation} {step.layer}".rstrip()
        case Initialise():
            return f"{step.port.name.lower():5} initialise  {' '.join(step.tensors)} ({step.program.name})"
        case Update():
            return f"{step.port.name.lower():5} update  {' '.join(step.tensors)}"
        case Repeat():
            return f"for each {step.over}{', in reverse' if step.down else ''}"


COMMAND = Command(
    examples="""\
  flashtrain sequence generate mlp.json --network mlp --batch 64
  flashtrain sequence generate mlp.json --update core
  flashtrain sequence generate mlp.json --overlap
  flashtrain sequence behemoth
  flashtrain sequence behemoth gpt 2x4 --out gpt.json
  flashtrain sequence capture gpt2 --batch 8 --out gpt2.json
  flashtrain sequence capture my_module:my_function --meta --out mine.json
  flashtrain sequence show mlp.json --preset behemoth --steps
  flashtrain sequence replay mlp.json --link functional --iterations 100
  flashtrain sequence replay mlp.json --link functional --block-trace mlp.log
  flashtrain sequence replay mlp.json --link rtl --json
""",
    add_arguments=add_arguments,
    run=run,
)
