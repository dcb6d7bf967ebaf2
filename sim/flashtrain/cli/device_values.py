"""Values of an inspection as `flashtrain device` prints them."""

from typing import Any

from flashtrain.inspection.wear import Wear


def wear_text(wear: Wear | None) -> str:
    return "-" if wear is None else f"{wear.min:,} / {wear.mean:,.1f} / {wear.max:,}"


def percent(part: float | None) -> str:
    if part is None:
        return "-"
    if 0 < part < 0.001:
        return "<0.001%"
    return "0%" if part == 0 else f"{part:.3f}%" if part < 1 else f"{part:.1f}%"


def duration(seconds: float | None) -> str:
    """Seconds in the unit that suits them."""
    if seconds is None:
        return "-"
    for unit, size, least in (
        ("years", 365 * 86_400, 2),
        ("days", 86_400, 2),
        ("h", 3600, 1),
        ("min", 60, 1),
    ):
        if seconds >= least * size:
            return f"{seconds / size:.4g} {unit}"
    return f"{seconds:.4g} s"


def note_text(nbytes: int, note: dict[str, Any] | None) -> str:
    if note is None:
        return "-"
    return f"{nbytes} bytes: {_note(note)}"


def _note(note: dict[str, Any]) -> str:
    kind = note["kind"]
    if kind == "run":
        return f"run, {note['iterations']} iterations, {note['committed']} committed"
    if kind == "checkpoint":
        return f"checkpoint {note['name']}" + (f", {_note(note['host'])}" if note["host"] else "")
    if kind == "checkpoints":
        return f"{len(note['checkpoints'])} checkpoints"
    if kind == "catalogue":
        return f"catalogue, {note['segments']} segments"
    return f"other, begins {note['begins']}"
