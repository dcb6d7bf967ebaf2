"""The row of a whole iteration on the performance model, with a small workload."""

from flashtrain.cli.model_iteration import MOST_BYTES, run


def test_an_iteration_is_counted():
    ran = run("behemoth", "gpt 1x1")
    # 44 GB of weights twice read and once appended, and 42 GB of activations appended and read.
    assert 210e9 < ran.moved < 220e9
    assert 2.6 < ran.seconds < 3.1
    assert 0 < ran.cpu_seconds
    assert 0 < ran.peak_bytes
    assert MOST_BYTES == 200e6
