"""Random entries of hosts for benches of I/O commands, and what the units say of the controller's."""

import random

from flashtrain.rtl.pcie.layouts import DeviceCommand
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.spec import Opcode, Submission, ZoneAction, preset
from flashtrain.spec.host_commands import (
    EVERY_NAMESPACE,
    FORCE_UNIT_ACCESS,
    HOST_OPCODES,
    HostCommands,
    HostNamespace,
)

SLOTS, MOST_BYTES = (bench_parameters()[name] for name in ("slots", "most_bytes"))
CONFIG = preset("tiny")
G = CONFIG.geometry
ENTRY = DeviceCommand(SLOTS, MOST_BYTES, G.page_bytes)
NAMESPACES = {
    1: HostNamespace(3, True, False),
    2: HostNamespace(2, True, True),
    4: HostNamespace(1, False, False),
    5: HostNamespace(2, False, True, True),
    7: HostNamespace(2, True, True),
}


def host_commands(namespaces: dict[int, HostNamespace]) -> HostCommands:
    return HostCommands(namespaces, G.zone_size, G.page_bytes, MOST_BYTES)


def any_entry() -> int:
    """An entry of any kind; most of them are right, and all bits that have no meaning are random."""
    s, most = Submission, MOST_BYTES // G.page_bytes
    opcode = random.choice([*HOST_OPCODES, *HOST_OPCODES, *HOST_OPCODES, *Opcode, random.getrandbits(8)])
    nsid = random.choice([*NAMESPACES, *NAMESPACES, 0, 3, 8, 9, EVERY_NAMESPACE, random.getrandbits(32)])
    limit = NAMESPACES[nsid].zones * G.zone_size if nsid in NAMESPACES else 100
    slba = random.choice([random.randrange(limit), random.randrange(limit), limit - 1, limit,
                          random.getrandbits(64), (1 << 64) - 1])  # fmt: skip
    count = random.choice([1, 2, random.randint(1, most), most, most + 1, 1 << 16])
    dword_12 = count - 1 | random.getrandbits(14) << 16
    dword_13 = random.getrandbits(32)
    if opcode == Opcode.ZONE_MANAGEMENT_RECEIVE:
        dword_12 = random.choice([0, 15, 63, MOST_BYTES // 4 - 1, MOST_BYTES // 4, random.getrandbits(32)])
        dword_13 = random.choice([0, random.randrange(9) << 8, 1 << 16, dword_13])
    elif random.random() < 0.7:
        dword_13 = dword_13 & ~0xFF | random.choice([*ZoneAction])
    entry = random.getrandbits(512) >> 64 << 64
    for field, value in (
        (s.slba, slba), (s.dwords, dword_12), (FORCE_UNIT_ACCESS, random.random() < 0.4),
    ):  # fmt: skip
        entry = entry & ~field.put((1 << field.width) - 1) | field.put(value)
    dword_13_bits = ((1 << 32) - 1) << 13 * 32
    entry = entry & ~dword_13_bits | dword_13 << 13 * 32
    return (
        entry
        | s.opcode.put(opcode)
        | s.nsid.put(nsid)
        | s.psdt.put(random.choice([0] * 14 + [1, 2, 3]))
        | s.fuse.put(random.choice([0] * 15 + [1]))
    )


def fields_of(entry: int) -> dict[str, int]:
    """What the translator says of an entry of the controller."""
    s = Submission
    length = s.length.get(entry) if s.psdt.get(entry) else 0
    assert not length or s.psdt.get(entry) == s.PSDT_SGL
    return {
        "slot": s.cid.get(entry), "opcode": s.opcode.get(entry), "nsid": s.nsid.get(entry),
        "slba": s.slba.get(entry), "count": s.dwords.get(entry), "length": length,
        "options": entry >> s.action.low & (1 << 17) - 1,
        "block": s.address.get(entry) % MOST_BYTES // G.page_bytes if length else 0,
    }  # fmt: skip
