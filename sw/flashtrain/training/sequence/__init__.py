"""Training command sequences: what a training run stores, reads and computes, step by step, before it runs.

`training_sequence` makes one from a network, a batch size, an optimizer and the place of its updates. It can
be saved and loaded (`file`), inspected (`summary`), and carried out with real arithmetic or as bare traffic
(`flashtrain.training.flash_training`).
"""

from flashtrain.training.sequence.build import training_sequence
from flashtrain.training.sequence.file import load_sequence, save_sequence
from flashtrain.training.sequence.sequence import TrainingSequence
from flashtrain.training.sequence.steps import (
    Append,
    Compute,
    Index,
    Initialise,
    Operation,
    Read,
    Repeat,
    Reset,
    Step,
    StreamRole,
    TensorInfo,
    Update,
    UpdatePlace,
)
from flashtrain.training.sequence.summary import StreamTraffic, summarise, summary_table

__all__ = [
    "Append",
    "Compute",
    "Index",
    "Initialise",
    "Operation",
    "Read",
    "Repeat",
    "Reset",
    "Step",
    "StreamRole",
    "StreamTraffic",
    "TensorInfo",
    "TrainingSequence",
    "Update",
    "UpdatePlace",
    "load_sequence",
    "save_sequence",
    "summarise",
    "summary_table",
    "training_sequence",
]
