"""The host's side: what a device looks like (`Link`), a driver for NumPy users, and a model without time.

with open_device("small", link=FunctionalLink) as device:
    stream = device.stream("activations", port=Port.CORE)
    stored = stream.append(array)
    same = stream.read(stored)
"""

from .command_errors import CommandError, DataExpired, StateLost
from .controller import DeviceInfo
from .device import Device, DevicePort, open_device
from .entries import CompletionEntry, raw_entry
from .errors import (
    ArrayError,
    BufferFull,
    DeviceClosed,
    DeviceEnabled,
    DeviceHang,
    DeviceMismatch,
    ForeignContent,
    ForeignGeneration,
    GenerationPinned,
    HostError,
    JournalDamaged,
    NothingToCommit,
    RecoveryError,
    RegisterError,
    StateMissing,
    StreamFull,
    TensorMismatch,
    UpdateError,
    UpdatePending,
)
from .functional import FunctionalLink
from .link import Link, LinkFactory
from .marks import BadBlock
from .optimizer_state import Generation, OptimizerState
from .page_health import PageHealth
from .pending import Pending
from .recovery import RecoveredStream, RecoveryReport
from .refresh import Obstacle, OldZone, RefreshReport
from .state_stream import StateStream
from .state_update import StateUpdate
from .stored import Extent, StoredArray
from .stream import DeviceStream
from .tensor_group import StoredTensor, TensorGroup
from .zone_info import ZoneInfo

__all__ = [
    "ArrayError", "BadBlock", "BufferFull", "CommandError", "CompletionEntry", "DataExpired", "Device",
    "DeviceClosed", "DeviceEnabled", "DeviceHang", "DeviceInfo", "DeviceMismatch", "DevicePort",
    "DeviceStream", "Extent", "ForeignContent", "ForeignGeneration", "FunctionalLink", "Generation",
    "GenerationPinned", "HostError", "JournalDamaged", "Link", "LinkFactory", "NothingToCommit", "Obstacle",
    "OldZone", "OptimizerState", "PageHealth", "Pending", "RecoveredStream", "RecoveryError",
    "RecoveryReport", "RefreshReport", "RegisterError", "StateLost", "StateMissing", "StateStream",
    "StateUpdate", "StoredArray", "StoredTensor", "StreamFull", "TensorGroup", "TensorMismatch",
    "UpdateError", "UpdatePending", "ZoneInfo",
    "open_device", "raw_entry",
]  # fmt: skip
