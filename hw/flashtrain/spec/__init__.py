"""The contract: plain data and enums that every other part imports or generates from."""

from .chips import Chips
from .config import FmsConfig
from .config_file import config_text, load_config
from .errors import ConfigError, FlashtrainError
from .geometry import Geometry, Place
from .nvme import Completion, Opcode, Status, Submission, ZoneAction, ZoneState
from .presets import PRESETS, preset
from .streams import NODES, Access, NodeTable, Persistency, Port, Stream
from .timing import Duration, NandTiming

__all__ = [
    "NODES", "PRESETS", "Access", "Chips", "Completion", "ConfigError", "Duration", "FlashtrainError",
    "FmsConfig", "Geometry", "NandTiming", "NodeTable", "Opcode", "Persistency", "Place", "Port",
    "Status", "Stream", "Submission", "ZoneAction", "ZoneState", "config_text", "load_config", "preset",
]  # fmt: skip
