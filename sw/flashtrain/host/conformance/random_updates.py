"""Random commands of optimizer steps, for the streams of a node that hold the state in turn."""

from collections.abc import Sequence
from random import Random

from flashtrain.host.device import STATE_STREAMS
from flashtrain.host.state.state_stream import TileStep
from flashtrain.numerics import Constants
from flashtrain.spec import FmsConfig, NodeTable, Opcode
from flashtrain.spec.nvme import GenerationAction
from flashtrain.spec.optimizer import CopyFormat, GradientFormat, OptimizerCode, SgdConstant
from flashtrain.spec.update import Tile

Fields = dict[str, int]

_ACTIONS = {
    GenerationAction.COMMIT: 12,
    GenerationAction.ADVANCE: 4,
    GenerationAction.PIN: 2,
    GenerationAction.RELEASE: 6,
}
_OF_NEXT = frozenset({Opcode.UPDATE, Opcode.GENERATION, Opcode.STREAM_RESET})


def state_nsids(node: NodeTable) -> tuple[int, ...]:
    """The namespaces of a node that hold the state in turn; none without such streams."""
    return tuple(stream.nsid for stream in node.streams if stream.name in STATE_STREAMS)


def random_step(config: FmsConfig) -> TileStep:
    """SGD in BF16, which is defined for any bits and defines every byte of tiles and copies."""
    c = SgdConstant
    values = {c.SCALE: 0.75, c.DECAY: 0.125, c.STEP: -1.5, c.MOMENTUM: 0.0}
    tile = Tile.of(config.geometry, OptimizerCode.SGD, GradientFormat.BF16, CopyFormat.BF16)
    return TileStep(tile, Constants.rounded(OptimizerCode.SGD, values))


class RandomUpdates:
    """Updates and generation commands between the streams `nsids`.

    - pointers: write pointers by stream and zone, which this class advances.
    - most_blocks: the maximum of one command.
    """

    def __init__(
        self,
        random: Random,
        config: FmsConfig,
        nsids: Sequence[int],
        pointers: dict[int, list[int]],
        most_blocks: int,
    ) -> None:
        self._random = random
        self._geometry = config.geometry
        self._nsids = nsids
        self._pointers = pointers
        self._tile = random_step(config).tile
        self._most_rows = most_blocks // (config.geometry.channels * self._tile.gradient_pages)

    @property
    def possible(self) -> bool:
        """Whether one stream has a row of tiles that another one lacks."""
        row = self._geometry.channels * self._geometry.planes
        fills = [self._pointers[nsid] for nsid in self._nsids]
        return bool(fills) and any(max(zone) - min(zone) >= row for zone in zip(*fills, strict=True))

    def likely(self, opcode: Opcode) -> int:
        """The likely namespace of such a command; the emptier stream is the next generation."""
        by_fill = sorted(self._nsids, key=lambda nsid: sum(self._pointers[nsid]))
        return by_fill[0] if opcode in _OF_NEXT else by_fill[-1]

    def fields(self, opcode: Opcode, nsid: int) -> Fields:
        """The fields of such a command without namespace and data; a commit when no row can be updated."""
        g = self._geometry
        source = self._random.choice([other for other in self._nsids if other != nsid])
        match opcode:
            case Opcode.UPDATE:
                return self._update(nsid, source)
            case Opcode.GENERATION:
                action = self._random.choices(list(_ACTIONS), list(_ACTIONS.values()))[0]
                return self._generation(nsid, source, action)
        return {"nlb": g.channels * g.dies - 1}

    def _update(self, nsid: int, source: int) -> Fields:
        r, g = self._random, self._geometry
        row = g.channels * g.planes
        own, other = self._pointers[nsid], self._pointers[source]
        behind = [zone for zone in range(len(own)) if own[zone] + row <= other[zone]]
        if not behind and r.random() < 0.8:
            return {"opcode": Opcode.GENERATION, **self._generation(nsid, source, GenerationAction.COMMIT)}
        zone = r.choice(behind) if behind and r.random() < 0.9 else r.randrange(len(own))
        rows = max(1, min(self._most_rows, (other[zone] - own[zone]) // row))
        if r.random() < 0.15:
            rows = r.randint(1, self._most_rows)
        pages, of_page = self._tile.gradient_pages, row * g.dies
        page = min(own[zone] // of_page, g.pages - 1)
        if r.random() < 0.4:
            page = r.randint(0, page)  # an older place: the tiles move behind those of later steps
        first = page * of_page + own[zone] % of_page
        fits = own[zone] + rows * row <= g.zone_capacity
        if own[zone] % row == 0 and fits and first + rows * row <= other[zone]:
            own[zone] += rows * row
        return {
            "slba": zone * g.zone_size, "nlb": rows * pages * g.channels - 1, "rows": rows, "pages": pages,
            "copies": r.randint(0, self._tile.copy_pages), "source": source, "source_page": page,
        }  # fmt: skip

    def _generation(self, nsid: int, source: int, action: GenerationAction) -> Fields:
        own, other = self._pointers[nsid], self._pointers[source]
        if action is GenerationAction.COMMIT and all(a >= b for a, b in zip(own, other, strict=True)):
            self._pointers[source] = [0] * len(self._pointers[source])
        return {"action": action, "source": source}
