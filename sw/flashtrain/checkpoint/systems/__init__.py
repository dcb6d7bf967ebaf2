"""Checkpoints of the literature and ours, by one set of formulas.

`CheckpointSystem` has the formulas that all share: overhead, least interval at a bound, loss of a failure.
Each system adds its stall, the time until a checkpoint survives a failure, and the load of a restart. All
rates are arguments; `flashtrain.figures` declares them with their sources.
"""

from flashtrain.checkpoint.systems.append import AppendState
from flashtrain.checkpoint.systems.async_save import AsyncSave
from flashtrain.checkpoint.systems.byte_checkpoint import ByteCheckpoint
from flashtrain.checkpoint.systems.checkfreq import CheckFreq
from flashtrain.checkpoint.systems.checkmate import Checkmate
from flashtrain.checkpoint.systems.file_save import FileSave
from flashtrain.checkpoint.systems.gemini import Gemini
from flashtrain.checkpoint.systems.gockpt import GoCkpt
from flashtrain.checkpoint.systems.job import Accelerator, TrainingJob, job_of
from flashtrain.checkpoint.systems.pccheck import PCcheck
from flashtrain.checkpoint.systems.pin import PinState
from flashtrain.checkpoint.systems.pin_copy import PinAndCopy
from flashtrain.checkpoint.systems.system import CheckpointSystem

__all__ = [
    "Accelerator",
    "AppendState",
    "AsyncSave",
    "ByteCheckpoint",
    "CheckFreq",
    "Checkmate",
    "CheckpointSystem",
    "FileSave",
    "Gemini",
    "GoCkpt",
    "PCcheck",
    "PinAndCopy",
    "PinState",
    "TrainingJob",
    "job_of",
]
