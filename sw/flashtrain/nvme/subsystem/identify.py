"""Identify: data structures of controllers and namespaces.

NVM Express Base 2.0, section 5.17; NVM Command Set 1.0, section 4.1.5; ZNS 1.1, section 4.1.5.
"""

import struct
from collections.abc import Callable, Iterable
from enum import IntEnum

from flashtrain.nvme.wire.commands import Entry
from flashtrain.nvme.wire.statuses import TargetStatus
from flashtrain.nvme.wire.stream_area import StreamArea
from flashtrain.spec import Port
from flashtrain.spec.host_commands import EVERY_NAMESPACE
from flashtrain.spec.pcie import VERSION

from .events import MOST_REQUESTS
from .features import CRITICAL_KELVIN, WARNING_KELVIN, ZONE_EVENTS
from .log_format import ERROR_ENTRIES, NVM, ZONED
from .namespaces import Namespace
from .profile import DISCOVERY, Profile
from .reply import Reply
from .settings import DISCOVERY_NQN, MOST_SERIAL_BYTES, SubsystemSettings

STRUCTURE_BYTES = 4096
_MOST_LISTED = 2047
MODEL = "flashtrain flash memory system"


class Structure(IntEnum):
    """CNS."""

    NAMESPACE = 0x00
    CONTROLLER = 0x01
    ACTIVE_NAMESPACES = 0x02
    NAMESPACE_DESCRIPTORS = 0x03
    NAMESPACE_OF_SET = 0x05
    CONTROLLER_OF_SET = 0x06
    ACTIVE_NAMESPACES_OF_SET = 0x07
    INDEPENDENT_NAMESPACE = 0x08
    CONTROLLERS = 0x13
    COMMAND_SETS = 0x1C


