"""What the dies store of a group of tensors, from the contract: formats, and random bits by place."""

import numpy as np

from flashtrain.host import TensorGroup
from flashtrain.numerics.state_format import (
    from_scaled,
    loaded,
    random_bits,
    random_halves,
    rounded,
    scaled_bits,
    step_key,
    stored_bits,
    upper_halves,
)
from flashtrain.spec import Geometry
from flashtrain.spec.optimizer import Input, OptimizerCode
from flashtrain.spec.state_format import (
    MOMENTS,
    PLAIN,
    SCALE_GROUP,
    SCALED,
    WEIGHTS,
    Rounding,
    StateFormat,
    StateFormats,
    tile_place,
)
from flashtrain.spec.update import Tile

NARROW = [
    StateFormats(weight, moments)
    for weight in WEIGHTS
    for moments in MOMENTS
    if StateFormats(weight, moments) != PLAIN
]
"""The pairs of formats with an array of fewer bits than 32, or of halves."""

BITS = {
    StateFormat.FP32: np.uint32,
    StateFormat.BF16: np.uint16,
    StateFormat.FP8: np.uint8,
    StateFormat.SPLIT: np.uint16,
}


def has(code: OptimizerCode, formats: StateFormats) -> bool:
    """Whether the optimizer's state may have these formats."""
    return formats.moments is not StateFormat.FP8 or code is not OptimizerCode.ADAMW_SCHEDULE_FREE


def tile_arrays(tile: Tile, data, parameters: int):
    """The arrays of so many parameters in a tile's bytes, as float32."""
    first, arrays = tile.first_bytes(parameters), []
    for number in range(tile.arrays):
        form = tile.formats.of(number)
        bits = data[first[number] : first[number] + form.bytes * parameters].view(BITS[form])
        if form is StateFormat.FP8:
            at = first[tile.arrays + number]
            shared = data[at : at + parameters // SCALE_GROUP]
            arrays.append(from_scaled(SCALED[number], bits, shared))
        else:
            arrays.append(loaded(form, bits))
    return arrays


def copied(form: StateFormat, weights):
    """The weights that copies are of, as they are stored; in SPLIT their upper halves."""
    return loaded(StateFormat.BF16, upper_halves(weights)) if form is StateFormat.SPLIT else weights


def put_tile_arrays(tile: Tile, data, arrays, halves):
    """Put arrays into a tile's bytes, rounded by random bits of each or to nearest; what is loaded again."""
    parameters = len(arrays[0])
    first, results = tile.first_bytes(parameters), []
    for number, (array, chance) in enumerate(zip(arrays, halves, strict=True)):
        form = tile.formats.of(number)
        if form is StateFormat.FP8:
            bits, shared = scaled_bits(SCALED[number], array, chance)
            at = first[tile.arrays + number]
            data[at : at + -(-len(shared) // 4) * 4] = 0
            data[at : at + len(shared)] = shared
        else:
            bits = stored_bits(form, array, chance)
        data[first[number] : first[number] + bits.nbytes] = bits.view(np.uint8)
        results.append(rounded(form, array, chance, number))
    return results


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
    filled = (0, -vector.size % form.multiple)  # the padding is of zeros, which change no scale
    chance = None if chance is None else np.pad(chance, filled)
    stored = rounded(form, np.pad(vector, filled), chance, number)[: vector.size]
    parts = np.split(stored, ends)
    return [part.reshape(np.shape(one)) for part, one in zip(parts, tensors, strict=True)]
