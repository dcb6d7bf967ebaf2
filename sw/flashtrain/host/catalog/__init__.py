"""Named arrays in a stream: a catalogue that survives losses of power.

`catalog` is what users call; `catalog_log` keeps the index, and `catalog_room` makes room for it.
"""

from .array_info import ArrayInfo
from .array_view import ArrayView
from .catalog import Catalog

__all__ = ["ArrayInfo", "ArrayView", "Catalog"]
