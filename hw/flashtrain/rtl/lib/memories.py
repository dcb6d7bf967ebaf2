"""Attributes of memories."""

from typing import Any

NEVER_COLLIDES: dict[str, Any] = {"no_rw_check": True, "ramstyle": "no_rw_check"}
"""Attributes of a memory whose reader does not use a word that is read in the cycle in which it is written.

Block memories return anything then; without the attribute, synthesis builds a bypass. The first is the word
of Yosys, the second that of Quartus. Vivado adds a bypass only on demand (UG901, RW_ADDR_COLLISION).
"""

IN_BLOCKS: dict[str, Any] = {**NEVER_COLLIDES, "ram_style": "block"}
"""Of such a memory of pages: it is wide and has few words, and would take many look-up tables.

The word of Yosys and Vivado. Quartus has words for the blocks of each device only, so it chooses itself.
"""
