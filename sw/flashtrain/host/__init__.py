"""The host: the interface of a device (`Link`), a driver for NumPy users, and the functional model.

An append and its read::

    with open_device("small", link=FunctionalLink) as device:
        stream = device.stream("activations", port=Port.CORE)
        stored = stream.append(array)
        same = stream.read(stored)
"""

from .catalog import ArrayInfo, ArrayView, Catalog
from .catalog.errors import (
    CatalogDamaged,
    CatalogError,
    CatalogFull,
    CatalogMissing,
    CatalogUnsuitable,
    NameExists,
    NameInvalid,
    NameMissing,
    StaleView,
)
from .controller import DeviceInfo
from .device import Device, DevicePort
from .errors import (
    ArgumentError,
    ArrayError,
    BufferFull,
    DeviceClosed,
    DeviceEnabled,
    DeviceHang,
    DeviceMismatch,
    ForeignContent,
    ForeignGeneration,
    ForeignHandle,
    ForeignPending,
    ForeignProcess,
    GenerationPinned,
    HostError,
    ImageDamaged,
    ImageError,
    ImageLocked,
    ImageMismatch,
    JournalDamaged,
    JournalMissing,
    NoteTooLong,
    NothingToCommit,
    RecoveryError,
    RegisterError,
    StaleHandle,
    StateMissing,
    StreamFull,
    TensorMismatch,
    UpdateError,
    UpdatePending,
    WearBudgetExceeded,
)
from .functional import FunctionalLink
from .link import LINKS, Link, LinkFactory
from .opening import open_device
from .queues.command_errors import (
    AccessDenied,
    CodedPageError,
    CodedStreamError,
    CommandError,
    DataExpired,
    InvalidCommand,
    InvalidDataPointer,
    InvalidWrite,
    InvalidZoneTransition,
    LbaOutOfRange,
    MediaError,
    StateLost,
    StreamPinned,
    StreamUncommitted,
    TooManyZones,
    UnwrittenBlock,
    ZoneBoundaryError,
    ZoneFull,
    ZoneOffline,
    ZoneReadOnly,
)
from .queues.command_log import CommandLog, LoggedCommand, labelled
from .queues.entries import CompletionEntry, raw_entry
from .queues.pending import Pending
from .recovery.marks import BadBlock
from .recovery.recovery import RecoveredStream, RecoveryReport
from .state.optimizer_state import Generation, OptimizerState
from .state.state_stream import StateStream
from .state.state_update import StateUpdate
from .state.tensor_group import StoredTensor, TensorGroup
from .streams.coded_stream import CodedStream
from .streams.page_health import PageHealth
from .streams.refresh import Obstacle, OldZone, RefreshReport
from .streams.stored import Extent, StoredArray
from .streams.stream import DeviceStream
from .streams.zone_info import ZoneInfo
from .wear import OverBudget, WearBudget, WearReport, WearWarning

__all__ = [
    "LINKS", "AccessDenied", "ArgumentError", "ArrayError", "ArrayInfo", "ArrayView", "BadBlock",
    "BufferFull", "Catalog",
    "CatalogDamaged", "CatalogError", "CatalogFull", "CatalogMissing", "CatalogUnsuitable",
    "CodedPageError", "CodedStream", "CodedStreamError", "CommandError", "CommandLog", "CompletionEntry",
    "DataExpired", "Device", "DeviceClosed", "DeviceEnabled", "DeviceHang", "DeviceInfo",
    "DeviceMismatch", "DevicePort", "DeviceStream", "Extent", "ForeignContent", "ForeignGeneration",
    "ForeignHandle", "ForeignPending", "ForeignProcess", "FunctionalLink", "Generation",
    "GenerationPinned", "HostError",
    "ImageDamaged", "ImageError", "ImageLocked", "ImageMismatch", "InvalidCommand", "InvalidDataPointer",
    "InvalidWrite", "InvalidZoneTransition", "JournalDamaged", "JournalMissing", "LbaOutOfRange", "Link",
    "LinkFactory", "LoggedCommand", "MediaError", "NameExists", "NameInvalid", "NameMissing",
    "NoteTooLong", "NothingToCommit", "Obstacle", "OldZone", "OptimizerState", "OverBudget", "PageHealth",
    "Pending",
    "RecoveredStream", "RecoveryError", "RecoveryReport", "RefreshReport", "RegisterError", "StaleHandle",
    "StaleView", "StateLost", "StateMissing", "StateStream", "StateUpdate", "StoredArray", "StoredTensor",
    "StreamFull", "StreamPinned", "StreamUncommitted", "TensorGroup", "TensorMismatch", "TooManyZones",
    "UnwrittenBlock", "UpdateError", "UpdatePending", "WearBudget", "WearBudgetExceeded", "WearReport",
    "WearWarning", "ZoneBoundaryError", "ZoneFull", "ZoneInfo",
    "ZoneOffline", "ZoneReadOnly", "labelled", "open_device", "raw_entry",
]  # fmt: skip
