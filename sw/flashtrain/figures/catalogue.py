"""All figures, by name."""

from flashtrain.figures.behemoth_endurance import BehemothEndurance
from flashtrain.figures.behemoth_memory_cost import BehemothMemoryCost
from flashtrain.figures.behemoth_requirement import BehemothRequirement
from flashtrain.figures.behemoth_throughput import BehemothThroughput
from flashtrain.figures.checkpoint_interval import CheckpointInterval
from flashtrain.figures.checkpoint_memory import CheckpointMemory
from flashtrain.figures.checkpoint_stall import CheckpointStall
from flashtrain.figures.drives_2026 import Drives2026
from flashtrain.figures.errors import FigureError
from flashtrain.figures.figure import PublishedFigure
from flashtrain.figures.flashneuron_batch import FlashNeuronBatch
from flashtrain.figures.flashneuron_throughput import FlashNeuronThroughput
from flashtrain.figures.optimstore_dies import OptimStoreDies
from flashtrain.figures.optimstore_end_to_end import OptimStoreEndToEnd
from flashtrain.figures.optimstore_energy import OptimStoreEnergy
from flashtrain.figures.optimstore_lifetime import OptimStoreLifetime
from flashtrain.figures.optimstore_state import OptimStoreState
from flashtrain.figures.optimstore_step import OptimStoreStep

FIGURES: dict[str, PublishedFigure] = {
    figure.name: figure
    for figure in (
        BehemothThroughput(),
        BehemothMemoryCost(),
        BehemothEndurance(),
        BehemothRequirement(),
        OptimStoreStep(),
        OptimStoreEnergy(),
        OptimStoreEndToEnd(),
        OptimStoreDies(),
        OptimStoreLifetime(),
        OptimStoreState(),
        FlashNeuronBatch(),
        FlashNeuronThroughput(),
        CheckpointStall(),
        CheckpointInterval(),
        CheckpointMemory(),
        Drives2026(),
    )
}


def figure_named(name: str) -> PublishedFigure:
    """The figure of that name; `FigureError` names the known ones."""
    if name not in FIGURES:
        raise FigureError(f"no figure {name!r}; expected all or one of {', '.join(FIGURES)}")
    return FIGURES[name]
