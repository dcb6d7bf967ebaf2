"""Page sets whose program has failed, and that after them."""

from amaranth.lib import data

from flashtrain.spec import FmsConfig


class ProgrammedSet(data.StructLayout):
    """A page set of which the program has been started; its slot is not free yet."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        super().__init__({
            "slot": (config.write_sets - 1).bit_length(),
            "zone": g.zone_bits,
            "row": g.row_bits,
            "first": g.plane_bits,
            "last": g.plane_bits,
        })  # fmt: skip


class FailedSets(data.StructLayout):
    """The program of `first` has failed; or if `both`, it may be that of `second`, too, which came after it.

    Programmer to mover. Of both, FAILC of each plane is that of the first, FAIL that of the second.
    """

    def __init__(self, config: FmsConfig):
        super().__init__({"first": ProgrammedSet(config), "second": ProgrammedSet(config), "both": 1})
