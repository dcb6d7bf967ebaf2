"""Worker processes of long campaigns end with them."""

import os
import signal
import time
from multiprocessing import active_children

import pytest

from flashtrain.native.user_cache import user_cache, using_cache
from flashtrain.stress.workers import worker_pool


def _mark(path: str) -> None:
    """Leave a file, work for a minute, and remove it in whatever way the work ends."""
    with open(path, "w", encoding="utf-8"):
        pass
    try:
        time.sleep(60)
    finally:
        os.unlink(path)


def _cache_folder(number: int) -> str:
    return f"{number} {user_cache().folder}"


def test_results(tmp_path):
    """Of workers that use the cache of their command."""
    with using_cache(tmp_path), worker_pool(2) as pool:
        assert list(pool.map(_cache_folder, [1, 2])) == [f"1 {tmp_path}", f"2 {tmp_path}"]


def test_an_interrupt_ends_the_workers_and_they_clean_up(tmp_path):
    path, started = tmp_path / "working", time.monotonic()
    with pytest.raises(KeyboardInterrupt), worker_pool(1) as pool:
        pool.submit(_mark, str(path))
        while not path.exists():
            time.sleep(0.02)
        (worker,) = active_children()
        os.kill(worker.pid, signal.SIGINT)  # of the terminal: left to the block
        time.sleep(0.1)
        assert path.exists()
        raise KeyboardInterrupt
    assert time.monotonic() - started < 50 and not path.exists()