class Identify:
    """The structures of one subsystem.

    - controllers: the numbers of the controllers that hosts are connected to.
    - limits: the open and active zones of a namespace, at most.
    """

    def __init__(
        self, settings: SubsystemSettings, serial: str, namespaces: dict[int, Namespace], exponent: int,
        limits: tuple[int, int], controllers: Callable[[], Iterable[int]],
    ) -> None:  # fmt: skip
        self._controllers = controllers
        self._settings = settings
        self._serial = serial
        self._namespaces = namespaces
        self._exponent = exponent
        self._open, self._active = limits
        self.cached = any(one.volatile for one in namespaces.values())

    def reply(self, entry: Entry, controller: int, profile: Profile) -> Reply:
        kind, command_set = entry.dword_10 & 0xFF, entry.dword_11 >> 24
        match kind:
            case Structure.CONTROLLER:
                return self._padded(self._controller(controller, profile))
            case Structure.ACTIVE_NAMESPACES:
                return self._list(entry.nsid, self._namespaces)
            case Structure.ACTIVE_NAMESPACES_OF_SET if command_set in (NVM, ZONED):
                return self._list(entry.nsid, self._namespaces if command_set == ZONED else ())
            case Structure.CONTROLLER_OF_SET if command_set in (NVM, ZONED):
                return self._padded(b"")  # no limits beside MDTS
            case Structure.CONTROLLERS:
                first = entry.dword_10 >> 16
                listed = sorted(number for number in self._controllers() if number >= first)[:_MOST_LISTED]
                return self._padded(struct.pack(f"<{1 + len(listed)}H", len(listed), *listed))
            case Structure.COMMAND_SETS:
                return self._padded(struct.pack("<Q", 1 << NVM | 1 << ZONED))
            case (
                Structure.NAMESPACE
                | Structure.NAMESPACE_DESCRIPTORS
                | Structure.NAMESPACE_OF_SET
                | Structure.INDEPENDENT_NAMESPACE
            ):
                return self._of_namespace(kind, entry.nsid, command_set)
        return Reply(TargetStatus.INVALID_FIELD)

    def _of_namespace(self, kind: int, nsid: int, command_set: int) -> Reply:
        namespace = self._namespaces.get(nsid)
        if namespace is None:
            if 0 < nsid <= max(self._namespaces):
                if kind == Structure.NAMESPACE_DESCRIPTORS:
                    return Reply(TargetStatus.INVALID_FIELD)
                return self._padded(b"")  # an inactive namespace
            return Reply(TargetStatus.INVALID_NAMESPACE)
        match kind:
            case Structure.NAMESPACE:
                return self._padded(self._namespace(namespace))
            case Structure.NAMESPACE_DESCRIPTORS:
                return self._padded(
                    struct.pack("<BB2x", 3, 16) + namespace.uuid.bytes + struct.pack("<BB2xB", 4, 1, ZONED)
                )
            case Structure.INDEPENDENT_NAMESPACE:
                return self._padded(struct.pack("<9xB4xB", 0 if namespace.writable else 1, 1))  # ready
        if command_set == ZONED:
            return self._padded(self._zoned_namespace(namespace))
        if command_set == NVM:
            return self._padded(b"")  # no protection, no storage tags
        return Reply(TargetStatus.INVALID_FIELD)

    def _controller(self, controller: int, profile: Profile) -> bytes:
        s, data = self._settings, bytearray(STRUCTURE_BYTES)
        data[4:24] = self._serial.encode().ljust(MOST_SERIAL_BYTES)
        data[24:64] = MODEL.encode()[:40].ljust(40)
        data[64:72] = b"1".ljust(8)
        data[76] = 0  # one controller per host: with more Linux 6.1 loses the order of writes (docs/nvme.md)
        data[77] = self._exponent
        struct.pack_into("<HI", data, 78, controller, VERSION)
        struct.pack_into("<II", data, 92, ZONE_EVENTS, profile.attributes)
        data[111] = 1  # an I/O controller
        data[258:263] = bytes(
            [3, MOST_REQUESTS - 1, 0b0011, 0b10_0110, ERROR_ENTRIES - 1]
        )  # ACL, AERL, FRMW, LPA, ELPE
        struct.pack_into("<HH", data, 266, WARNING_KELVIN, CRITICAL_KELVIN)
        struct.pack_into("<H", data, 320, profile.keep_alive)
        data[512:514] = bytes([0x66, 0x44])  # entries of 64 and of 16 bytes
        struct.pack_into("<HI", data, 514, s.entries, max(self._namespaces))
        struct.pack_into("<H", data, 520, 1 << 4)  # ONCS: values of features by Select
        data[525] = 0b110 | int(self.cached)  # flush of all namespaces, and whether there is a cache
        struct.pack_into("<I", data, 536, profile.sgls)
        data[768:1024] = s.nqn.encode().ljust(256, b"\0")
        data[1792 : 1792 + len(profile.capsules)] = profile.capsules
        struct.pack_into("<HBB", data, 2048, 2500, 0, 0)  # the one power state: 25 W
        return bytes(data)

    def _namespace(self, one: Namespace) -> bytes:
        data = bytearray(384)
        capacity = one.zones * one.zone_capacity
        struct.pack_into("<QQQBBBB", data, 0, one.blocks, capacity, capacity, 0, 0, 0, 0)
        data[24] = 0b100  # errors for unwritten blocks, if asked for
        data[33] = 0b001  # unwritten blocks read as zeros
        data[99] = 0 if one.writable else 1  # NSATTR: write protected
        data[104:120] = one.uuid.bytes
        struct.pack_into("<HBB", data, 128, 0, one.block_bytes.bit_length() - 1, 0)
        stream = one.stream
        area = StreamArea(stream.name, stream.access(Port.HOST), stream.persistency, stream.retention)
        return bytes(data) + area.packed()

    def _zoned_namespace(self, one: Namespace) -> bytes:
        data = bytearray(STRUCTURE_BYTES)
        struct.pack_into("<HHII", data, 0, 0, 0, self._active - 1, self._open - 1)
        struct.pack_into("<QB", data, 2816, one.zone_size, 0)
        return bytes(data)

    def _list(self, after: int, nsids: Iterable[int]) -> Reply:
        if after >= EVERY_NAMESPACE - 1:
            return Reply(TargetStatus.INVALID_NAMESPACE)
        listed = sorted(nsid for nsid in nsids if nsid > after)
        return self._padded(struct.pack(f"<{len(listed)}I", *listed))

    def _padded(self, data: bytes) -> Reply:
        return Reply(data=data.ljust(STRUCTURE_BYTES, b"\0"))


def discovery_controller(settings: SubsystemSettings, serial: str, controller: int) -> bytes:
    """The controller structure of the discovery subsystem (NVM Express Base 2.0, Figure 275)."""
    data = bytearray(STRUCTURE_BYTES)
    data[24:64] = MODEL.encode()[:40].ljust(40)
    data[4:24] = serial.encode().ljust(MOST_SERIAL_BYTES)
    data[64:72] = b"1".ljust(8)
    struct.pack_into("<HI", data, 78, controller, VERSION)
    data[111] = 2
    data[258:263] = bytes([3, MOST_REQUESTS - 1, 0, 0b10_0110, 0])
    struct.pack_into("<H", data, 320, DISCOVERY.keep_alive)
    struct.pack_into("<H", data, 514, settings.entries)
    struct.pack_into("<I", data, 536, DISCOVERY.sgls)
    data[768:1024] = DISCOVERY_NQN.encode().ljust(256, b"\0")
    data[1792 : 1792 + len(DISCOVERY.capsules)] = DISCOVERY.capsules
    return bytes(data)
