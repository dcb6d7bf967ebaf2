"""The boards of the tests, with a fast line: this project's dies, and SDR chips, on one channel."""

from dataclasses import replace

from flashtrain.spec.boards import Board
from flashtrain.spec.chips import MANDATORY
from flashtrain.spec.presets import TINY
from flashtrain.spec.sdr import with_sdr_waits
from flashtrain.spec.timing import Duration, ns

BOARD = Board(
    replace(
        TINY,
        name="tiny_board",
        geometry=replace(TINY.geometry, channels=1),
        # Above six cycles, for a lookup in the registers of a die.
        timing=replace(TINY.timing, clock_mhz=100, trr=ns(60)),
        max_blocks=12,
        command_port=True,
    ),
    buffer_bytes=16 << 10,
    baud=25_000_000,
)

CHIP_BOARD = replace(
    BOARD,
    config=replace(
        BOARD.config,
        name="chip_board",
        geometry=replace(BOARD.config.geometry, planes=1, blocks=10),
        # Times of the array are those of `ChipBoard`'s part.
        timing=with_sdr_waits(
            replace(
                TINY.timing, clock_mhz=100, twc=ns(20), trr=Duration(6, 40), tr=ns(1_250), tprog=ns(10_000),
                tbers=ns(35_000), tcbsy=ns(150), tdbsy=ns(25), trst=ns(500), tfeat=ns(50),
            )
        ),
        max_blocks=6,
        port_delay=2,
        chips=replace(MANDATORY, sdr_mode=5),
    ),
)  # fmt: skip

MARKED_BOARD = replace(
    CHIP_BOARD,
    config=replace(
        CHIP_BOARD.config,
        name="marked_board",
        geometry=replace(CHIP_BOARD.config.geometry, blocks=12, spare_blocks=2),
    ),
)
"""With spare blocks, so that a chip may have bad ones."""
