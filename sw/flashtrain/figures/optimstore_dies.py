"""The gain of OptimStore's step over the dies of a channel."""

from flashtrain.figures.drives import RATES, has_drives
from flashtrain.figures.figure import PublishedFigure
from flashtrain.figures.optimstore_ways import SHARED, Ways
from flashtrain.figures.parts import Chart, Comparison, Content, Series, Table, Values

COUNTS = (1, 2, 4, 8)
CHANNELS = (4, 8, 16)


class OptimStoreDies(PublishedFigure):
    name = "optimstore-dies"
    title = "Gain of OptimStore's step over the dies of a channel"
    headline_name = "step on the dies over the controller, Adam"
    drives_headline_name = "step on the dies over the host with drives, Adam"
    assumptions = SHARED
    drives = RATES

    def headline(self, values: Values) -> float:
        return Ways(values).over_host if has_drives(values) else Ways(values).over_controller

    def content(self, values: Values) -> Content:
        ways = [Ways(values).changed(dies=count) for count in COUNTS]
        most = ways[-1]
        return Content(
            comparisons=(
                Comparison("8 dies a channel: dies over controller, Adam", most.over_controller, "times"),
                Comparison("8 dies a channel: dies over host, Adam", most.over_host, "times"),
            ),
            charts=(
                Chart(
                    "Adam step on the dies over other places",
                    "times",
                    (
                        Series("over the host", COUNTS, tuple(w.over_host for w in ways)),
                        Series("over the controller", COUNTS, tuple(w.over_controller for w in ways)),
                    ),
                    "dies of a channel",
                    levels={"published over the host, 2.8": 2.8, "published over the controller, 1.9": 1.9},
                ),
                _over_channels(values),
            ),
            tables=(
                Table(
                    "Bounds of an Adam step, M parameters per second",
                    ("dies of a channel", "on the dies", "in the controller", "on the host"),
                    tuple(
                        (
                            count,
                            *(
                                f"{bound.parameters_per_second / 1e6:,.1f}, {bound.part}"
                                for bound in (w.dies, w.controller, w.host)
                            ),
                        )
                        for count, w in zip(COUNTS, ways, strict=True)
                    ),
                ),
            ),
            notes=(
                "The publication's values over the dies of a channel are not public. Its averages, 2.8 over"
                " the host and 1.9 over the controller, are close to two dies a channel of this device.",
            ),
        )


def _over_channels(values: Values) -> Chart:
    """Up to 128 dies."""
    series = []
    for channels in CHANNELS:
        ways = [Ways(values).changed(channels=channels, dies=count) for count in COUNTS]
        rates = tuple(w.dies.parameters_per_second / 1e9 for w in ways)
        series.append(Series(f"{channels} channels", tuple(channels * count for count in COUNTS), rates))
    return Chart("Adam step on the dies", "G parameters/s", tuple(series), "dies of the device")
