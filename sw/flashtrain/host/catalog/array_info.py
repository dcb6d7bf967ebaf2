"""The properties of an array of a catalogue, known without a read."""

from dataclasses import dataclass

import numpy as np

from flashtrain.host.streams.stored import Extent


@dataclass(frozen=True)
class ArrayInfo:
    """An array of a catalogue.

    - number: of its assignment; later ones have higher numbers.
    - extents: the blocks of the stream that have its bytes; a small array shares its block with others.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype
    nbytes: int
    number: int
    extents: tuple[Extent, ...]
