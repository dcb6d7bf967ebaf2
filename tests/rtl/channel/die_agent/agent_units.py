"""The units of a die agent side by side, as one bench top."""

from dataclasses import replace

from flashtrain.rtl.channel.die_agent.die_agent import DieReset
from flashtrain.rtl.channel.die_agent.eraser import Eraser
from flashtrain.rtl.channel.die_agent.reader import Reader
from flashtrain.rtl.channel.die_agent.ready_poller import ReadyPoller
from flashtrain.rtl.channel.die_agent.request_mux import RequestMux
from flashtrain.rtl.channel.die_agent.retrier import Retrier
from flashtrain.rtl.channel.die_agent.tile_updater import TileUpdater
from flashtrain.spec import preset
from tests.rtl.side_by_side import SideBySide

CONFIG = replace(preset("tiny_ecc"), late_polls=6)
"""With spare blocks and read levels, so that every unit has all of its ports; a die is lost soon."""
GATHER_CYCLES = 6


def agent_units() -> SideBySide:
    return SideBySide({
        "die_reset": DieReset(CONFIG),
        "eraser": Eraser(CONFIG),
        "retrier": Retrier(CONFIG),
        "updater": TileUpdater(CONFIG),
        "reader": Reader(CONFIG, GATHER_CYCLES),
        "poller": ReadyPoller(CONFIG),
        "mux": RequestMux(CONFIG),
    })  # fmt: skip
