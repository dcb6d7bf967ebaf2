"""The base of all figures, and the sensitivity of a result to each assumption."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from flashtrain.figures.drives import drive_assumptions
from flashtrain.figures.errors import FigureError
from flashtrain.figures.parts import Assumption, Content, Values
from flashtrain.ssd.drive_array import DriveArray


class PublishedFigure(ABC):
    """A published result, computed anew.

    `headline_name` says in words what `headline` is: the value whose sensitivity the page shows. With drives
    (:meth:`on`) it is `drives_headline_name`, if that is another value.

    `drives`: the assumptions that drives give, by name, each with a name of `drive_assumptions` and a factor.
    They replace those of that name, or come on top. The values of `drives_optional` may be unknown.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    headline_name: ClassVar[str]
    drives_headline_name: ClassVar[str] = ""
    assumptions: tuple[Assumption, ...]
    drives: ClassVar[Mapping[str, tuple[str, float]]] = {}
    drives_optional: ClassVar[tuple[str, ...]] = ()
    storage: DriveArray | None = None

    @abstractmethod
    def content(self, values: Values) -> Content:
        """All that the page shows, with these values of the assumptions."""

    @abstractmethod
    def headline(self, values: Values) -> float:
        """The value of which the tornado plot shows the sensitivity."""

    def on(self, array: DriveArray) -> Self:
        """With drives in the place of its storage; `FigureError` if the figure needs more than is known."""
        known, own = drive_assumptions(array), {each.name: each for each in self.assumptions}
        if not self.drives:
            raise FigureError(f"{self.name} has no storage that drives could replace")
        for name, (value, factor) in self.drives.items():
            if value in known:
                of = known[value]
                ends = (factor * of.value, factor * of.low, factor * of.high)
                unit = own[name].unit if name in own else of.unit
                own[name] = Assumption(name, *ends, unit, of.reason)
            elif value not in self.drives_optional:
                raise FigureError(
                    f"{self.name} needs {value}; expected drives that publish it, not {array.name}"
                )
        figure = copy(self)
        figure.storage, figure.assumptions = array, tuple(own.values())
        return figure

    @property
    def file_name(self) -> str:
        """The name of its files, without suffix."""
        return self.name if self.storage is None else f"{self.name}-{self.storage.name.replace(':', 'x')}"

    @property
    def shown_headline_name(self) -> str:
        return self.drives_headline_name if self.storage and self.drives_headline_name else self.headline_name

    def shown(self, values: Values) -> Content:
        """The content. With other drives, no value stands beside a published one."""
        content = self.content(values)
        if self.storage is None:
            return content
        compared = (replace(c, published=None, source="", why="") for c in content.comparisons)
        note = (
            f"Drives in the place of the storage that this is compared with: {self.storage.drives} of"
            f" {self.storage.name.partition(':')[0]} ({self.storage.source}). Published values are of other"
            " drives, and are left out."
        )
        return replace(content, comparisons=tuple(compared), notes=(note, *content.notes))

    def defaults(self) -> dict[str, float]:
        return {assumption.name: assumption.value for assumption in self.assumptions}

    def values(self, changed: Mapping[str, float]) -> dict[str, float]:
        """The defaults but for `changed`. Raises `FigureError` for a name that is no assumption."""
        known = self.defaults()
        for name in changed:
            if name not in known:
                raise FigureError(
                    f"{self.name} has no assumption {name!r}; expected one of {', '.join(known)}"
                )
        return {**known, **changed}


@dataclass(frozen=True)
class Sensitivity:
    """The headline with one assumption at both ends of its range, and all others at their values."""

    assumption: Assumption
    at_low: float
    at_high: float

    @property
    def span(self) -> float:
        return abs(self.at_high - self.at_low)


def sensitivities(figure: PublishedFigure, values: Values) -> list[Sensitivity]:
    """Of the headline to each assumption, the strongest first."""
    found = [
        Sensitivity(
            replace(assumption, value=values[assumption.name]),
            figure.headline({**values, assumption.name: assumption.low}),
            figure.headline({**values, assumption.name: assumption.high}),
        )
        for assumption in figure.assumptions
    ]
    return sorted(found, key=lambda each: -each.span)
