"""Checkpoints of training runs: how they are stored, when they are taken, and the memory that they free."""

from .append_writer import AppendWriter
from .appended import AppendedCheckpoints
from .errors import CheckpointDamaged, CheckpointError, CheckpointExists, NoCheckpoint
from .files import FileCheckpoints
from .manifest import ArrayEntry, Manifest
from .pinned import PinnedCheckpoints
from .retention import Retention
from .state_arrays import arrays_of, initialise_from
from .store import Checkpoint, CheckpointStore, Saving, load, prune, save
from .stored_checkpoint import StoredCheckpoint

__all__ = [
    "AppendWriter",
    "AppendedCheckpoints",
    "ArrayEntry",
    "Checkpoint",
    "CheckpointDamaged",
    "CheckpointError",
    "CheckpointExists",
    "CheckpointStore",
    "FileCheckpoints",
    "Manifest",
    "NoCheckpoint",
    "PinnedCheckpoints",
    "Retention",
    "Saving",
    "StoredCheckpoint",
    "arrays_of",
    "initialise_from",
    "load",
    "prune",
    "save",
]
