"""Configurations for the benches of the NAND half, by name."""

from dataclasses import replace

from flashtrain.rtl.layouts import BusKind
from flashtrain.sim.bench.streams import pack
from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import BusOp
from flashtrain.spec.presets import BEHEMOTH, BEHEMOTH_WIDE, SMALL, SMALL_ECC, TINY, TINY_ECC

# One channel does not know how many there are; fewer blocks make the block table's sweep short.
EIGHT_PLANES = replace(BEHEMOTH, geometry=replace(BEHEMOTH.geometry, channels=4, blocks=32))
FOUR_DIES = replace(BEHEMOTH_WIDE, geometry=replace(BEHEMOTH_WIDE.geometry, channels=4, blocks=32))
FOUR_TINY_DIES = replace(
    TINY, geometry=replace(TINY.geometry, dies=4, planes=4, blocks=18, spare_blocks=2), read_queue=8
)

CONFIGS: dict[str, FmsConfig] = {
    "tiny": TINY,
    "tiny_code": TINY_ECC,
    "small": SMALL,
    "small_code": SMALL_ECC,
    "eight_planes": EIGHT_PLANES,
    "four_dies": FOUR_DIES,
    "four_tiny_dies": FOUR_TINY_DIES,
}

_MOVE_PAGE = {
    BusOp.PROGRAM_MORE, BusOp.PROGRAM_LAST, BusOp.LOAD_CONSTANTS, BusOp.LOAD_GRADIENT, BusOp.DATA_OUT,
    BusOp.SET_READ_LEVEL, BusOp.COPYBACK_READ, BusOp.COPYBACK_PROGRAM,
}  # fmt: skip
_SELECT = {BusOp.SELECT, BusOp.SELECT_COPY, BusOp.SELECT_STATISTICS, BusOp.STATUS_PLANE}


def bus_kind(op: BusOp) -> int:
    """The bits of `BusKind` that belong to an operation. Some are taken for others (`BusOp`)."""
    return pack(
        BusKind(), moves_page=op in _MOVE_PAGE, gives_page=op is BusOp.DATA_OUT, selects=op in _SELECT
    )
