"""The parts of a figure: published values, assumptions, charts and tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

BEHEMOTH = "Behemoth (FAST'21), slides"
FLASHNEURON = "FlashNeuron (FAST'21), abstract"
CHECKPOINT_POSTER = "How to Exploit Flash Memory for DNN Training (poster)"
PCCHECK = "PCcheck (ASPLOS'25), public artifact"
CHECKMATE = "Checkmate (NSDI'26, arXiv:2507.13522), abstract"
GOCKPT = "GoCkpt (arXiv:2511.07035), abstract"
GOCKPT_LATER = "GoCkpt, as a public summary of its text repeats it"
BYTE_CHECKPOINT = "ByteCheckpoint (NSDI'25, arXiv:2407.20143), abstract"
BYTE_CHECKPOINT_LATER = "ByteCheckpoint, as a public summary of its text repeats it"
OPTIMSTORE = "OptimStore (HPCA'23), abstract"
OPTIMSTORE_LATER = "OptimStore (HPCA'23), as later public text repeats it"

Values = Mapping[str, float]
"""A value for each assumption, by name."""


@dataclass(frozen=True)
class Assumption:
    """A parameter of a figure, its default, and the range that the tornado plot covers.

    `reason`: the source of the value, or why it is chosen.
    """

    name: str
    value: float
    low: float
    high: float
    unit: str
    reason: str


class Relation(StrEnum):
    """The relation of a value to a published one that counts as reached."""

    ABOUT = "about"
    AT_LEAST = "at least"
    AT_MOST = "at most"


@dataclass(frozen=True)
class Comparison:
    """A published value and ours. With `Relation.ABOUT`, ours is within `tolerance` of it.

    `published` is None for a result without a published value; `why` explains a difference.
    """

    what: str
    ours: float
    unit: str
    published: float | None = None
    source: str = ""
    relation: Relation = Relation.ABOUT
    tolerance: float = 0.05
    why: str = ""

    @property
    def difference(self) -> float | None:
        """Of ours from the published value, as a share of it."""
        return None if self.published is None else self.ours / self.published - 1

    @property
    def criterion(self) -> str:
        """The criterion of `reached`, in words: ours, not the publication's."""
        return f"within {self.tolerance:.0%}" if self.relation is Relation.ABOUT else self.relation.value

    @property
    def reached(self) -> bool | None:
        """Whether it is; None without a published value."""
        if self.difference is None:
            return None
        if self.relation is Relation.AT_LEAST:
            return self.difference >= 0
        if self.relation is Relation.AT_MOST:
            return self.difference <= 0
        return abs(self.difference) <= self.tolerance


@dataclass(frozen=True)
class Series:
    """A line: `y` over `x`."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]


@dataclass(frozen=True)
class Chart:
    """Lines over numbers, or, with `categories`, groups of bars. `levels` are horizontal lines.

    A line in a chart with `log_y` leaves out its zeros.
    """

    title: str
    y_label: str
    series: tuple[Series, ...]
    x_label: str = ""
    categories: tuple[str, ...] = ()
    levels: Mapping[str, float] = field(default_factory=dict)
    log_y: bool = False
    log_x: bool = False


@dataclass(frozen=True)
class SpanRow:
    """A row of a `SpanChart`: spans with their kind, start and end."""

    label: str
    spans: tuple[tuple[str, float, float], ...]


@dataclass(frozen=True)
class SpanChart:
    """Spans over time, one row below the other. `kinds` are in the order of the legend."""

    title: str
    x_label: str
    kinds: tuple[str, ...]
    rows: tuple[SpanRow, ...]


@dataclass(frozen=True)
class Table:
    """Rows of text or numbers below a heading."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str | float | int, ...], ...]


@dataclass(frozen=True)
class Content:
    """All results of a figure; `notes` are sentences of the page. The command prints `verdict`, too."""

    comparisons: tuple[Comparison, ...]
    charts: tuple[Chart | SpanChart, ...]
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    verdict: str = ""
