"""Queue, merge, register slices."""

from pathlib import Path

import pytest

from flashtrain.rtl.lib.streams import HalfRateSlice, Queue, RegisterSlice, RegisterSlices, StreamMerge
from flashtrain.sim.bench.runner import Simulator, run_bench

INPUTS = 5
WIDTH = 16


@pytest.mark.one_simulator
@pytest.mark.parametrize("depth", [2, 8])
def test_queue(simulator: Simulator, seed: int, depth: int) -> None:
    run_bench(Queue(WIDTH, depth), "queue", Path(__file__).with_name("queue_bench.py"),
              simulator=simulator, seed=seed, parameters={"depth": max(depth, 3)})  # fmt: skip


@pytest.mark.one_simulator
def test_merge(simulator: Simulator, seed: int) -> None:
    run_bench(StreamMerge(WIDTH, INPUTS), "merge", Path(__file__).with_name("merge_bench.py"),
              simulator=simulator, seed=seed, parameters={"inputs": INPUTS})  # fmt: skip


@pytest.mark.one_simulator
@pytest.mark.parametrize(("kind", "cycles"), [(RegisterSlice, 1), (HalfRateSlice, 2)])
def test_register_slices(simulator: Simulator, seed: int, kind: type, cycles: int) -> None:
    run_bench(RegisterSlices(WIDTH, 2, kind), "register_slices",
              Path(__file__).with_name("register_slice_bench.py"),
              simulator=simulator, seed=seed, parameters={"count": 2, "cycles": cycles})  # fmt: skip
