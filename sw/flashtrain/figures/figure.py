"""The base of all figures, and the sensitivity of a result to each assumption."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from flashtrain.figures.errors import FigureError
from flashtrain.figures.parts import Assumption, Content, Values


class PublishedFigure(ABC):
    """A published result, computed anew.

    `headline_name` says in words what `headline` is: the value whose sensitivity the page shows.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    headline_name: ClassVar[str]
    assumptions: ClassVar[tuple[Assumption, ...]]

    @abstractmethod
    def content(self, values: Values) -> Content:
        """All that the page shows, with these values of the assumptions."""

    @abstractmethod
    def headline(self, values: Values) -> float:
        """The value of which the tornado plot shows the sensitivity."""

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
