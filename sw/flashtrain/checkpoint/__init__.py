"""Checkpoints of training runs: how they are stored, when they are taken, and the memory that they free."""

from .errors import CheckpointDamaged, CheckpointError, CheckpointExists, NoCheckpoint
from .host_state.host_state import HostState
from .host_state.random_states import NumpyRandom, PythonRandom
from .pins.copy_out import CopyOut
from .pins.pin_every_commit import PinEveryCommit
from .pins.pinned import PinnedCheckpoints
from .pins.state_arrays import arrays_of, initialise_from
from .stores.append_writer import AppendWriter
from .stores.appended import AppendedCheckpoints
from .stores.files import FileCheckpoints
from .stores.flash_file import flash_file
from .stores.manifest import ArrayEntry, Manifest
from .stores.retention import Retention
from .stores.store import (
    Checkpoint,
    CheckpointSource,
    CheckpointStore,
    OpenedCheckpoint,
    Saving,
    load,
    prune,
    save,
)
from .stores.stored_checkpoint import StoredCheckpoint

__all__ = [
    "AppendWriter",
    "AppendedCheckpoints",
    "ArrayEntry",
    "Checkpoint",
    "CheckpointDamaged",
    "CheckpointError",
    "CheckpointExists",
    "CheckpointSource",
    "CheckpointStore",
    "CopyOut",
    "FileCheckpoints",
    "HostState",
    "Manifest",
    "NoCheckpoint",
    "NumpyRandom",
    "OpenedCheckpoint",
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
