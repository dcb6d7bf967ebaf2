"""The settings of a bench that all rows share."""

from dataclasses import dataclass
from pathlib import Path

from flashtrain.native.build_cache import BUILD

from .trace_options import TraceRequest

RTL_RESULTS = BUILD / "model_error" / "rtl.json"


@dataclass(frozen=True)
class Settings:
    """- `quick`: shorter runs. `jobs`: processes at a time.
    - `folder`: of the figures.
    - `points`: a pattern of names of points, of `model_error`; None: all.
    - `against`: the Link, by name, that `model_error` compares with the RTL.
    - `rtl_results`: the file of values that the RTL has given for the points.
    - `trace`: a trace or waves of the only row.
    """

    quick: bool
    jobs: int
    folder: Path
    points: str | None = None
    against: str = "model"
    rtl_results: Path = RTL_RESULTS
    trace: TraceRequest = TraceRequest()
