"""The write buffer of a channel."""

from pathlib import Path

import pytest

from flashtrain.rtl.channel.write_buffer.write_buffer import WriteBuffer
from flashtrain.sim.bench.runner import run_bench
from tests.rtl.channel.channel_helpers import CONFIGS


@pytest.mark.usual(
    "icarus-tiny", "verilator-dual", "verilator-tiny_code", "verilator-tiny_random", "verilator-wide"
)
@pytest.mark.icarus("padding|bubbles|discards|in_time")
@pytest.mark.parametrize("name", CONFIGS)
def test_write_buffer(name, simulator, seed, part):
    run_bench(
        WriteBuffer(CONFIGS[name]),
        f"write_buffer_{name}",
        Path(__file__).with_name("write_buffer_bench.py"),
        simulator=simulator,
        seed=seed,
        parameters={"config": name},
        test_filter=part,
    )
