"""How a test hands values to its bench, which runs in the simulator's process."""

import json
import os
from collections.abc import MutableMapping

VARIABLE = "FLASHTRAIN_BENCH_PARAMETERS"
"""The environment variable that carries the values as JSON from `run_bench` to the simulator."""

_LONG = "FLASHTRAIN_LONG_BENCHES"


def bench_parameters() -> dict:
    """The `parameters` that `flashtrain.sim.bench.runner.run_bench` was called with."""
    return json.loads(os.environ[VARIABLE])


def is_long() -> bool:
    """Whether benches run whole: in long runs of the tests."""
    return _LONG in os.environ


def set_long(environment: MutableMapping[str, str], long: bool) -> None:
    """Let the benches run whole in simulators that are started with this environment, or short."""
    environment.pop(_LONG, None)
    if long:
        environment[_LONG] = "1"
