"""Mutated files for all readers, in a process with little address space: `python -m` with seed and count.

Prints one JSON document: files by reader, those that were read or refused, the slowest by processor time, and
each traceback. A file that waits for a minute ends the process.
"""

import contextlib
import io
import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

ADDRESS_SPACE = 2 << 30
MOST_SECONDS = 5.0
SHOWN = 20
"""Tracebacks in the document."""


def run(seed: int, first: int, count: int) -> dict[str, object]:
    """Read files `first` to `first + count - 1` of the seed, each with its reader."""
    # Late: all that is imported counts as address space.
    from flashtrain.cli.commands import COMMANDS
    from flashtrain.reading import FlashtrainError

    from .readers import READERS, mutant

    for command in COMMANDS.values():  # else the first file of each would take its time
        command.load()

    read, refused, wrong = Counter(), Counter(), []
    slowest = (0.0, "none")
    with tempfile.TemporaryDirectory() as place:
        seeds = {}
        for number, reader in enumerate(READERS):
            folder = Path(place) / str(number)
            folder.mkdir()
            reader.seeds(folder)
            seeds[reader.name] = [path.read_bytes() for path in sorted(folder.iterdir())]
        os.chdir(place)
        for number in range(first, first + count):
            reader, data = mutant(seed, number, seeds)
            path = Path(place) / f"mutant{reader.suffix}"
            path.write_bytes(data)
            began = time.process_time()
            signal.alarm(60)  # ends the process, whose parent knows the seed
            try:
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    reader.read(path)
                read[reader.name] += 1
            except FlashtrainError:
                refused[reader.name] += 1
            except BaseException:
                wrong.append(f"file {number} for {reader.name}: {traceback.format_exc()}")
            slowest = max(slowest, (time.process_time() - began, f"file {number} for {reader.name}"))
    return {
        "read": dict(read),
        "refused": dict(refused),
        "tracebacks": len(wrong),
        "shown": wrong[:SHOWN],
        "slowest": slowest,
    }


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    print(json.dumps(run(*map(int, sys.argv[1:]))))
