"""The rows of the target of NVMe over TCP."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from flashtrain.perf.measurement import Cost, Measurement, Result

from .bench_settings import Settings
from .console import Console

LINK = "functional"


@dataclass(frozen=True)
class ServeSpeed:
    """The row `name`, measured in seconds by `measure` with a preset's name, quickly or not."""

    name: str
    measure: Callable[[str, bool], Measurement]

    def __call__(self, configuration: str, settings: Settings, console: Console) -> Result:
        console.step(f"a target of {configuration} in a process of its own")
        started = time.process_time()
        measured = self.measure(configuration, settings.quick)
        return Result.of(self.name, configuration, LINK, Cost(time.process_time() - started, 0), measured)
