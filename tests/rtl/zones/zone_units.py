"""Units of the zone manager side by side, as one bench top."""

from flashtrain.rtl.zones.in_flight import CommandsInFlight, Retirement
from flashtrain.rtl.zones.settlement import Settlement
from flashtrain.rtl.zones.table import Reclaim
from flashtrain.spec.presets import TINY as CONFIG
from flashtrain.spec.presets import TINY_CODEC
from tests.rtl.side_by_side import SideBySide


def zone_units() -> SideBySide:
    return SideBySide({
        "in_flight": CommandsInFlight(CONFIG),
        "retirement": Retirement(CONFIG),
        "reclaim": Reclaim(CONFIG),
        "settlement": Settlement(TINY_CODEC),
    })  # fmt: skip
