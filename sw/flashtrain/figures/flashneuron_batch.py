"""FlashNeuron's batch sizes: the largest batch with a storage over that in memory alone."""

from flashtrain.figures.drives import RATES
from flashtrain.figures.figure import PublishedFigure
from flashtrain.figures.flashneuron_runs import (
    AS_FAST,
    ASSUMPTIONS,
    FULL,
    HEADLINE,
    NETWORKS,
    NOTES,
    WITHOUT,
    Runs,
)
from flashtrain.figures.parts import FLASHNEURON, Chart, Comparison, Content, Relation, Series, Table, Values

LEAST, MOST = 12.4, 14.0
FITS = "fits the memory"


class FlashNeuronBatch(PublishedFigure):
    name = "flashneuron-batch"
    title = "Batch sizes with activations on flash"
    headline_name = f"largest batch that fits over that in memory alone, {HEADLINE}"
    assumptions = ASSUMPTIONS
    drives = RATES

    def headline(self, values: Values) -> float:
        runs = Runs(values)
        alone = runs.most_in_memory(HEADLINE)
        return runs.most(HEADLINE, runs.headline) / alone if alone else 0.0

    def content(self, values: Values) -> Content:
        runs = Runs(values)
        alone = {network: runs.most_in_memory(network) for network in NETWORKS}
        most = {network: runs.most(network, FULL) / alone[network] for network in NETWORKS}
        low, high = min(most, key=most.__getitem__), max(most, key=most.__getitem__)
        factors = {way: [runs.factor(network, way) for network in NETWORKS] for way in (*runs.ways, *WITHOUT)}
        return Content(
            comparisons=(
                Comparison(
                    f"largest batch that fits, over that in memory alone, most of four networks ({high})",
                    most[high], "times", MOST, f"{FLASHNEURON}: {LEAST} to {MOST}", Relation.AT_LEAST,
                ),
                Comparison(
                    f"the same, least of four networks ({low})",
                    most[low], "times", LEAST, f"{FLASHNEURON}: {LEAST} to {MOST}", Relation.AT_LEAST,
                    why="one operation must fit the memory with all that it takes and gives, and weights with"
                    " Adam's state stay there; the published networks are others, and not public",
                ),
            ),
            charts=(
                Chart(
                    f"Largest multiple of the batch with at least {AS_FAST:.0%} of the throughput",
                    "times",
                    (
                        *(Series(way.label, (), tuple(map(float, factors[way]))) for way in runs.ways),
                        Series(FITS, (), tuple(most.values())),
                    ),
                    categories=NETWORKS,
                    levels={f"published, {LEAST}": LEAST, f"published, {MOST}": MOST},
                ),
            ),
            tables=(
                Table(
                    "Batches",
                    ("network", "in memory alone", "with storage, at most"),
                    tuple((network, alone[network], runs.most(network, FULL)) for network in NETWORKS),
                ),
                Table(
                    f"Largest multiple of the batch with at least {AS_FAST:.0%} of the throughput",
                    ("storage and schedule", *NETWORKS),
                    tuple((way.label, *factors[way]) for way in runs.ways),
                ),
                Table(
                    f"The same, {FULL.label}, with a part switched off",
                    ("part", *NETWORKS),
                    tuple((way.label, *factors[way]) for way in (FULL, *WITHOUT)),
                ),
            ),
            notes=NOTES,
        )  # fmt: skip
