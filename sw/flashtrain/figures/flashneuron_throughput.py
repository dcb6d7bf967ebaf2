"""FlashNeuron's throughput: that of large batches with a storage over that in memory alone."""

from statistics import mean

from flashtrain.figures.drives import RATES
from flashtrain.figures.figure import PublishedFigure
from flashtrain.figures.flashneuron_runs import (
    ASSUMPTIONS,
    FACTORS,
    FULL,
    HEADLINE,
    NETWORKS,
    NOTES,
    WITHOUT,
    Runs,
)
from flashtrain.figures.parts import FLASHNEURON, Chart, Comparison, Content, Series, Table, Values

MOST, MEAN = 1.378, 1.303
WHY = (
    "a roofline makes small batches as efficient as large ones, but for launches of kernels and the step of"
    " the optimizer; how far real kernels gain from the batch is not public"
)


class FlashNeuronThroughput(PublishedFigure):
    name = "flashneuron-throughput"
    title = "Training throughput with activations on flash"
    headline_name = f"throughput over that in memory alone, best batch of the sweep, {HEADLINE}"
    assumptions = ASSUMPTIONS
    drives = RATES

    def headline(self, values: Values) -> float:
        runs = Runs(values)
        return runs.best(HEADLINE, runs.headline)

    def content(self, values: Values) -> Content:
        runs = Runs(values)
        best = {way: [runs.best(network, way) for network in NETWORKS] for way in (*runs.ways, *WITHOUT)}
        highest = max(best[FULL])
        return Content(
            comparisons=(
                Comparison(
                    f"throughput over memory alone, {FULL.label}, most of four networks"
                    f" ({NETWORKS[best[FULL].index(highest)]})",
                    highest, "times", MOST, f"{FLASHNEURON}: up to +37.8 %", why=WHY,
                ),
                Comparison(
                    "the same, mean of four networks",
                    mean(best[FULL]), "times", MEAN, f"{FLASHNEURON}: mean +30.3 %",
                ),
                *(
                    Comparison(f"throughput over memory alone, drives, {network}", value, "times")
                    for network, value in zip(NETWORKS, best[runs.headline], strict=True)
                    if runs.headline is not FULL
                ),
            ),
            charts=tuple(_over_batches(runs, network) for network in NETWORKS),
            tables=(
                Table(
                    "Most throughput over memory alone, of the batches of the charts",
                    ("storage and schedule", *NETWORKS),
                    tuple((way.label, *best[way]) for way in runs.ways),
                ),
                *(_switched_off(runs, factor) for factor in FACTORS[1:4]),
            ),
            notes=NOTES,
        )  # fmt: skip


def _over_batches(runs: Runs, network: str) -> Chart:
    series = []
    for way in runs.ways:
        points = [(batch, runs.throughput(network, batch, way)) for batch in runs.batches(network)]
        fitting = [point for point in points if point[1] > 0]
        series.append(Series(way.label, *(tuple(map(float, axis)) for axis in zip(*fitting, strict=True))))
    return Chart(
        f"{network}: throughput over memory alone", "times", tuple(series), "batch",
        levels={"memory alone": 1.0},
    )  # fmt: skip


def _switched_off(runs: Runs, factor: int) -> Table:
    rows = []
    for way in (FULL, *WITHOUT):
        found = [runs.throughput(n, factor * runs.most_in_memory(n), way) for n in NETWORKS]
        rows.append((way.label, *(value if value > 0 else "does not fit" for value in found)))
    return Table(
        f"Throughput at {factor} times the batch, {FULL.label}, with a part switched off",
        ("part", *NETWORKS),
        tuple(rows),
    )
