"""Checkpoints for training in PyTorch: `torch.distributed.checkpoint` and `torch.save` on a device."""

from flashtrain.checkpoint import HostState, NumpyRandom, PythonRandom, flash_file

from .buffers import Buffers
from .consolidation import consolidate
from .flash_reader import FlashReader
from .flash_writer import FlashWriter
from .parts import RankCheckpoints
from .random_states import TorchRandom
from .scaler_after_step import ScalerAfterStep
from .served import ServedCheckpoints

__all__ = [
    "Buffers",
    "FlashReader",
    "FlashWriter",
    "HostState",
    "NumpyRandom",
    "PythonRandom",
    "RankCheckpoints",
    "ScalerAfterStep",
    "ServedCheckpoints",
    "TorchRandom",
    "consolidate",
    "flash_file",
]
