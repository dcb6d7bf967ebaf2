"""Fields of a command, by its opcode and the state of its stream: sensible ones, many at a limit."""

from random import Random

from flashtrain.spec import Opcode, ZoneAction, ZoneState
from flashtrain.spec.identity import RestoreAction
from flashtrain.spec.nvme import GenerationAction, ReportHeader, ZoneDescriptor
from flashtrain.spec.optimizer import CONSTANT_WORDS, CopyFormat, GradientFormat
from flashtrain.spec.streams import Codec
from flashtrain.spec.update import UpdateHeader

from .oracle import Encoded, Oracle, StreamState, ZoneEntry
from .oracle.state import ACTIVE
from .oracle.tile_step import WEIGHTS_ALONE
from .scene import Scene

Fields = dict[str, int]

_GENERATION_ACTIONS = (
    *[GenerationAction.COMMIT] * 4,
    *[GenerationAction.ADVANCE] * 2,
    *[GenerationAction.RELEASE] * 3,
    GenerationAction.PIN,
)
_TAKES_MORE = ACTIVE | {ZoneState.EMPTY}
_MOST_BLOCKS = 64


class SensibleFields:
    """All fields but those that every command has, and the data pointer."""

    def __init__(self, random: Random, scene: Scene, oracle: Oracle) -> None:
        self._random = random
        self._scene = scene
        self._oracle = oracle
        self._config = scene.around.config

    def of(self, opcode: Opcode, nsid: int) -> Fields:
        """The fields of a command to stream `nsid`, on some zone of it."""
        r, size = self._random, self._config.geometry.zone_size
        stream = self._oracle.state.streams[nsid]
        number = r.randrange(len(stream.zones))
        if opcode is Opcode.READ and r.random() < 0.8:
            number = max(r.choices(range(len(stream.zones)), k=3), key=lambda n: stream.zones[n].written)
        if opcode in (Opcode.ZONE_APPEND, Opcode.WRITE) and stream.zones[number].state not in _TAKES_MORE:
            number = r.randrange(len(stream.zones))
        zone, start = stream.zones[number], number * size
        match opcode:
            case Opcode.ZONE_APPEND if stream.rights.encodes:
                return self._append_encoded(start, zone.written, stream.rights.codec)
            case Opcode.READ if stream.rights.encodes:
                return self._read_encoded(start, zone, stream.rights.codec)
            case Opcode.ZONE_APPEND:
                return {"slba": start, "nlb": self._blocks_to_append(zone.written) - 1}
            case Opcode.WRITE:
                off = r.choice([-1, 1, 0, r.randrange(size)]) if r.random() < 0.1 else 0
                slba = max(0, start + zone.written + off)
                return {"slba": slba, "nlb": self._blocks_to_append(zone.written) - 1}
            case Opcode.READ:
                return self._read(start, zone.written)
            case Opcode.ZONE_MANAGEMENT_SEND:
                action = r.choice(list(ZoneAction))
                return {"slba": start, "action": action, "select_all": int(r.random() < 0.1)}
            case Opcode.ZONE_MANAGEMENT_RECEIVE:
                return self._report(start, len(stream.zones) - number)
            case Opcode.ZONE_RETIRE:
                return {"slba": start, "action": r.choice([ZoneState.READ_ONLY, ZoneState.OFFLINE])}
            case Opcode.UPDATE:
                return self._update(nsid, stream)
            case Opcode.GENERATION:
                action = r.choice(_GENERATION_ACTIONS)
                if stream.pinned and r.random() < 0.7:
                    action = GenerationAction.RELEASE
                return {"action": action, "source": self._source(nsid)}
            case Opcode.SET_CONSTANTS | Opcode.GET_STATISTICS:
                return {"nlb": self._config.geometry.channels * self._config.geometry.dies - 1}
            case Opcode.INSPECT:
                physical = r.randrange(self._config.geometry.blocks + (r.random() < 0.1))
                return self._read(physical * size, self._config.geometry.zone_capacity)
            case Opcode.RESTORE:
                return self._restore(start)
        return {}

    def _some_blocks(self) -> int:
        most = min(self._config.max_blocks, _MOST_BLOCKS)
        return self._random.choice([1, self._random.randint(1, most), most])

    def _blocks_to_append(self, written: int) -> int:
        """Any number, or as many as are left, or one more."""
        left = self._config.geometry.zone_capacity - written
        exact = self._random.choice([left, left + 1, left - 1])
        if self._random.random() < 0.3 and 1 <= exact <= min(self._config.max_blocks, _MOST_BLOCKS):
            return exact
        return self._some_blocks()

    def _read(self, start: int, written: int) -> Fields:
        """A read of written blocks, up to the last one, one block further, or across the end of the zone."""
        r, size, blocks = self._random, self._config.geometry.zone_size, self._some_blocks()
        if r.random() < 0.75:
            blocks = min(blocks, max(1, written))
            first = r.randint(0, max(0, written - blocks))
        else:
            end = r.choice([written, written + 1, self._config.geometry.zone_capacity, size, size + 1])
            first = max(0, end - blocks)
        return {"slba": start + first, "nlb": blocks - 1}

    def _append_encoded(self, start: int, written: int, codec: Codec) -> Fields:
        """An append of as many blocks as fit with their bound or fewer, or of one more."""
        r, config = self._random, self._config
        exact = int(r.random() < 0.2)
        codec = Codec.WINDOW16 if exact else codec
        room = min(config.geometry.zone_capacity - written, config.max_blocks)
        fitting = 1
        while fitting < _MOST_BLOCKS and config.coded_bound(fitting + 1, codec) <= room:
            fitting += 1
        blocks = fitting + 1 if r.random() < 0.1 else r.choice([fitting, r.randint(1, fitting)])
        return {"slba": start, "nlb": blocks - 1, "exact": exact}

    def _read_encoded(self, start: int, zone: ZoneEntry, codec: Codec) -> Fields:
        """A read of an append, a read with a wrong field, or a read of pages that are no append."""
        r, size = self._random, self._config.geometry.page_bytes
        appends = list((zone.encoded | zone.resembling).items())
        if not appends or r.random() < 0.1:
            return {
                **self._read(start, zone.written), "expanded": self._some_blocks() - 1,
                "exact": r.randrange(2),
            }  # fmt: skip
        number = r.randrange(len(appends))
        first, one = appends[number]
        expanded, stored = len(one.data) // size, one.stored
        exact = int(one.codec is not codec)
        if r.random() < 0.3:
            if number + 1 < len(appends) and r.random() < 0.3:
                following: Encoded = appends[number + 1][1]
                stored += following.stored
                expanded += r.choice([0, len(following.data) // size])
            first = max(0, first + r.choice([0, 0, 0, 1, -1]))
            stored = max(1, stored + r.choice([0, 0, 0, 1, -1]))
            expanded = max(1, expanded + r.choice([0, 0, 0, 1, -1]))
            exact ^= r.random() < 0.2
        return {"slba": start + first, "nlb": stored - 1, "expanded": expanded - 1, "exact": exact}

    def _report(self, start: int, zones: int) -> Fields:
        listed = self._random.choice([0, 1, zones, self._random.randint(0, zones + 1)])
        odd = self._random.choice([0, 0, 4, 60])
        length = ReportHeader.BYTES + listed * ZoneDescriptor.BYTES + odd
        r = self._random
        return {
            "slba": start + r.choice([0, 0, r.randrange(self._config.geometry.zone_size)]),
            "dwords": length // 4 - 1, "partial": r.randrange(2),
            "report_options": r.choice([0, r.randrange(8)]),
        }  # fmt: skip

    def _source(self, nsid: int) -> int:
        """Mostly a stream as long as this one."""
        r, rights = self._random, self._scene.around.rights
        equal = [other for other in rights if other != nsid and rights[other].zones == rights[nsid].zones]
        return r.choice(equal if equal and r.random() < 0.95 else list(rights))

    def _update(self, nsid: int, stream: StreamState) -> Fields:
        """Tiles of the zone in which the source is furthest ahead, by the last constants of the dies.

        Mostly of the same place there; sometimes of any page before.
        """
        r, g = self._random, self._config.geometry
        source = self._source(nsid)
        others = self._oracle.state.streams[source].zones
        ahead = [
            b.written - a.written if a.state in _TAKES_MORE else 0
            for a, b in zip(stream.zones, others, strict=False)
        ]
        number = (
            max(range(len(ahead)), key=ahead.__getitem__) if r.random() < 0.8 else r.randrange(len(ahead))
        )
        step = self._oracle.state.dies[0].step
        pages = step.tile.gradient_pages if step and r.random() < 0.9 else r.randint(1, g.planes)
        copies = r.randint(0, step.tile.copy_pages if step and r.random() < 0.9 else pages)
        most = max(1, min(self._config.max_blocks, _MOST_BLOCKS) // (g.channels * pages))
        rows = r.randint(1, most)
        if r.random() < 0.8:
            rows = max(1, min(most, ahead[number] // (g.channels * g.planes)))
        page = stream.zones[number].written // (g.channels * g.planes * g.dies)
        if r.random() < 0.3:
            page = r.randrange(page + 1)
        if r.random() < 0.03:
            page = r.randrange(g.pages + 2)
        return {
            "slba": number * g.zone_size, "nlb": rows * g.channels * pages - 1, "pages": pages,
            "copies": copies, "rows": rows, "source": source, "source_page": min(page, g.pages + 1),
        }  # fmt: skip

    def _restore(self, start: int) -> Fields:
        r, g = self._random, self._config.geometry
        place = {
            "channel": r.randrange(g.channels + 1), "die": r.randrange(g.dies + 1),
            "plane": r.randrange(g.planes + 1), "spare": r.randrange(g.spare_blocks + 1),
        }  # fmt: skip
        number = {r.choice(["sequence", "generation"]): r.randrange(1 << 16)}
        return {
            "slba": start + r.choice([0, 1, g.zone_capacity, g.zone_capacity + 1, r.randint(0, g.zone_size)]),
            "action": r.choice(list(RestoreAction)),
            "restored_state": r.choice([ZoneState.CLOSED, ZoneState.CLOSED, *ZoneState]),
            "unsure": r.randrange(2),
            "physical": r.choice([r.randrange(g.zones), g.zones - 1, g.zones, g.blocks]),
            "wear": r.randrange(99),
            "time": r.getrandbits(32),
            **(place if r.random() < 0.2 else number),
        }

    def constants(self) -> bytes:
        """A header for each die: of a step with predictable results or, sometimes, of any step."""
        r, g, h = self._random, self._config.geometry, UpdateHeader
        words = g.page_set_bytes // 4
        value = (
            h.code.put(r.choice(WEIGHTS_ALONE)) | h.gradient_format.put(r.choice(list(GradientFormat)))
            | h.copy_format.put(r.choice(list(CopyFormat))) | h.parameters.put(words)
        )  # fmt: skip
        for number in range(CONSTANT_WORDS):
            value |= h.constants[number].put(r.getrandbits(32))
        if r.random() < 0.2:
            value ^= 1 << r.randrange(8 * h.BYTES)
        page = value.to_bytes(h.BYTES, "little").ljust(g.page_bytes, b"\0")
        return page * (g.channels * g.dies)
