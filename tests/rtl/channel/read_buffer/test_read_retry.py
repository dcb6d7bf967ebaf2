"""Where pages wait that are read again."""

from pathlib import Path

import pytest

from flashtrain.rtl.channel.read_buffer.read_retry import ReadRetry
from flashtrain.sim.bench.runner import run_bench
from tests.rtl.channel.channel_helpers import CONFIGS


@pytest.mark.one_simulator
@pytest.mark.parametrize("name", ["tiny_retry", "dual_retry"])
def test_read_retry(name, simulator, seed):
    config = CONFIGS[name]
    assert config.code is not None
    run_bench(
        ReadRetry(config, config.code),
        f"read_retry_{name}",
        Path(__file__).with_name("read_retry_bench.py"),
        simulator=simulator,
        seed=seed,
        parameters={"config": name},
    )
