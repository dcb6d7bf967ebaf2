"""Random I/O commands: most of them right for the zones as they are, the others with one fault."""

from collections.abc import Callable
from random import Random

from flashtrain.nvme.wire.commands import Entry
from flashtrain.spec import Opcode, ZoneAction, ZoneState
from flashtrain.spec.host_commands import EVERY_NAMESPACE

from .shape import Shape
from .trial import Queue, Trial
from .zones import ACTIVE, DESCRIPTOR_BYTES, OPEN, Zones, manage, report

_FORCE_UNIT_ACCESS, _LIMITED_RETRY = 1 << 30, 1 << 31
_OFFLINE = 0x05
_ACTIONS = {ZoneAction.RESET: 6, ZoneAction.OPEN: 5, ZoneAction.CLOSE: 3, ZoneAction.FINISH: 2, _OFFLINE: 1}
_RESERVED_ACTIONS = (0x00, 0x06, 0x0F, 0x10, 0x11, 0x12, 0x80, 0xFF)
_NO_NAMESPACES = (0, 2, 2, 4, 255, 256, 257, 1 << 16, EVERY_NAMESPACE, EVERY_NAMESPACE - 1)
_OTHER_OPCODES = (0x03, 0x04, 0x05, 0x09, 0x0C, 0x0D, 0x11, 0x15, 0x7B, 0x7C, 0x7E, 0x80, 0x84, 0xFF)


