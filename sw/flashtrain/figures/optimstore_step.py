"""OptimStore's weight update: the step on the dies over that on the host and in the controller."""

from statistics import mean

from flashtrain.figures.drives import RATES, drive_rates, has_drives
from flashtrain.figures.figure import PublishedFigure
from flashtrain.figures.optimstore_ways import FIVE, SHARED, Ways
from flashtrain.figures.parts import (
    OPTIMSTORE,
    OPTIMSTORE_LATER,
    Chart,
    Comparison,
    Content,
    Relation,
    Series,
    Table,
    Values,
)

MULTIPLES = (0.25, 0.5, 1.0, 2.0, 4.0)
LINKS = (3.0, 3.6, 5.0, 7.2, 10.0, 14.4, 16.0)
FEWER = "the device of the publication is not known; with two dies a channel, Adam gains 3.0 and 1.7 times"


class OptimStoreStep(PublishedFigure):
    name = "optimstore-step"
    title = "Optimizer step of OptimStore"
    headline_name = "step on the dies over the host, mean of five optimizers"
    assumptions = SHARED
    drives = RATES

    def headline(self, values: Values) -> float:
        return mean(Ways(values, optimizer).over_host for optimizer in FIVE)

    def content(self, values: Values) -> Content:
        ways = {optimizer: Ways(values, optimizer) for optimizer in FIVE}
        bounds = {
            optimizer: {"dies": w.dies, "controller": w.controller, "host": w.host}
            for optimizer, w in ways.items()
        }
        simulated = {optimizer: w.simulated for optimizer, w in ways.items()}
        places = ("dies", "controller", "host")
        drives = has_drives(values)
        links = tuple(m * drive_rates(values)[0] / 1e9 for m in MULTIPLES) if drives else LINKS
        return Content(
            comparisons=(
                Comparison(
                    "step on the dies over the host, mean of five optimizers",
                    self.headline(values),
                    "times",
                    2.8,
                    f"{OPTIMSTORE}: 2.8 on average",
                    Relation.AT_LEAST,
                    why=FEWER,
                ),
                Comparison(
                    "step on the dies over the controller, mean of five optimizers",
                    mean(w.over_controller for w in ways.values()),
                    "times",
                    1.9,
                    f"{OPTIMSTORE_LATER}: 1.9",
                    Relation.AT_LEAST,
                    why=FEWER,
                ),
            ),
            charts=(
                Chart(
                    "Rate of a step",
                    "G parameters/s",
                    tuple(
                        Series(p, (), tuple(b[p].parameters_per_second / 1e9 for b in bounds.values()))
                        for p in places
                    ),
                    categories=tuple(bounds),
                ),
                Chart(
                    "Step on the dies over the host",
                    "times",
                    tuple(
                        Series(name, links, tuple(w.with_link(gb).over_host for gb in links))
                        for name, w in ways.items()
                        if name in ("sgd", "momentum", "adam")
                    ),
                    "GB/s that the drives read" if drives else "GB/s of the link",
                    levels={"published, 2.8": 2.8},
                ),
            ),
            tables=(
                Table(
                    "Bounds, M parameters per second, and the part that sets each",
                    ("optimizer", *places),
                    tuple(
                        (name, *(f"{b[p].parameters_per_second / 1e6:,.1f}, {b[p].part}" for p in places))
                        for name, b in bounds.items()
                    ),
                ),
                Table(
                    "Steps on the dies of the performance model, M parameters per second",
                    ("optimizer", "simulated", "of the bound"),
                    tuple(
                        (name, f"{rate / 1e6:,.1f}", f"{rate / ways[name].dies.parameters_per_second:.1%}")
                        for name, rate in simulated.items()
                    ),
                ),
            ),
            notes=(
                "The ratios are of bounds. On RTL the dies reach theirs with Adam, and the other two ways"
                " 99 % of theirs (`flashtrain bench --preset optimstore`).",
            ),
        )
