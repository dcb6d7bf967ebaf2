"""The simulated system as one Verilated model, behind the same Link as the one in parts."""

from functools import cache
from pathlib import Path

from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.sim.waves.whole import build_whole
from flashtrain.spec import FmsConfig


class WholeLink(RtlLink):
    """An `RtlLink` to the system as one model."""

    def _build(self, config: FmsConfig) -> Path:
        return _built(config)


_built = cache(build_whole)
