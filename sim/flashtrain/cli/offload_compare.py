"""`flashtrain offload compare`: schedules beside storages."""

import argparse

from flashtrain.platform.offload_storages import OFFLOAD_STORAGES
from flashtrain.training.offload import Profile
from flashtrain.training.offload.comparison import Compared, compare

from .command import add_configuration, add_json, configuration
from .console import Console, table
from .offload_arguments import add_least_bytes, add_memory, add_profile, batches_of, profile_of
from .offload_text import gigabytes, seconds_text, speed

COLUMNS = ("storage", "schedule", "iteration", "speed", "offloaded", "stored", "peak")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_profile(parser)
    parser.add_argument(
        "--storage", choices=list(OFFLOAD_STORAGES), action="append", metavar="NAME",
        help=f"one of {', '.join(OFFLOAD_STORAGES)}; may come several times (default: all)",
    )  # fmt: skip
    add_memory(parser)
    add_least_bytes(parser)
    add_configuration(parser, default="behemoth")
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    profile, config = profile_of(options), configuration(options)
    console.say(
        f"{profile.model}, batch {profile.batch}: {gigabytes(profile.saved_bytes)} saved,"
        f" {gigabytes(profile.resident_bytes)} resident, memory of {gigabytes(options.memory)}"
    )
    console.say(f"unlimited memory: {seconds_text(profile.seconds)}\n")
    rows: list[Compared] = []
    for name in options.storage or OFFLOAD_STORAGES:
        console.progress(f"storage {name}")
        storage = OFFLOAD_STORAGES[name].make(config, options.memory)
        rows += compare(profile, storage, options.least_bytes, batches_of(options))
    console.say(table(COLUMNS, [_row(row, profile) for row in rows], left=2))
    console.document({
        "model": profile.model, "batch": profile.batch, "memory_bytes": options.memory,
        "unlimited_seconds": profile.seconds, "rows": [_document(row) for row in rows],
    })  # fmt: skip
    return 0


def _row(row: Compared, profile: Profile) -> tuple[str, ...]:
    if not row.fits:
        return row.storage.name, row.schedule, "does not fit", "-", "-", "-", "-"
    return (
        row.storage.name, row.schedule, seconds_text(row.seconds), f"{speed(profile, row.seconds):.1%}",
        gigabytes(row.offloaded_bytes), gigabytes(row.stored_bytes), gigabytes(row.peak_bytes),
    )  # fmt: skip


def _document(row: Compared) -> dict[str, object]:
    return {
        "storage": row.storage.name,
        "schedule": row.schedule,
        "seconds": row.seconds if row.fits else None,
        "offloaded_bytes": row.offloaded_bytes if row.fits else None,
        "stored_bytes": row.stored_bytes if row.fits else None,
        "peak_bytes": row.peak_bytes if row.fits else None,
    }
