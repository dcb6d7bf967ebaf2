"""The rows of the performance model's speed."""

import time
from dataclasses import dataclass

from flashtrain.perf.measurement import Cost, Result
from flashtrain.perf.model_speed import Case, model_speed
from flashtrain.spec import preset

from .bench_settings import Settings
from .console import Console

LINK = "model"


@dataclass(frozen=True)
class ModelSpeed:
    """The row `name`, of a case."""

    name: str
    case: Case

    def __call__(self, configuration: str, settings: Settings, console: Console) -> Result:
        console.step(f"{self.case.workload.value} through the kernel")
        started = time.process_time()
        measured = model_speed(preset(configuration), self.case)
        return Result.of(self.name, configuration, LINK, Cost(time.process_time() - started, 0), measured)
