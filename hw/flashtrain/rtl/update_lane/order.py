"""The orders of an update lane."""

from amaranth.lib import data, enum

from flashtrain.rtl.die.registers.pin_lanes import LANE_BYTES
from flashtrain.spec import FmsConfig
from flashtrain.spec.state_format import PLACE_BITS
from flashtrain.spec.update import gradient_buffer_pages


class LaneTask(enum.Enum, shape=2):
    STEP = 0  # a step begins: its `UpdateHeader` comes in; statistics are cleared
    TILE = 1  # gradients and a page set of state come in, the new state and the copies go out
    REPORT = 2  # the `UpdateStatistics` go out


class LaneOrder(data.StructLayout):
    """A task; for a TILE also the words of gradients, 1 or more, and of copies, and the tile's place.

    The place is that of `flashtrain.spec.state_format.tile_place`, for stochastic rounding.
    """

    def __init__(self, config: FmsConfig):
        g = config.geometry
        words = range(gradient_buffer_pages(g) * g.page_bytes // LANE_BYTES + 1)
        super().__init__({"task": LaneTask, "gradients": words, "copies": words, "place": PLACE_BITS})
