"""Between a die's logic and its array of cells."""

from amaranth import unsigned
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig


class ArrayOp(enum.Enum, shape=2):
    """Operations of the array, on one page or block of each plane of a set at the same time."""

    SENSE = 0
    PROGRAM = 1
    ERASE = 2
    SUSPENDED_READ = 3  # a sense; a program or erase under way is suspended for it


def row_layout(config: FmsConfig) -> data.StructLayout:
    """The fields of a row address (ONFI 5.1, section 3.1)."""
    g = config.geometry
    return data.StructLayout({"page": g.page_bits, "plane": g.plane_bits, "block": g.block_bits})


def words_per_page(config: FmsConfig) -> int:
    """Words of one page register."""
    return config.geometry.raw_page_bytes // config.die_word_bytes


class ArrayWords(wiring.Signature):
    """Words on their way between the data registers and the array, one per cycle.

    The array chooses their addresses.

    Members
    -------
    take : In(1)   the array reads word `word` of the data register of `plane`; it is in `from_register`
                   in the next cycle
    put : In(1)    the array writes that word, in `to_register`
    """

    def __init__(self, config: FmsConfig):
        bits = 8 * config.die_word_bytes
        super().__init__({
            "take": In(1),
            "put": In(1),
            "plane": In(max(1, config.geometry.plane_bits)),
            "word": In(range(words_per_page(config))),
            "from_register": Out(bits),
            "to_register": In(bits),
        })  # fmt: skip


class ArrayControl(wiring.Signature):
    """Operations of the array.

    An operation begins in the cycle of `start`, and its arguments are valid in that cycle only. `busy` is
    high from the next cycle to the last of the operation's time T: the next `start` may follow after T
    cycles. Within that time the array moves whole pages to or from the data registers.

    SUSPENDED_READ may start while the array is busy with a program or erase. `sensing` is high during its
    time. `busy` stays high and is extended by the time of the suspension. No other operation may start
    meanwhile.

    Members
    -------
    start : Out(1)       begin an operation
    op : Out(ArrayOp)
    planes : Out(planes) planes of the operation
    page : Out(page_bits) the same page on all of them
    blocks : Out(array)  a block of each plane
    abort : Out(1)       end the operation at once; its cells are undefined then
    busy : In(1)
    sensing : In(1)      SUSPENDED_READ is under way
    failed : In(planes)  planes on which the last operation failed; 0 while busy
    """

    def __init__(self, config: FmsConfig):
        super().__init__(_control_members(config))


class ArrayPort(wiring.Signature):
    """An array, from the side of the die's logic.

    Members
    -------
    members of `ArrayControl`
    words : Out(ArrayWords)
    level : Out   with `read_levels`: steps by which the read level of senses is lower
    """

    def __init__(self, config: FmsConfig):
        super().__init__({
            **_control_members(config),
            "words": Out(ArrayWords(config)),
            **({"level": Out(config.level_bits)} if config.read_levels else {}),
        })  # fmt: skip


def _control_members(config: FmsConfig) -> dict[str, wiring.Member]:
    g = config.geometry
    return {
        "start": Out(1),
        "op": Out(ArrayOp),
        "planes": Out(g.planes),
        "page": Out(g.page_bits),
        "blocks": Out(data.ArrayLayout(unsigned(g.block_bits), g.planes)),
        "abort": Out(1),
        "busy": In(1),
        "sensing": In(1),
        "failed": In(g.planes),
    }
