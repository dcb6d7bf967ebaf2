"""The units of a die agent side by side, as one bench top."""

from dataclasses import replace

from flashtrain.rtl.channel.die_agent.die_agent import DieReset
from flashtrain.rtl.channel.die_agent.eraser import Eraser
from flashtrain.rtl.channel.die_agent.reader import Reader
from flashtrain.rtl.channel.die_agent.ready_line import ReadyLine
from flashtrain.rtl.channel.die_agent.ready_poller import ReadyPoller
from flashtrain.rtl.channel.die_agent.request_mux import RequestMux
from flashtrain.rtl.channel.die_agent.retrier import Retrier
from flashtrain.rtl.channel.die_agent.tile_updater import TileUpdater
from flashtrain.spec import preset
from tests.rtl.side_by_side import SideBySide

CONFIG = replace(preset("tiny_ecc"), late_polls=6)
"""With spare blocks and read levels, so that every unit has all of its ports; a die is lost soon."""
GATHER_CYCLES = 6
WIRED = replace(CONFIG, chips=replace(CONFIG.chips, ready_busy=True))
"""With a line R/B# of each die."""
SHARED = replace(CONFIG, chips=replace(CONFIG.chips, ready_busy=True, shared_ready_busy=True))
LONGEST_INTERVAL = 60
"""Of the unit that counts them, in cycles."""


def agent_units() -> SideBySide:
    return SideBySide({
        "die_reset": DieReset(CONFIG),
        "eraser": Eraser(CONFIG),
        "retrier": Retrier(CONFIG),
        "updater": TileUpdater(CONFIG),
        "reader": Reader(CONFIG, GATHER_CYCLES),
        "poller": ReadyPoller(CONFIG),
        "mux": RequestMux(CONFIG),
        "line": ReadyLine(SHARED, LONGEST_INTERVAL),
        "line_poller": ReadyPoller(WIRED),
        "line_reader": Reader(WIRED, GATHER_CYCLES),
    })  # fmt: skip
