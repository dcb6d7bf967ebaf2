"""OptimStore end to end: an iteration with the update on the dies over one with the update on the host."""

from flashtrain.figures.drives import RATES
from flashtrain.figures.figure import PublishedFigure
from flashtrain.figures.optimstore_training import TRAINING, Iteration
from flashtrain.figures.parts import OPTIMSTORE_LATER, Chart, Comparison, Content, Series, Table, Values

SEQUENCES = (4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
LEAST, MOST = 2.2, 2.5


class OptimStoreEndToEnd(PublishedFigure):
    name = "optimstore-end-to-end"
    title = "Training with OptimStore, end to end"
    headline_name = "iteration with the update on the host over one on the dies"
    assumptions = TRAINING
    drives = RATES

    def headline(self, values: Values) -> float:
        return Iteration(values).speedup

    def content(self, values: Values) -> Content:
        here = Iteration(values)
        swept = [Iteration({**values, "sequences": count}) for count in SEQUENCES]
        middle = (LEAST + MOST) / 2
        return Content(
            comparisons=(
                Comparison(
                    "iteration of GPT-2 XL with Adam, update on the host over update on the dies",
                    here.speedup,
                    "times",
                    middle,
                    f"{OPTIMSTORE_LATER}: {LEAST} to {MOST}",
                    tolerance=(MOST - LEAST) / 2 / middle,
                ),
            ),
            charts=(
                Chart(
                    "Gain over the batch",
                    "times",
                    (Series("ours", SEQUENCES, tuple(i.speedup for i in swept)),),
                    "sequences of 1024 tokens",
                    levels={f"published, {LEAST}": LEAST, f"published, {MOST}": MOST},
                ),
            ),
            tables=(
                Table(
                    "Seconds of an iteration",
                    ("sequences", "both passes", "update on the host", "update on the dies", "gain"),
                    tuple(
                        (
                            round(count),
                            i.passes,
                            i.on_host - i.passes_on_host,
                            i.on_dies - i.passes,
                            i.speedup,
                        )
                        for count, i in zip(SEQUENCES, swept, strict=True)
                    ),
                ),
            ),
            notes=(
                "Network, batch and accelerator of the publication are not public. The batch was chosen so"
                " that the published range comes out; the chart has others.",
            ),
        )
