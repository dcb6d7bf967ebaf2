"""Checkpoints of training runs: how they are stored, when they are taken, and the memory that they free."""

from .append_writer import AppendWriter
from .appended import AppendedCheckpoints
from .copy_out import CopyOut
from .errors import CheckpointDamaged, CheckpointError, CheckpointExists, NoCheckpoint
from .files import FileCheckpoints
from .flash_file import flash_file
from .host_state import HostState
from .manifest import ArrayEntry, Manifest
from .pin_every_commit import PinEveryCommit
from .pinned import PinnedCheckpoints
from .random_states import NumpyRandom, PythonRandom
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
    "CopyOut",
    "FileCheckpoints",
    "HostState",
    "Manifest",
    "NoCheckpoint",
    "NumpyRandom",
    "PinEveryCommit",
    "PinnedCheckpoints",
    "PythonRandom",
    "Retention",
    "Saving",
    "StoredCheckpoint",
    "arrays_of",
    "flash_file",
    "initialise_from",
    "load",
    "prune",
    "save",
]
