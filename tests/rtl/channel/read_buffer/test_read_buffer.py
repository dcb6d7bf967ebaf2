"""The read buffer of a channel."""

from pathlib import Path

import pytest

from flashtrain.rtl.channel.read_buffer.read_buffer import ReadBuffer
from flashtrain.sim.bench.runner import run_bench
from tests.rtl.channel.channel_helpers import CONFIGS


@pytest.mark.usual(
    "icarus-tiny",
    "verilator-dual_random",
    "verilator-dual_retry",
    "verilator-wide",
)
@pytest.mark.parametrize("name", CONFIGS)
def test_read_buffer(name, simulator, seed):
    run_bench(
        ReadBuffer(CONFIGS[name]),
        f"read_buffer_{name}",
        Path(__file__).with_name("read_buffer_bench.py"),
        simulator=simulator,
        seed=seed,
        parameters={"config": name},
    )
