"""Mutated input files for all readers: each is read, or refused in one line, with little memory and soon."""

import json
import os
import subprocess
import sys
from pathlib import Path

from .campaign import MOST_SECONDS
from .readers import READERS

FILES = 1_000


def test_mutated_files(seed, request):
    count = request.config.getoption("--long") or FILES
    command = [sys.executable, "-m", "tests.reading.campaign", str(seed), "0", str(count)]
    # A thread of BLAS takes address space, and none is needed.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=Path(__file__).parents[2], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    read, refused = sum(found["read"].values()), sum(found["refused"].values())
    seconds, slowest = found["slowest"]
    print(
        f"{count:,} files for {len(READERS)} readers: {read:,} read, {refused:,} refused,"
        f" {found['tracebacks']} tracebacks; longest {seconds:.2f} s, {slowest}"
    )
    assert not found["tracebacks"], "\n".join(found["shown"])
    assert read + refused == count and seconds < MOST_SECONDS
    for reader in READERS:
        assert found["refused"].get(reader.name), f"no file for {reader.name} was refused"
