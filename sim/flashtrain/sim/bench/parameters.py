"""How a test hands values to its bench, which runs in the simulator's process."""

import json
import os

VARIABLE = "FLASHTRAIN_BENCH_PARAMETERS"
"""The environment variable that carries the values as JSON from `run_bench` to the simulator."""


def bench_parameters() -> dict:
    """The `parameters` that `flashtrain.sim.bench.runner.run_bench` was called with."""
    return json.loads(os.environ[VARIABLE])
