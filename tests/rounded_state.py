"""What the dies store of a group of tensors, from the contract: formats, and random bits by place."""

import numpy as np

from flashtrain.host import TensorGroup
from flashtrain.numerics.state_format import random_bits, random_halves, rounded, step_key
from flashtrain.spec import Geometry
from flashtrain.spec.optimizer import Input
from flashtrain.spec.state_format import PLAIN, Rounding, StateFormat, StateFormats, tile_place

NARROW = [
    StateFormats(weight, moments)
    for weight in StateFormat
    for moments in StateFormat
    if StateFormats(weight, moments) != PLAIN
]
"""The pairs of formats with an array of 16 bits."""


def group_bits(group: TensorGroup, geometry: Geometry, update: int, number: int = 0, first_row: int = 0):
    """48 random bits of each parameter of a group whose rows of tiles begin at `first_row` of a stream."""
    layout = group.layout(geometry)
    places = []
    for row in range(first_row, first_row + layout.rows):
        zone, within = divmod(row, geometry.dies * geometry.pages)
        page, die = divmod(within, geometry.dies)
        places += [tile_place(zone, page, channel, die) for channel in range(geometry.channels)]
    key = step_key(group.seed, update, number)
    bits = random_bits(key, np.array(places, np.uint64), layout.tile.parameters)
    return bits.reshape(-1)[: layout.parameters]


def as_stored(group: TensorGroup, array: Input, tensors, bits=None):
    """The tensors of an array as they are read again; `bits`: of the group's parameters."""
    number = group.arrays.index(array)
    form, ends = group.formats.of(number), np.cumsum([np.size(one) for one in tensors])[:-1]
    chance = None if bits is None or group.rounding is Rounding.NEAREST else random_halves(bits, number)
    vector = np.concatenate([np.reshape(one, -1) for one in tensors])
    parts = np.split(rounded(form, vector, chance), ends)
    return [part.reshape(np.shape(one)) for part, one in zip(parts, tensors, strict=True)]
