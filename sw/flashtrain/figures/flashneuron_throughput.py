"""FlashNeuron's throughput: that of large batches with a storage over that in memory alone."""

from statistics import mean

from flashtrain.figures.batch_law import batch_laws, gain, half_for
from flashtrain.figures.drives import RATES
from flashtrain.figures.figure import PublishedFigure
from flashtrain.figures.flashneuron_batch import LEAST
from flashtrain.figures.flashneuron_runs import (
    ASSUMPTIONS,
    FACTORS,
    FULL,
    HEADLINE,
    LAYERS,
    NETWORKS,
    NOTES,
    WITHOUT,
    Runs,
)
from flashtrain.figures.parts import FLASHNEURON, Chart, Comparison, Content, Series, Table, Values

MOST, MEAN = 1.378, 1.303


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
        most = NETWORKS[best[FULL].index(highest)]
        return Content(
            comparisons=(
                Comparison(
                    f"throughput over memory alone, {FULL.label}, most of four networks ({most})",
                    highest, "times", MOST, f"{FLASHNEURON}: up to +37.8 %", why=_what_it_takes(runs, most),
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
                _by_law(runs),
                _measured(),
            ),
            notes=NOTES,
        )  # fmt: skip


def _what_it_takes(runs: Runs, network: str) -> str:
    """The fixed time of a layer that gives the published gain."""
    needed = half_for(MOST, runs.most_in_memory(network), LEAST) * runs.seconds_of_example(network)
    needed, assumed = (1e3 * fixed / LAYERS[network] for fixed in (needed, runs.fixed(network)))
    return (
        f"{LEAST} times the batch needs a fixed time of {needed:.2f} ms a layer for it; ours is {assumed:.2f}"
    )


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


def _by_law(runs: Runs) -> Table:
    """The gain that the fixed time allows, with a storage that never stops an iteration."""
    rows = []
    for network in NETWORKS:
        batch, half = runs.most_in_memory(network), runs.fixed(network) / runs.seconds_of_example(network)
        rows.append((network, batch, half, *(gain(half, batch, factor) for factor in FACTORS[1:])))
    return Table(
        "Throughput over memory alone, with a storage that never stops an iteration",
        ("network", "batch in memory alone", "with half of the peak", *(f"{f} times" for f in FACTORS[1:])),
        tuple(rows),
    )


def _measured() -> Table:
    return Table(
        "Fixed times, fitted to measurements of others: t(b) = t0 + b / peak",
        (
            "network",
            "on",
            "by",
            "batches",
            "t0, ms",
            "ms of a layer",
            "with half of the peak",
            "residual, at most",
        ),
        tuple(
            (
                f"{law.network}, {law.size}",
                f"{law.gpu}, {law.precision}, {law.framework}",
                law.source,
                f"{law.points[0][0]} to {law.points[-1][0]}",
                1e3 * law.fixed,
                1e3 * law.fixed_of_layer,
                law.half,
                f"{law.residual:.1%}",
            )
            for law in batch_laws()
        ),
    )