class IoTrials:
    """`known`: the zones by NSID, which the user keeps up to date."""

    def __init__(self, random: Random, shape: Shape, known: dict[int, Zones]) -> None:
        self._random = random
        self._shape = shape
        self.known = known
        self._kinds: dict[Callable[[int], Trial], int] = {
            self._write: 26, self._append: 22, self._read: 22, self._manage: 24, self._report: 12,
            self._flush: 3, self._wrong_write: 5, self._wrong_append: 4, self._wrong_read: 6,
            self._wrong_manage: 5, self._wrong_report: 4, self._wrong_namespace: 5, self._wrong_opcode: 2,
            self._fused: 1,
        }  # fmt: skip

    def next(self) -> Trial:
        make = self._random.choices(list(self._kinds), list(self._kinds.values()))[0]
        return make(self._random.choice(list(self.known)))

    # Right commands, as far as the zone's state lets them.

    def _write(self, nsid: int) -> Trial:
        zone = self._writable(nsid)
        lba = zone * self._shape.zone_size + self.known[nsid][zone].written
        return self._data("write", Opcode.WRITE, nsid, lba, self._count(nsid, zone))

    def _append(self, nsid: int) -> Trial:
        zone = self._writable(nsid)
        lba = zone * self._shape.zone_size
        return self._data("append", Opcode.ZONE_APPEND, nsid, lba, self._count(nsid, zone))

    def _read(self, nsid: int) -> Trial:
        r, s = self._random, self._shape
        zones = self.known[nsid]
        filled = [number for number, zone in enumerate(zones) if zone.written]
        zone = r.choice(filled) if filled and r.random() < 0.8 else r.randrange(len(zones))
        end = s.zone_size if r.random() < 0.3 else max(zones[zone].written, 1)
        first = r.randrange(end)
        return self._data("read", Opcode.READ, nsid, zone * s.zone_size + first, r.randint(1, end - first))

    def _manage(self, nsid: int) -> Trial:
        r, zones = self._random, self.known[nsid]
        zone, action = r.randrange(len(zones)), self._action()
        every = r.random() < (0.2 if action == ZoneAction.OPEN else 0.05)
        if r.random() < 0.6:
            states = (ZoneState.FULL,) if action == ZoneAction.RESET else ACTIVE
            zone = r.choice([number for number, one in enumerate(zones) if one.state in states] or [zone])
        lba = zone * self._shape.zone_size if not every or r.random() < 0.5 else r.getrandbits(64)
        return manage(nsid, lba, action, every, "manage")

    def _report(self, nsid: int) -> Trial:
        r, s = self._random, self._shape
        zones = s.zones[nsid]
        lba = r.choice([0, r.randrange(zones) * s.zone_size, r.randrange(s.blocks(nsid))])
        length = r.choice([4 * r.randint(16, 64), DESCRIPTOR_BYTES * r.randint(1, zones + 2)])
        option = r.choice([0, r.randint(1, 7)])
        return report("report", s, nsid, lba, length, option=option, partial=r.randrange(2))

    def _flush(self, nsid: int) -> Trial:
        return self._plain("flush", Opcode.FLUSH, self._random.choice([nsid, EVERY_NAMESPACE]))

    # Commands with a fault.

    def _wrong_write(self, nsid: int) -> Trial:
        r, s = self._random, self._shape
        zone = r.randrange(s.zones[nsid])
        start, written = zone * s.zone_size, self.known[nsid][zone].written
        lba = r.choice([
            start + r.randrange(s.zone_size), start + written, start + written + 1, s.blocks(nsid) - 1,
            *self._outside(nsid),
        ])  # fmt: skip
        return self._data("wrong write", Opcode.WRITE, nsid, lba, self._wrong_count())

    def _wrong_append(self, nsid: int) -> Trial:
        r, s = self._random, self._shape
        start = r.randrange(s.zones[nsid]) * s.zone_size
        lba = r.choice([start, start + r.randrange(s.zone_size), s.blocks(nsid) - 1, *self._outside(nsid)])
        return self._data("wrong append", Opcode.ZONE_APPEND, nsid, lba, self._wrong_count())

    def _wrong_read(self, nsid: int) -> Trial:
        r, s = self._random, self._shape
        lba = r.choice([
            r.randrange(s.blocks(nsid)), r.randint(1, s.zones[nsid]) * s.zone_size - 1,
            *self._outside(nsid),
        ])  # fmt: skip
        return self._data("wrong read", Opcode.READ, nsid, lba, self._wrong_count())

    def _wrong_manage(self, nsid: int) -> Trial:
        r, s = self._random, self._shape
        start = r.randrange(s.zones[nsid]) * s.zone_size
        if r.random() < 0.5:
            lba = r.choice([start + r.randrange(s.zone_size), *self._outside(nsid)])
            return manage(nsid, lba, self._action(), False, "wrong zone")
        return manage(nsid, start, r.choice(_RESERVED_ACTIONS), r.random() < 0.3, "wrong action")

    def _wrong_report(self, nsid: int) -> Trial:
        r, s = self._random, self._shape
        most = s.most_blocks * s.block_bytes
        lba, length, action, option = 0, DESCRIPTOR_BYTES * (s.zones[nsid] + 1), 0, 0
        match r.randrange(4):
            case 0:
                lba = r.choice(self._outside(nsid))
            case 1:
                length = r.choice([4 * r.randint(1, 15), most + 4, 2 * most])
            case 2:
                action = r.choice([1, 2, 0xFF])
            case _:
                option = r.choice([8, 9, 0xFF])
        return report("wrong report", s, nsid, lba, length, action, option, r.randrange(2))

    def _wrong_namespace(self, nsid: int) -> Trial:
        r, wrong = self._random, self._random.choice(_NO_NAMESPACES)
        make = r.choice([self._write, self._append, self._read, self._manage, self._report, self._flush])
        trial = make(nsid)
        return trial._replace(kind="wrong namespace", entry=trial.entry._replace(nsid=wrong))

    def _wrong_opcode(self, nsid: int) -> Trial:
        return self._plain("wrong opcode", self._random.choice(_OTHER_OPCODES), nsid)

    def _fused(self, nsid: int) -> Trial:
        make = self._random.choice([self._write, self._read, self._manage, self._report])
        trial = make(nsid)
        flags = self._random.randint(1, 3)
        return trial._replace(kind="fused", entry=trial.entry._replace(flags=flags))

    # Their parts.

    def _writable(self, nsid: int) -> int:
        """A zone, preferably one that is open or active."""
        r, zones = self._random, self.known[nsid]
        chance = r.random()
        states = OPEN if chance < 0.4 else ACTIVE if chance < 0.6 else (ZoneState.EMPTY, ZoneState.CLOSED)
        some = [number for number, zone in enumerate(zones) if zone.state in states]
        return r.choice(some) if some and chance < 0.95 else r.randrange(len(zones))

    def _action(self) -> int:
        return self._random.choices(list(_ACTIONS), list(_ACTIONS.values()))[0]

    def _count(self, nsid: int, zone: int) -> int:
        """Blocks of an append: few, as many as fit, or one more."""
        r, s = self._random, self._shape
        room = s.zone_capacity - self.known[nsid][zone].written
        blocks = r.choice([1, 1, r.randint(1, 4), r.randint(1, s.most_blocks), room, room + 1])
        return min(max(blocks, 1), s.most_blocks)

    def _wrong_count(self) -> int:
        r, s = self._random, self._shape
        return r.choice([1, 2, r.randint(1, s.most_blocks), s.most_blocks, s.most_blocks + 1, 1 << 16])

    def _outside(self, nsid: int) -> list[int]:
        end = self._shape.blocks(nsid)
        return [end, end - 1 + self._random.randint(1, 64), 1 << 32, (1 << 64) - 1, (1 << 64) - 4]

    def _data(self, kind: str, opcode: Opcode, nsid: int, lba: int, blocks: int) -> Trial:
        r, s = self._random, self._shape
        flags = r.choice([0, 0, 0, _FORCE_UNIT_ACCESS, _LIMITED_RETRY])
        entry = Entry(
            opcode, 0, nsid=nsid, dword_10=lba & 0xFFFF_FFFF, dword_11=lba >> 32, dword_12=blocks - 1 | flags
        )
        length = min(blocks, s.most_blocks + 1) * s.block_bytes
        if opcode is Opcode.READ:
            return Trial(kind, Queue.IO, entry, length=length)
        return Trial(kind, Queue.IO, entry, data=r.randbytes(s.block_bytes) * (length // s.block_bytes))

    def _plain(self, kind: str, opcode: int, nsid: int) -> Trial:
        return Trial(kind, Queue.IO, Entry(opcode, 0, nsid=nsid))
