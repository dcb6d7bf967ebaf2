"""Executes runs on a Link."""

import time

from flashtrain.host import LinkFactory, open_device
from flashtrain.perf.measurement import BenchmarkError
from flashtrain.spec import FmsConfig

from .point import Observation, Run


def observe(run: Run, config: FmsConfig, factory: LinkFactory, memory_bytes: int) -> Observation:
    """Execute `run` on a new device of `config`, with a tensor buffer of `memory_bytes`.

    :class:`BenchmarkError` for a Link without time.
    """
    with open_device(config, factory, run.workload.node, memory_bytes) as device:
        device.link.run(1)
        if not device.cycles:
            raise BenchmarkError(
                f"{type(device.link).__name__} has no time; expected a Link that counts cycles"
            )
        first_cycle, started = device.cycles, time.process_time()
        values = run.workload.run(device)
        return Observation(values, device.cycles - first_cycle, time.process_time() - started)
