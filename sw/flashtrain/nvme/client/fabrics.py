"""Fabrics commands of a host."""

import struct

from flashtrain.nvme.wire.commands import AdminOpcode, Entry, FabricsType

_NO_FLOW_CONTROL = 1 << 2
"""Bit of the attributes of a Connect: completions have no head of the submission queue."""


def fabrics(kind: FabricsType, fields: bytes) -> Entry:
    """A fabrics command with these bytes 40 to 63."""
    words = struct.unpack("<6I", fields)
    return Entry(AdminOpcode.FABRICS, 0x40, 0, kind, 0, 0, 0, 0, 0, *words)


def connect_command(
    queue: int,
    entries: int,
    controller: int,
    subsystem: str,
    host: str,
    keep_alive: int = 0,
    flow_control: bool = True,
) -> tuple[Entry, bytes]:
    """A Connect command, and its data."""
    attributes = 0 if flow_control else _NO_FLOW_CONTROL
    fields = struct.pack("<HHHBxI12x", 0, queue, entries - 1, attributes, keep_alive)
    data = bytearray(1024)
    data[:16] = (host.encode() * 16)[-16:]
    struct.pack_into("<H", data, 16, controller)
    data[256:512] = subsystem.encode().ljust(256, b"\0")
    data[512:768] = host.encode().ljust(256, b"\0")
    return fabrics(FabricsType.CONNECT, fields), bytes(data)
