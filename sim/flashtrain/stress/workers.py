"""Worker processes that end with the command that started them."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.process import BaseProcess
from pathlib import Path

from flashtrain.native.user_cache import select_cache, user_cache

SECONDS_TO_CLEAN_UP = 2.0


@contextmanager
def worker_pool(count: int) -> Iterator[ProcessPoolExecutor]:
    """A pool of `count` processes; if the block raises, they end at once.

    Ctrl-C reaches all processes of a terminal: the workers leave it to the block, and so print nothing.
    """
    before = set(active_children())
    # Not forked: threads of libraries may run.
    with ProcessPoolExecutor(count, get_context("spawn"), _prepare, (user_cache().folder,)) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            _end(set(active_children()) - before)
            raise


def _end(workers: set[BaseProcess]) -> None:
    """Asked again until they have ended: a worker may have taken up a piece that was queued for it."""
    while any(worker.is_alive() for worker in workers):
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.join(SECONDS_TO_CLEAN_UP)


def _prepare(cache: Path) -> None:
    """The cache is that of the command, and SIGTERM unwinds the work, so that temporary folders are removed.

    A worker also ends with a command that was killed: nobody is left to end it.
    """
    select_cache(cache)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
