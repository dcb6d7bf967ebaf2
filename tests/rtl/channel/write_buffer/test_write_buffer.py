"""The write buffer of a channel."""

from pathlib import Path

import pytest

from flashtrain.rtl.channel.write_buffer.write_buffer import WriteBuffer
from flashtrain.sim.bench.runner import run_bench
from tests.rtl.channel.channel_helpers import CONFIGS


@pytest.mark.long("icarus", "dual")
@pytest.mark.long("wide")
@pytest.mark.long("dual_code")
@pytest.mark.long("wide_code")
@pytest.mark.long("verilator", "tiny_code")
@pytest.mark.long("tiny_retry")
@pytest.mark.long("dual_random")
@pytest.mark.long("dual_retry")
@pytest.mark.long("wide_random")
@pytest.mark.long("icarus", "tiny_random")
@pytest.mark.parametrize("name", CONFIGS)
def test_write_buffer(name, simulator, seed):
    run_bench(
        WriteBuffer(CONFIGS[name]),
        f"write_buffer_{name}",
        Path(__file__).with_name("write_buffer_bench.py"),
        simulator=simulator,
        seed=seed,
        parameters={"config": name},
    )
