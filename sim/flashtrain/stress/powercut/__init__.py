"""Cuts the power of a device at random cycles of a training run, and judges what it has afterwards.

The run itself is never disturbed: at each cut the process forks. In the copy the power fails, the device
recovers, is judged, and has to work on (`survival`); the original goes on to the next cut. So a training run
costs its time once, and is cut a thousand times.
"""

from .campaign import Campaign, NoSuchCycle, Tally
from .catalog_scenario import CatalogScenario
from .checkpoint_scenario import CheckpointScenario
from .lost import Cut, Lost
from .training_scenario import TrainingScenario

__all__ = [
    "Campaign",
    "CatalogScenario",
    "CheckpointScenario",
    "Cut",
    "Lost",
    "NoSuchCycle",
    "Tally",
    "TrainingScenario",
]
