"""The oracle: the right answer of a device to each command, by the text of the contract alone.

Its sources are docs/reference/contract.md and docs/design.md. It was written without reading the functional
model or the RTL. It shares with them the places of fields and the numbers of statuses (`flashtrain.spec`). It
also shares the arithmetic of an optimizer step and the format of coded pages (`flashtrain.numerics`), which
have oracles of their own.
"""

from .checks import Surroundings
from .footprint import Footprint, footprint
from .oracle import Answer, Oracle, StreamZone
from .state import DeviceState, Encoded, StreamRights, StreamState, ZoneEntry
from .transfers import Memory, Written

__all__ = [
    "Answer", "DeviceState", "Encoded", "Footprint", "Memory", "Oracle", "StreamRights", "StreamState",
    "StreamZone", "Surroundings", "Written", "ZoneEntry", "footprint",
]  # fmt: skip
