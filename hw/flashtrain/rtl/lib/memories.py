"""Attributes of memories."""

from typing import Any

NEVER_COLLIDES: dict[str, Any] = {"no_rw_check": True}
"""Attributes of a memory whose reader does not use a word that is read in the cycle in which it is written.

Block memories return anything then; without the attribute, synthesis builds a bypass.
"""

IN_BLOCKS: dict[str, Any] = {**NEVER_COLLIDES, "ram_style": "block"}
"""Of such a memory of pages: it is wide and has few words, and would take many look-up tables."""
