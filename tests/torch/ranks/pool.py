"""Ranks for tests: processes that a server forks, in which PyTorch is imported already."""

import multiprocessing
import shutil
import tempfile
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import torch
import torch.distributed as dist

SECONDS = 60
"""Nothing that ranks do takes so long, unless a test says otherwise."""

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["torch._dynamo", "tests.torch.ranks.scenarios"])


class Failed(NamedTuple):
    """An exception of a rank: its type and its text."""

    kind: str
    text: str


class Killed(NamedTuple):
    """A rank that ended without a word."""

    exit_code: int | None


class Run:
    """Ranks that carry out `target(rank, count, *args)`, in a process group of gloo.

    seconds: that they may take in all; a collective may take a third of it.

    Members
    -------
    processes: by rank.
    """

    def __init__(self, count: int, target: Callable[..., Any], *args: Any, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._folder = Path(tempfile.mkdtemp())
        self._pipes: list[Connection] = []
        self.processes = []
        for rank in range(count):
            own, theirs = _context.Pipe(duplex=False)
            given = (theirs, str(self._folder / "store"), rank, count, seconds / 3, target, args)
            process = _context.Process(target=_rank, args=given, daemon=True)
            process.start()
            theirs.close()
            self._pipes.append(own)
            self.processes.append(process)

    def results(self) -> list[Any]:
        """What each rank has returned, or :class:`Failed`, or :class:`Killed`.

        `AssertionError` if one takes longer.
        """
        end = monotonic() + self._seconds
        try:
            found: list[Any] = []
            for pipe, process in zip(self._pipes, self.processes, strict=True):
                wait([pipe, process.sentinel], max(0, end - monotonic()))
                value: Any = None
                if pipe.poll():
                    with suppress(EOFError):
                        value = pipe.recv()
                process.join(max(0, end - monotonic()))
                assert process.exitcode is not None, f"a rank takes more than {self._seconds} seconds"
                found.append(Killed(process.exitcode) if value is None else value[0])
            return found
        finally:
            for process in self.processes:
                process.kill()
            shutil.rmtree(self._folder)


def run(count: int, target: Callable[..., Any], *args: Any, seconds: float = SECONDS) -> list[Any]:
    """What each of so many ranks returns; an `AssertionError` with its trace if one fails."""
    found = Run(count, target, *args, seconds=seconds).results()
    for rank, one in enumerate(found):
        assert not isinstance(one, Failed | Killed), f"rank {rank}: {one}\n" + getattr(one, "text", "")
    return found


def _rank(
    pipe: Connection,
    store: str,
    rank: int,
    count: int,
    timeout: float,
    target: Callable[..., Any],
    args: Mapping[Any, Any],
) -> None:
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo",
        init_method=f"file://{store}",
        rank=rank,
        world_size=count,
        timeout=timedelta(seconds=timeout),
    )
    try:
        value = target(rank, count, *args)
    except Exception as error:
        value = Failed(type(error).__name__, str(error) + "\n" + traceback.format_exc())
    pipe.send((value,))
    pipe.close()
    dist.destroy_process_group()
