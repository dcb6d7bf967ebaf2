"""The rows of the target: short runs of them."""

import pytest

from flashtrain.perf.serve import serve_iops, serve_throughput


@pytest.mark.parametrize("measure, unit", [(serve_throughput, "MB/s"), (serve_iops, "reads/s")])
def test_a_short_run(measure, unit):
    measured = measure("small", True)
    assert measured.unit == unit and measured.value > 0 and measured.met is not None
    assert "of processor time each in the target" in measured.note
