"""Checkpoints of training runs: how they are stored, when they are taken, and the memory that they free."""

from .appended import AppendedCheckpoints
from .copy_out import CopyOut
from .errors import CheckpointDamaged, CheckpointError, CheckpointExists, NoCheckpoint
from .files import FileCheckpoints
from .manifest import ArrayEntry, Manifest
from .pin_every_commit import PinEveryCommit
from .pinned import PinnedCheckpoints
from .retention import Retention
from .state_arrays import arrays_of, initialise_from
from .store import Checkpoint, CheckpointStore, Saving, load, prune, save

__all__ = [
    "AppendedCheckpoints",
    "ArrayEntry",
    "Checkpoint",
    "CheckpointDamaged",
    "CheckpointError",
    "CheckpointExists",
    "CheckpointStore",
    "CopyOut",
    "FileCheckpoints",
    "Manifest",
    "NoCheckpoint",
    "PinEveryCommit",
    "PinnedCheckpoints",
    "Retention",
    "Saving",
    "arrays_of",
    "initialise_from",
    "load",
    "prune",
    "save",
]
