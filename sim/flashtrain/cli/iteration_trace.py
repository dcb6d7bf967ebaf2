"""The event trace of one iteration of training."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import Link
from flashtrain.sim.trace.window import Tracing
from flashtrain.spec import FmsConfig


class IterationTrace:
    """Records iteration number `iteration`; nothing where the Link cannot record."""

    def __init__(self, link: Tracing | None, iteration: int) -> None:
        self._link = link
        self._iteration = iteration
        self._records: NDArray[np.void] | None = None

    @classmethod
    def of(cls, link: Link, iteration: int) -> "IterationTrace":
        return cls(link if isinstance(link, Tracing) else None, iteration)

    def before_iteration(self, number: int) -> None:
        if self._link is not None and number == self._iteration:
            self._link.take_trace()
            self._link.set_tracing(True)

    def after_iteration(self, number: int) -> None:
        if self._link is not None and number == self._iteration:
            self._link.set_tracing(False)
            self._records = self._link.take_trace()

    def write(self, folder: Path, config: FmsConfig, title: str) -> list[Path]:
        """Write timeline.png and trace.json into `folder`; their paths."""
        if self._records is None:
            return []
        from flashtrain.sim.trace.figure import draw_timeline
        from flashtrain.sim.trace.perfetto import write_perfetto
        from flashtrain.sim.trace.trace import intervals

        found = intervals(self._records)
        figure, trace = folder / "timeline.png", folder / "trace.json"
        draw_timeline(found, config, figure, f"{title}, iteration {self._iteration}")
        write_perfetto(found, trace, config.timing.clock_mhz)
        return [figure, trace]
