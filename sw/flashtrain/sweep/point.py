"""Points of a sweep: a workload on a configuration, and its outcome."""

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isfinite

from flashtrain.spec import FlashtrainError, FmsConfig
from flashtrain.spec.errors import require

from .columns import config_columns
from .limits import Options, Value, option_columns
from .source import source_digest


@dataclass(frozen=True)
class Point:
    """One job of a sweep.

    - `base`: the preset or the file that the configuration was made from, as the sweep file names it.
    - `link`: name of the Link; empty for a workload without a device.
    """

    base: str
    config: FmsConfig
    workload: str
    link: str
    options: Options
    quick: bool

    @cached_property
    def columns(self) -> dict[str, Value]:
        """Everything that the outcome depends on, in cells."""
        options = {f"option.{name}": value for name, value in option_columns(self.options).items()}
        return {
            "workload": self.workload,
            "link": self.link,
            "quick": self.quick,
            **config_columns(self.config),
            **options,
        }

    @cached_property
    def key(self) -> str:
        """A name that differs when any column does, 128 bits in hexadecimal digits."""
        text = json.dumps(self.columns, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def __str__(self) -> str:
        link = f" on the {self.link} link" if self.link else ""
        options = "".join(f", {name} = {value}" for name, value in option_columns(self.options).items())
        return f"{self.workload} on {self.config.name}{link}{options}"


@dataclass(frozen=True)
class Outcome:
    """The measured values of a point, or the reason why there are none.

    - `source`: digest of the code that measured them.
    - `seconds`: wall time of the job.
    """

    key: str
    source: str
    seconds: float
    result: Mapping[str, Value]
    error: str | None = None


def accept(point: Point) -> None:
    """The check of a workload that runs on every configuration."""


@dataclass(frozen=True)
class Workload:
    """A kind of job.

    - `run`: the measured values of a point, by name.
    - `links`: names of the Links that it runs on; empty for a workload without a device.
    - `options`: their names and limits.
    - `check`: raises `FlashtrainError` for a point that cannot be run; takes milliseconds and no device.
    - `alone`: a value depends on the load of the machine.
    """

    summary: str
    run: Callable[[Point], Mapping[str, Value]]
    links: tuple[str, ...] = ()
    options: type[Options] = Options
    check: Callable[[Point], None] = accept
    alone: bool = False


def carry_out(workload: Workload, point: Point) -> Outcome:
    """Run the job of `point` in this process. An error that a user can understand is part of the outcome."""
    source, started = source_digest(), time.monotonic()
    result: Mapping[str, Value] = {}
    error = None
    try:
        result = workload.run(point)
        for name, value in result.items():
            require(not isinstance(value, float) or isfinite(value), name, value, "a finite number")
    except (FlashtrainError, OSError, MemoryError) as failure:
        error = " ".join(f"{type(failure).__name__}: {failure}".split())
    return Outcome(point.key, source, time.monotonic() - started, dict(result), error)
