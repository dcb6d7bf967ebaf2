"""Configurations for the benches of the NAND half, by name."""

from dataclasses import replace

from flashtrain.rtl.layouts import BusKind
from flashtrain.sim.bench.streams import pack
from flashtrain.spec import Chips, FmsConfig
from flashtrain.spec.nand import BusOp
from flashtrain.spec.presets import BEHEMOTH, BEHEMOTH_WIDE, SMALL, SMALL_ECC, TINY, TINY_ECC
from flashtrain.spec.timing import Duration, ns

# One channel does not know how many there are; fewer blocks make the block table's sweep short.
EIGHT_PLANES = replace(BEHEMOTH, geometry=replace(BEHEMOTH.geometry, channels=4, blocks=32))
FOUR_DIES = replace(BEHEMOTH_WIDE, geometry=replace(BEHEMOTH_WIDE.geometry, channels=4, blocks=32))
FOUR_TINY_DIES = replace(
    TINY, geometry=replace(TINY.geometry, dies=4, planes=4, blocks=18, spare_blocks=2), read_queue=8
)

TINY_PORT = replace(TINY, name="tiny_port", command_port=True)
SLOW_PORT = replace(
    FOUR_TINY_DIES,
    name="slow_port",
    command_port=True,
    chips=replace(FOUR_TINY_DIES.chips, ready_busy=True),
    port_delay=1,
    # A board's clock. The times of a die's look-up are cycles.
    timing=replace(
        FOUR_TINY_DIES.timing, clock_mhz=100, trr=Duration(6, 20), twhr=Duration(8, 80), tr=ns(2_000),
        tadv=ns(2_000),
    ),
)  # fmt: skip

FOUR_DIES_PARTS = replace(
    FOUR_TINY_DIES,
    name="four_dies_parts",
    geometry=replace(FOUR_TINY_DIES.geometry, page_bytes=2048),
    part_bytes=512,
)

TINY_SCA, FOUR_DIES_SCA = (
    replace(one, name=name, chips=Chips(sca=True))
    for name, one in (("tiny_sca", TINY_ECC), ("four_dies_sca", FOUR_TINY_DIES))
)

SCA_PARTS = replace(FOUR_DIES_PARTS, name="sca_parts", chips=Chips(sca=True))

CONFIGS: dict[str, FmsConfig] = {
    "tiny": TINY,
    "tiny_code": TINY_ECC,
    "small": SMALL,
    "small_code": SMALL_ECC,
    "eight_planes": EIGHT_PLANES,
    "four_dies": FOUR_DIES,
    "four_tiny_dies": FOUR_TINY_DIES,
    "tiny_port": TINY_PORT,
    "slow_port": SLOW_PORT,
    "four_dies_parts": FOUR_DIES_PARTS,
    "tiny_sca": TINY_SCA,
    "four_dies_sca": FOUR_DIES_SCA,
    "sca_parts": SCA_PARTS,
}

_MOVE_PAGE = {
    BusOp.PROGRAM_MORE, BusOp.PROGRAM_LAST, BusOp.LOAD_CONSTANTS, BusOp.LOAD_GRADIENT, BusOp.DATA_OUT,
    BusOp.SET_TIMING_MODE, BusOp.SET_READ_LEVEL, BusOp.COPYBACK_READ, BusOp.COPYBACK_PROGRAM,
}  # fmt: skip
_SELECT = {BusOp.SELECT, BusOp.SELECT_COPY, BusOp.SELECT_STATISTICS, BusOp.STATUS_PLANE}


def bus_kind(op: BusOp) -> int:
    """The bits of `BusKind` that belong to an operation. Some are taken for others (`BusOp`)."""
    gives_page = op in (BusOp.DATA_OUT, BusOp.IDENTITY_OUT)
    return pack(BusKind(), moves_page=op in _MOVE_PAGE, gives_page=gives_page, selects=op in _SELECT)
