"""The meaning of data that a controller sends: facts by name, which both devices must have in common.

Names of a controller, its serial number and its history are no such facts.
"""

import struct
from collections.abc import Callable, Iterator

from flashtrain.nvme.subsystem.identify import Structure
from flashtrain.nvme.subsystem.log_format import LogPage
from flashtrain.nvme.wire.commands import AdminOpcode, Entry
from flashtrain.spec import Opcode
from flashtrain.spec.host_commands import HOST_OPCODES

from .trial import Queue, Trial
from .zones import DESCRIPTOR_BYTES

Facts = dict[str, int | bytes | tuple[int, ...]]
ZONED = 2
_SUPPORTED = 1


def facts(trial: Trial, data: bytes) -> Facts:
    """The facts of the data that a successful command has brought."""
    if trial.queue is Queue.IO:
        if trial.entry.opcode == Opcode.ZONE_MANAGEMENT_RECEIVE:
            return dict(_report(data))
        return {"data": data} if data else {}
    match trial.entry.opcode:
        case AdminOpcode.IDENTIFY:
            return _identify(trial.entry, data)
        case AdminOpcode.GET_LOG_PAGE:
            return _log_page(trial.entry, data)
    return {}


def _report(data: bytes) -> Iterator[tuple[str, bytes]]:
    yield "number of zones", data[:8]
    yield "report header", data[8:DESCRIPTOR_BYTES]
    yield "zone descriptors", data[DESCRIPTOR_BYTES:]


def _identify(entry: Entry, data: bytes) -> Facts:
    command_set = entry.dword_11 >> 24
    match entry.dword_10:
        case Structure.NAMESPACE if any(data):
            return _namespace(data)
        case Structure.CONTROLLER:
            return _controller(data)
        case Structure.NAMESPACE_DESCRIPTORS:
            return {"command set": dict(_descriptors(data)).get(4, b"")}
        case Structure.NAMESPACE_OF_SET if command_set == ZONED and any(data):
            return _zoned_namespace(data)
        case Structure.CONTROLLER_OF_SET if command_set != ZONED:
            return {}  # limits of commands that the target has not
        case _:
            return {"structure": data}


def _namespace(data: bytes) -> Facts:
    size, capacity, used, features, _, format_ = struct.unpack_from("<QQQBBB", data)
    format_ &= 0xF
    metadata, exponent, _ = struct.unpack_from("<HBB", data, 128 + 4 * format_)
    return {
        "NSZE": size, "NCAP": capacity, "NUSE": used, "NSFEAT: thin provisioning": features & 1,
        "NSFEAT: DULBE": features >> 2 & 1, "DPS": data[29], "NMIC": data[30], "DLFEAT: value": data[33] & 7,
        "MS": metadata, "LBADS": exponent,
    }  # fmt: skip


def _zoned_namespace(data: bytes) -> Facts:
    """A format that is not there has no zone size."""
    sizes = struct.unpack_from("<" + 64 * "QQ", data, 2816)
    zoc, ozcs, active, open_ = struct.unpack_from("<HHII", data)
    return {
        "ZOC": zoc, "OZCS": ozcs, "MAR": active, "MOR": open_,
        "ZSZE and ZDES": tuple(sorted({size for size in sizes if size})), "other bytes": data[12:2816],
    }  # fmt: skip


def _controller(data: bytes) -> Facts:
    return {
        "CMIC": data[76], "MDTS": data[77], "CNTRLTYPE": data[111], "ACL": data[258], "AERL": data[259],
        "LPA: health of namespaces": data[261] & 1,
        "SQES": data[512], "CQES": data[513], "NN": struct.unpack_from("<I", data, 516)[0],
        "FUSES": struct.unpack_from("<H", data, 522)[0], "VWC: present": data[525] & 1,
        "VWC: flush of all": data[525] >> 1 & 3, "ONCS": struct.unpack_from("<H", data, 520)[0],
        "SGLS: supported": data[536] & 3,
    }  # fmt: skip


def _descriptors(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Namespace identification descriptors: types and values."""
    place = 0
    while data[place + 1]:
        kind, length = data[place], data[place + 1]
        yield kind, data[place + 4 : place + 4 + length]
        place += 4 + length


def _log_page(entry: Entry, data: bytes) -> Facts:
    pages: dict[int, Callable[[], Facts]] = {
        LogPage.CHANGED_NAMESPACES: lambda: {"changed namespaces": data},
        LogPage.EFFECTS: lambda: _effects(entry, data),
    }
    page = entry.dword_10 & 0xFF
    return pages[page]() if page in pages and not (entry.dword_12 or entry.dword_13) else {}


def _effects(entry: Entry, data: bytes) -> Facts:
    """Whether the commands of the target are supported, as far as the host has asked for them."""
    if entry.dword_14 >> 24 != ZONED or len(data) < 4 * 512:
        return {}
    effects = struct.unpack_from("<256I", data, 1024)
    return {"supported": tuple(effects[opcode] & _SUPPORTED for opcode in HOST_OPCODES)}
