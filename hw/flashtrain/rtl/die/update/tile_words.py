"""Between the tile sequencer and the memories that hold a tile and its gradients."""

from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.state_format import StateFormat
from flashtrain.spec.update import WORD_BYTES

ARRAYS = 4
"""Arrays of numbers: w or its upper halves, m, v, and the lower halves of w."""
LOWER = 3
"""The array of lower halves."""
SCALES = 2
"""Arrays of scales: those of m and of v."""


def most_parameters(config: FmsConfig) -> int:
    """The most parameters of a tile: weights alone, in 16 bits."""
    return config.geometry.page_set_bytes // StateFormat.BF16.bytes


def tile_regions(config: FmsConfig) -> int:
    """Arrays of a tile: those of numbers, and with `fp8_state` the scales of m and those of v."""
    return ARRAYS + (SCALES if config.fp8_state else 0)


class TileWords(wiring.Signature):
    """The words of four bytes of the tile in the cache registers, numbered in the order of plane and byte.

    Members
    -------
    read : Out(1)         requests word `read_index`
    read_ready : In(1)    grants it: the word is on `operand` in the next cycle; in any other cycle that is 0
    write : Out(1)        requests to replace word `write_index` by `result`
    write_ready : In(1)   grants it
    """

    def __init__(self, config: FmsConfig):
        index = range(config.geometry.page_set_bytes // WORD_BYTES)
        super().__init__({
            "read": Out(1),
            "read_index": Out(index),
            "read_ready": In(1),
            "operand": In(32),
            "write": Out(1),
            "write_index": Out(index),
            "write_ready": In(1),
            "result": Out(32),
        })  # fmt: skip


class GradientWords(wiring.Signature):
    """Gradients and copies of a tile, by the number of the parameter.

    Members
    -------
    wide : Out(1)         gradients have 32 bits and not 16
    read : Out(1)         reads gradient `read_index`: it is on `gradient` in the next cycle
    write : Out(1)        `copy` is the copy of parameter `write_index`
    write_ready : In(1)   it was taken
    """

    def __init__(self, config: FmsConfig):
        index = range(most_parameters(config))
        super().__init__({
            "wide": Out(1),
            "read": Out(1),
            "read_index": Out(index),
            "gradient": In(32),
            "write": Out(1),
            "write_index": Out(index),
            "write_ready": In(1),
            "copy": Out(16),
        })  # fmt: skip
