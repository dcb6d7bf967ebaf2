"""Random raw commands: valid ones, ones with a fault of a known kind, and ones with bits flipped.

Every command has exactly one right answer, for any order between the ports and any order of completion:

- Within a batch a stream belongs to one port, and every command has its own piece of the tensor buffer.
- All streams of optimizer state belong to the same port.
- A batch has either updates or other appends to these streams: an update reads only programmed data.

A recovery never ends, because its random RESTORE commands make no consistent state.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from flashtrain.host.queues.entries import raw_entry
from flashtrain.host.streams.zone_info import ZoneInfo, report_bytes
from flashtrain.spec import FmsConfig, NodeTable, Opcode, Port, Submission, ZoneAction, ZoneState
from flashtrain.spec.identity import RestoreAction

from .random_updates import Fields, RandomUpdates, state_nsids

_WEIGHTS: dict[Opcode, int] = {
    Opcode.ZONE_APPEND: 30,
    Opcode.WRITE: 12,
    Opcode.READ: 30,
    Opcode.ZONE_MANAGEMENT_SEND: 14,
    Opcode.ZONE_MANAGEMENT_RECEIVE: 6,
    Opcode.FLUSH: 4,
    Opcode.STREAM_RESET: 3,
    Opcode.ZONE_RETIRE: 1,
    Opcode.INSPECT: 1,
    Opcode.RESTORE: 1,
}
_RECOVERY_WEIGHTS: dict[Opcode, int] = {**_WEIGHTS, Opcode.INSPECT: 60, Opcode.RESTORE: 60}
_UPDATE_WEIGHTS: dict[Opcode, int] = {
    Opcode.UPDATE: 30,
    Opcode.GENERATION: 16,
    Opcode.GET_STATISTICS: 6,
    Opcode.READ: 20,
    Opcode.ZONE_MANAGEMENT_SEND: 4,
    Opcode.ZONE_MANAGEMENT_RECEIVE: 4,
    Opcode.STREAM_RESET: 6,
}
_APPENDS = frozenset({Opcode.ZONE_APPEND, Opcode.WRITE})
_UPDATES = frozenset({Opcode.UPDATE, Opcode.GET_STATISTICS})
_REACH = 4
"""The number of zones, the first and the last ones of a stream, that get most of the commands."""


@dataclass(frozen=True)
class RawCommand:
    """A submission entry by its fields, with the bits flipped in it and its kind of fault."""

    port: Port
    fields: tuple[tuple[str, int], ...]
    flipped: int
    kind: str

    def entry(self) -> bytes:
        value = int.from_bytes(raw_entry(**dict(self.fields)), "little")
        return (value ^ self.flipped).to_bytes(Submission.BYTES, "little")

    @property
    def cid(self) -> int:
        return dict(self.fields)["cid"]

    @property
    def opcode(self) -> int:
        return Submission.opcode.get(int.from_bytes(self.entry(), "little"))

    def __str__(self) -> str:
        fields = ", ".join(f"{name} {number:#x}" for name, number in self.fields)
        flips = f", bits flipped {self.flipped:#x}" if self.flipped else ""
        return f"{self.kind} command of port {self.port.name}: {fields}{flips}"


class RandomCommands:
    """Batches of random commands for a device of `config` with `node`.

    - piece_address: maps a command's number in its batch to the address of its piece of the tensor buffer,
      of `piece_blocks` blocks.
    - memory_bytes: the size of the tensor buffer.
    - recovering: the device is in recovery.
    """

    def __init__(
        self,
        random: Random,
        config: FmsConfig,
        node: NodeTable,
        piece_address: Callable[[int], int],
        memory_bytes: int,
        recovering: bool = False,
    ) -> None:
        self._recovering = recovering
        self._random = random
        self._config = config
        self._node = node
        self._zones = {nsid: len(zones) for nsid, zones in node.zones(config.geometry.zones).items()}
        self._piece_address = piece_address
        self._memory_bytes = memory_bytes
        self._pointers = {nsid: [0] * zones for nsid, zones in self._zones.items()}
        self._may_retire = 3
        self._state = state_nsids(node)
        self._updates = RandomUpdates(
            random, config, self._state, self._pointers, min(config.max_blocks, self.piece_blocks(config))
        )

    @staticmethod
    def piece_blocks(config: FmsConfig) -> int:
        """Blocks of a piece: two page sets of every channel and a block, or a report on all zones."""
        report = -(-report_bytes(config.geometry.zones) // config.geometry.page_bytes)
        return max(report, min(config.max_blocks, 2 * config.geometry.planes * config.geometry.channels + 1))

    def learn(self, nsid: int, report: list[ZoneInfo]) -> None:
        """Take the write pointers of a stream from a report, because refused commands did not move them."""
        self._pointers[nsid] = [zone.capacity - zone.room for zone in report]

    def batch(self, count: int) -> list[RawCommand]:
        """The next `count` commands, in the order of submission, before any command of the next batch."""
        owners = {stream.nsid: self._owner(stream.nsid) for stream in self._node.streams}
        owners |= {nsid: owners[self._state[0]] for nsid in self._state}
        updating = self._random.random() < (0.8 if self._updates.possible else 0.2) and bool(self._state)
        commands = []
        while len(commands) < count:
            command = self._command(len(commands), owners, updating)
            if self._has_one_answer(command, owners, updating):
                commands.append(command)
        return commands

    def _has_one_answer(self, command: RawCommand, owners: dict[int, Port], updating: bool) -> bool:
        """Whether a command has one right answer, with its faults and flipped bits."""
        s, entry = Submission, int.from_bytes(command.entry(), "little")
        opcode, nsid, source = s.opcode.get(entry), s.nsid.get(entry), s.source.get(entry)
        named = [nsid, source] if opcode in (Opcode.UPDATE, Opcode.GENERATION) else [nsid]
        if any(owners.get(one, command.port) != command.port for one in named):
            return False
        if self._recovering and opcode == Opcode.RESTORE:
            return s.action.get(entry) != RestoreAction.END
        if opcode == Opcode.UPDATE and source in owners and source not in self._state:
            return False  # a volatile source, perhaps
        if opcode in _UPDATES and not (updating and command.port == owners[self._state[0]]):
            return False
        # The constants are set once, at the start.
        return opcode != Opcode.SET_CONSTANTS and not (
            updating and opcode in _APPENDS and nsid in self._state
        )

    def _owner(self, nsid: int) -> Port:
        """The port of a stream for one batch, mostly one that may append."""
        stream = next(stream for stream in self._node.streams if stream.nsid == nsid)
        able = [port for port in Port if stream.access(port) & stream.access(port).APPEND]
        return self._random.choice(able if able and self._random.random() < 0.8 else list(Port))

    def _command(self, number: int, owners: dict[int, Port], updating: bool) -> RawCommand:
        r = self._random
        nsid = r.choice(list(owners))
        if self._state and r.random() < 0.5:
            nsid = r.choice(self._state)
        weights = _UPDATE_WEIGHTS if updating and nsid in self._state else _WEIGHTS
        if self._recovering:
            weights = _RECOVERY_WEIGHTS
        opcode = r.choices(list(weights), list(weights.values()))[0]
        if nsid in self._state and r.random() < 0.9:
            nsid = self._updates.likely(opcode)
        fields = self._valid(opcode, nsid, self._piece_address(number))
        fields["cid"] = number
        kind, flipped = "valid", 0
        chance = r.random()
        if chance < 0.2:
            kind = self._spoil(fields)
        elif chance < 0.3:
            kind, flipped = "flipped", self._flips()
        return RawCommand(owners[nsid], tuple(fields.items()), flipped, kind)

    def _valid(self, opcode: Opcode, nsid: int, address: int) -> Fields:
        """The fields of a well-formed command, which the device is likely to execute."""
        r, g = self._random, self._config.geometry
        zones = self._zones[nsid]
        near = [zone for zone in range(zones) if zone < _REACH // 2 or zone >= zones - _REACH // 2]
        zone = r.choice(near) if r.random() < 0.9 else r.randrange(zones)
        pointer = self._pointers[nsid][zone]
        start = zone * g.zone_size
        fields: Fields = {"opcode": opcode, "nsid": nsid}
        match opcode:
            case Opcode.ZONE_APPEND | Opcode.WRITE:
                left = max(1, g.zone_capacity - pointer)
                blocks = min(self._some_blocks(), left) if r.random() < 0.9 else self._some_blocks()
                self._pointers[nsid][zone] = min(g.zone_capacity, pointer + blocks)
                slba = start if opcode is Opcode.ZONE_APPEND else start + pointer % g.zone_size
                fields |= {"slba": slba, "nlb": blocks - 1, **self._data(address, blocks)}
            case Opcode.READ:
                blocks = min(self._some_blocks(), max(1, pointer))
                offset = (
                    r.randrange(max(1, pointer - blocks + 1))
                    if r.random() < 0.9
                    else r.randrange(g.zone_size)
                )
                fields |= {"slba": start + offset, "nlb": blocks - 1, **self._data(address, blocks)}
            case Opcode.ZONE_MANAGEMENT_SEND:
                action = r.choice(list(ZoneAction))
                select_all = r.random() < 0.1
                if action is ZoneAction.RESET:
                    self._pointers[nsid][zone] = 0
                fields |= {"slba": start, "action": action, "select_all": int(select_all)}
            case Opcode.ZONE_MANAGEMENT_RECEIVE:
                length = 4 * r.randrange(16, report_bytes(zones) // 4 + 8)
                fields |= {"slba": start + r.choice((0, r.randrange(g.zone_size)))}
                fields |= {"dwords": length // 4 - 1, "partial": r.randrange(2)}
                fields |= {"report_options": r.choice((0, r.randrange(8)))}
                fields |= {"psdt": 1, "address": address + 8 * r.randrange(4), "length": length}
            case Opcode.INSPECT:
                blocks, zone = self._some_blocks(), r.randrange(g.blocks + 1)
                offset = r.choice([0, r.randrange(g.zone_capacity)])
                fields |= {"slba": zone * g.zone_size + offset, "nlb": blocks - 1}
                fields |= self._data(address, blocks)
            case Opcode.RESTORE:
                place = {
                    "channel": r.randrange(g.channels), "die": r.randrange(g.dies),
                    "plane": r.randrange(g.planes), "spare": r.randrange(g.spare_blocks + 1),
                }  # fmt: skip
                number = {"sequence" if r.random() < 0.5 else "generation": r.randrange(1 << 16)}
                fields |= {
                    "slba": start + r.randrange(g.zone_size + 1), "action": r.choice(list(RestoreAction)),
                    "restored_state": r.choice(list(ZoneState)), "unsure": r.randrange(2),
                    "physical": r.randrange(g.blocks + 1), "wear": r.randrange(99),
                    **(place if r.random() < 0.3 else number),
                }  # fmt: skip
            case Opcode.STREAM_RESET:
                self._pointers[nsid] = [0] * zones
            case Opcode.ZONE_RETIRE:
                if not self._may_retire or nsid in self._state:
                    return self._valid(Opcode.READ, nsid, address)
                self._may_retire -= 1
                fields |= {"slba": start, "action": r.choice([ZoneState.READ_ONLY, ZoneState.OFFLINE])}
            case Opcode.UPDATE | Opcode.GENERATION | Opcode.GET_STATISTICS:
                fields |= self._updates.fields(opcode, nsid)
                if fields["opcode"] != Opcode.GENERATION:
                    fields |= self._data(address, fields["nlb"] + 1)
        return fields

    def _some_blocks(self) -> int:
        most = self.piece_blocks(self._config)
        most = min(most, self._config.max_blocks)
        return self._random.choice([1, self._random.randint(1, most), most])

    def _data(self, address: int, blocks: int) -> Fields:
        return {"psdt": 1, "address": address, "length": blocks * self._config.geometry.page_bytes}

    def _spoil(self, fields: Fields) -> str:
        """Put one fault into a command; returns the fault's name."""
        r, g = self._random, self._config.geometry
        page = g.page_bytes
        zone_bits = g.zone_size_bits
        faults: dict[str, Callable[[], Fields]] = {
            "opcode": lambda: {"opcode": r.choice([0x03, 0x04, 0x08, 0x7F, 0x85, 0x86, 0x87, 0x8C, 0xFF])},
            "fuse": lambda: {"fuse": r.randint(1, 3)},
            "psdt": lambda: {"psdt": r.choice([0, 2, 3])},
            "namespace": lambda: {"nsid": r.choice([0, 5, 6, 7, 8, 9, 0x100, 0xFFFF_FFFF])},
            "blocks": lambda: {"nlb": r.choice([self._config.max_blocks, 0xFFFF])},
            "length": lambda: {"length": r.choice([0, 1, 4, 64, page - 1, page + 1, 99 * page, 0xFFFF_FFFF])},
            "descriptor": lambda: {"sgl_type": r.randint(1, 255)},
            "alignment": lambda: {"address": fields.get("address", 0) + r.choice([1, 2, 4, page - 1])},
            "outside": lambda: {
                "address": r.choice(
                    [self._memory_bytes, self._memory_bytes - page // 2, 1 << 40, (1 << 64) - page]
                )
            },
            "offset": lambda: {"slba": fields.get("slba", 0) | r.randrange(g.zone_size)},
            "zone": lambda: {"slba": r.choice([40, 1 << 12, 1 << 31, 1 << 63]) << zone_bits & (1 << 64) - 1},
            "capacity": lambda: {"slba": fields.get("slba", 0) | g.zone_size - 1},
            "tiles": lambda: r.choice([{"rows": 0}, {"rows": 0xFFFF}, {"pages": 0}, {"pages": 17}]),
            "copies": lambda: {"copies": r.choice([3, 17, 255])},
            "source": lambda: {"source": r.choice([0, fields["nsid"] & 0xFF, 7, 9, 255])},
            "action": lambda: {"action": r.choice([0, 5, 6, 0x10, 0x80, 0xFF])},
            "report options": lambda: {"dwords": r.randrange(16), "length": 64},
        }
        name = r.choice(list(faults))
        fields |= faults[name]()
        if name == "blocks":
            fields.pop("dwords", None)
        elif name == "report options":
            fields.pop("nlb", None)
        return f"spoilt ({name})"

    def _flips(self) -> int:
        """One to three bits, outside the identifier and the address: pieces must not overlap."""
        s = Submission
        spared = s.cid.put((1 << s.cid.width) - 1) | s.address.put((1 << s.address.width) - 1)
        flips = 0
        for _ in range(self._random.randint(1, 3)):
            flips |= 1 << self._random.randrange(8 * s.BYTES)
        return flips & ~spared
