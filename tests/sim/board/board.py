"""The board of the tests: `tiny` on one channel, with a fast line."""

from dataclasses import replace

from flashtrain.spec.boards import Board
from flashtrain.spec.presets import TINY
from flashtrain.spec.timing import ns

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
