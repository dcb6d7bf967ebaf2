"""Notes of streams in words: those of a training run, of checkpoints, of catalogues, and of others."""

from typing import Any

from flashtrain.checkpoint.pins.pin_note import PinNote
from flashtrain.checkpoint.stores.stream_catalogue import MAGIC as CHECKPOINTS
from flashtrain.checkpoint.stores.stream_catalogue import unpack
from flashtrain.host.catalog.segment import MAGIC as ARRAYS
from flashtrain.host.catalog.segment import unpack_root
from flashtrain.spec import FlashtrainError
from flashtrain.training.errors import PositionError
from flashtrain.training.run_position import RunPosition

_SHOWN = 16
"""Bytes of a note that nothing here can read."""


def note_document(note: bytes) -> dict[str, Any] | None:
    """A note by its `kind` and its fields; None without a note."""
    try:
        return _document(note) if note else None
    except FlashtrainError as error:
        return {"kind": "damaged", "error": str(error)}


def _document(note: bytes) -> dict[str, Any]:
    if (pinned := PinNote.unpack(note)) is not None:
        return {"kind": "checkpoint", "name": pinned.name, "host": note_document(pinned.host)}
    if note.startswith(CHECKPOINTS):
        checkpoints = [entry.checkpoint for entry in unpack(note)]
        return {
            "kind": "checkpoints",
            "checkpoints": [{"name": one.name, "step": one.step, "bytes": one.nbytes} for one in checkpoints],
        }
    if note.startswith(ARRAYS):
        following, segments = unpack_root(note)
        return {"kind": "catalogue", "next": following, "segments": len(segments)}
    try:
        position = RunPosition.unpack(note)
    except PositionError:
        return {"kind": "other", "begins": note[:_SHOWN].hex()}
    return {"kind": "run", "iterations": position.iterations, "committed": position.committed}
