"""The host's side: what a device looks like (`Link`), a driver for NumPy users, and a model without time.

with open_device("small", link=FunctionalLink) as device:
    stream = device.stream("activations", port=Port.CORE)
    stored = stream.append(array)
    same = stream.read(stored)
"""

from .command_errors import CommandError
from .controller import DeviceInfo
from .device import Device, DevicePort, open_device
from .entries import CompletionEntry, raw_entry
from .errors import (
    ArrayError,
    BufferFull,
    DeviceClosed,
    DeviceHang,
    DeviceMismatch,
    HostError,
    RegisterError,
    StreamFull,
)
from .functional import FunctionalLink
from .link import Link, LinkFactory
from .pending import Pending
from .stored import Extent, StoredArray
from .stream import DeviceStream
from .zone_info import ZoneInfo

__all__ = [
    "ArrayError", "BufferFull", "CommandError", "CompletionEntry", "Device", "DeviceClosed", "DeviceHang",
    "DeviceInfo", "DeviceMismatch", "DevicePort", "DeviceStream", "Extent", "FunctionalLink", "HostError",
    "Link", "LinkFactory", "Pending", "RegisterError", "StoredArray", "StreamFull", "ZoneInfo", "open_device",
    "raw_entry",
]  # fmt: skip
