"""The lifetime of OptimStore's device under training."""

from flashtrain.figures.behemoth_endurance import WRITTEN, YEAR
from flashtrain.figures.drives import RATES, has_drives
from flashtrain.figures.figure import PublishedFigure
from flashtrain.figures.optimstore_training import TRAINING, Iteration
from flashtrain.figures.parts import Assumption, Chart, Comparison, Content, Series, Table, Values
from flashtrain.spec.streams import Retention

CYCLES = Assumption(
    "pe_cycles", Retention.DAYS.endurance, Retention.YEARS.endurance, Retention.MINUTES.endurance, "cycles",
    "of pSLC as of SLC with a retention of days (Behemoth's slides); an assumption",
)  # fmt: skip
DUTY = Assumption("duty", 1, 0.25, 1, "", "share of its life in which the device trains; an assumption")


class OptimStoreLifetime(PublishedFigure):
    name = "optimstore-lifetime"
    title = "Lifetime of OptimStore's device"
    headline_name = "years of training GPT-2 XL with updates on the dies"
    drives_headline_name = "years of training GPT-2 XL with updates on the host, state on the drives"
    drives = {**RATES, WRITTEN: (WRITTEN, 1.0)}
    assumptions = (CYCLES, DUTY, *TRAINING)

    def headline(self, values: Values) -> float:
        iteration = Iteration(values)
        if has_drives(values):
            return _life_of_drives(iteration) * iteration.on_host / values["duty"] / YEAR
        return _life(iteration) * iteration.on_dies / values["duty"] / YEAR

    def content(self, values: Values) -> Content:
        iteration = Iteration(values)
        drives = has_drives(values)
        lives = {"dies": _life(iteration), "host": _life_of_drives(iteration) if drives else _life(iteration)}
        places = {"dies": iteration.on_dies, "host": iteration.on_host}
        cycles = tuple(retention.endurance for retention in reversed(Retention))
        years = {
            place: tuple(_life(iteration, c) * seconds / values["duty"] / YEAR for c in cycles)
            for place, seconds in places.items()
            if place == "dies" or not drives
        }
        return Content(
            comparisons=(
                Comparison(
                    "years of training with updates on the dies",
                    lives["dies"] * iteration.on_dies / values["duty"] / YEAR,
                    "years",
                ),
                Comparison("iterations until the cells have had their cycles", lives["dies"] / 1e6, "M"),
                *([Comparison(self.drives_headline_name, self.headline(values), "years")] if drives else []),
            ),
            charts=(
                Chart(
                    "Years of uninterrupted training",
                    "years",
                    tuple(Series(f"update on the {place}", cycles, y) for place, y in years.items()),
                    "P/E cycles: data last years, days, minutes",
                    log_y=True,
                ),
            ),
            tables=(
                Table(
                    "Lifetime",
                    ("update on the", "seconds of an iteration", "M iterations", "years"),
                    tuple(
                        (place, seconds, lives[place] / 1e6, lives[place] * seconds / values["duty"] / YEAR)
                        for place, seconds in places.items()
                    ),
                ),
            ),
            notes=(
                "A step programs the whole state anew wherever it is computed, so both ways wear the cells"
                " equally per iteration. Updates on the dies take more iterations per day. The publication's"
                " lifetime is not public.",
            ),
        )


def _life(iteration: Iteration, cycles: float | None = None) -> float:
    """Iterations until every block has had so many cycles, or those of the assumption."""
    return iteration.life([iteration.ways.case], cycles or iteration.values[CYCLES.name])


def _life_of_drives(iteration: Iteration) -> float:
    """Iterations until drives have had the bytes that they endure; each writes all state."""
    written = iteration.parameters * iteration.ways.case.state_bytes
    return iteration.values[WRITTEN] * 1e15 / written
