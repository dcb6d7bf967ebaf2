"""`flashtrain checkpoint memory`: two trainings in a tensor buffer that holds one of them."""

import argparse
from dataclasses import asdict, dataclass
from functools import partial

from flashtrain.checkpoint.memory.buffer_size import memory_bytes_for
from flashtrain.checkpoint.memory.checkpoint_waiting import CheckpointWaiting
from flashtrain.checkpoint.memory.keep_resident import KeepResident
from flashtrain.checkpoint.memory.managed_training import ManagedTraining
from flashtrain.checkpoint.memory.memory_pool import MemoryPool
from flashtrain.checkpoint.memory.one_after_the_other import OneAfterTheOther
from flashtrain.checkpoint.memory.policy import MemoryPolicy
from flashtrain.checkpoint.memory.runner import JobRunner, SwitchReport
from flashtrain.host import open_device
from flashtrain.spec import FmsConfig
from flashtrain.training.data import Dataset, digits
from flashtrain.training.optimizers import AdamW, Optimizer
from flashtrain.training.recipes import RECIPES, Recipe
from flashtrain.training.reference import TrainingLog, train_reference

from .command import (
    above_zero,
    add_configuration,
    add_iterations,
    add_json,
    add_link,
    add_seed,
    at_least_one,
    configuration,
)
from .console import Console, table
from .links import LINKS, announced

DIFFERENT = 1
LEAST_ROOM = 1.1
"""Of a tensor buffer, in trainings: some blocks are the driver's."""

COLUMNS = (
    "policy", "tensor buffer", "jobs hold", "saves", "saved", "save", "restore", "cycles", "zones reset",
    "results",
)  # fmt: skip


@dataclass(frozen=True)
class PolicyRun:
    """Both trainings under a policy."""

    policy: str
    buffer_bytes: int
    report: SwitchReport
    cycles: int
    equal: bool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_configuration(parser)
    add_link(parser)
    parser.add_argument(
        "--network", choices=list(RECIPES), default="wide", metavar="NAME",
        help=f"of both trainings: {', '.join(RECIPES)} (default: wide)",
    )  # fmt: skip
    add_iterations(parser, default=12)
    parser.add_argument(
        "--quantum", type=at_least_one, default=3, metavar="N",
        help="iterations of a training before the other has its turn (default: 3)",
    )  # fmt: skip
    parser.add_argument(
        "--room", type=above_zero, default=LEAST_ROOM, metavar="JOBS",
        help="size of the tensor buffer, in trainings (default: 1.1)",
    )  # fmt: skip
    add_seed(parser)
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    config, data, recipe = configuration(options), digits(), RECIPES[options.network]
    # Two optimizers, so that an exchange of the jobs' memory would show.
    optimizers = {"a": recipe.optimizer, "b": AdamW(0.002)}
    console.progress("each training alone")
    alone = {
        name: train_reference(
            recipe.network, data, optimizer, recipe.batch, options.iterations, options.seed + number
        )
        for number, (name, optimizer) in enumerate(optimizers.items())
    }
    make = partial(_jobs, recipe, optimizers, data, options)
    held = max(job.layout.nbytes for job in make())
    runs = []
    for policy, room in (
        (KeepResident(), 2 * max(options.room, LEAST_ROOM)),
        (OneAfterTheOther(), options.room),
        (CheckpointWaiting(), options.room),
    ):
        jobs = make()
        runs.append(_run(options, console, config, policy, jobs, int(room * held), alone))
    console.say(
        f"two trainings of {recipe.network.name} on {config.name}, seed {options.seed},"
        f" {held:,} bytes of memory each\n"
    )
    console.say(table(COLUMNS, [_row(each, config) for each in runs]))
    console.document({
        "preset": config.name, "link": options.link, "network": options.network, "job_bytes": held,
        "iterations": options.iterations, "quantum_iterations": options.quantum,
        "seed": options.seed, "runs": [_document(each) for each in runs],
    })  # fmt: skip
    return 0 if all(each.equal for each in runs) else DIFFERENT


def _jobs(
    recipe: Recipe, optimizers: dict[str, Optimizer], data: Dataset, options: argparse.Namespace
) -> list[ManagedTraining]:
    return [
        ManagedTraining(
            name, recipe.network, data, optimizer, recipe.batch, options.iterations, options.seed + number
        )
        for number, (name, optimizer) in enumerate(optimizers.items())
    ]


def _run(
    options: argparse.Namespace, console: Console, config: FmsConfig, policy: MemoryPolicy,
    jobs: list[ManagedTraining], room_bytes: int, alone: dict[str, TrainingLog],
) -> PolicyRun:  # fmt: skip
    factory = announced(LINKS[options.link], console.step)
    with open_device(config, factory, memory_bytes=memory_bytes_for(config, room_bytes)) as device:
        pool = MemoryPool(device)
        buffer_bytes, started = pool.free_bytes, device.cycles
        report = JobRunner(pool, jobs, policy, options.quantum).run(
            lambda name, iteration: console.progress(f"{policy.name}: training {name}, iteration {iteration}")
        )
        cycles = device.cycles - started
    equal = all(alone[job.name].equals(job.log) for job in jobs)
    return PolicyRun(policy.name, buffer_bytes, report, cycles, equal)


def _row(run: PolicyRun, config: FmsConfig) -> tuple[str, ...]:
    report = run.report
    return (
        run.policy, f"{run.buffer_bytes:,} B", f"{report.peak_bytes:,} B", f"{report.saves}",
        f"{report.saved_bytes:,} B", _rate(report.saved_bytes, report.save_cycles, config),
        _rate(report.restored_bytes, report.restore_cycles, config), f"{run.cycles:,}",
        f"{report.zones_reset}", "the same" if run.equal else "DIFFERENT",
    )  # fmt: skip


def _document(run: PolicyRun) -> dict[str, object]:
    own = {"policy": run.policy, "buffer_bytes": run.buffer_bytes, "cycles": run.cycles, "equal": run.equal}
    return {**own, **asdict(run.report)}


def _rate(count: int, cycles: int, config: FmsConfig) -> str:
    return f"{count / cycles * config.timing.clock_hz / 1e9:.3f} GB/s" if cycles else "-"
