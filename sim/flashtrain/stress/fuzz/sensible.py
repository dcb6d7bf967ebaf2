"""Commands that are well formed, near what the device would carry out: many at a limit of some kind."""

from collections.abc import Mapping
from random import Random

from flashtrain.host.queues.entries import raw_entry
from flashtrain.spec import Access, Opcode, Port, Submission

from .batch import Batch
from .command import FuzzCommand, Payload
from .oracle import Oracle
from .oracle.checks import BLOCKS
from .scene import Scene
from .sensible_fields import Fields, SensibleFields
from .tensors import tensor_bytes

WEIGHTS: dict[Opcode, float] = {
    Opcode.ZONE_APPEND: 24, Opcode.WRITE: 12, Opcode.READ: 24, Opcode.ZONE_MANAGEMENT_SEND: 14,
    Opcode.ZONE_MANAGEMENT_RECEIVE: 5, Opcode.FLUSH: 4, Opcode.STREAM_RESET: 0.8, Opcode.ZONE_RETIRE: 0.3,
    Opcode.UPDATE: 7, Opcode.GENERATION: 4, Opcode.SET_CONSTANTS: 1.5, Opcode.GET_STATISTICS: 1.5,
    Opcode.INSPECT: 0.6, Opcode.RESTORE: 0.6,
}  # fmt: skip
UPDATE_WEIGHTS = {
    **WEIGHTS, Opcode.UPDATE: 60, Opcode.GENERATION: 16, Opcode.SET_CONSTANTS: 3, Opcode.GET_STATISTICS: 6,
    Opcode.ZONE_APPEND: 6, Opcode.WRITE: 2,
}  # fmt: skip
READING_WEIGHTS = {**WEIGHTS, Opcode.READ: 200.0, Opcode.STREAM_RESET: 0.1}
_OF_STEPS = frozenset({Opcode.UPDATE, Opcode.GENERATION})
_RECOVERY_WEIGHTS = {**WEIGHTS, Opcode.INSPECT: 40.0, Opcode.RESTORE: 60.0}
_SEARCHES = 12
_TENSORS = 0.7
"""Probability that an append to a stream with a codec is of numbers as tensors have them."""


class Sensible:
    """Makes commands for a batch that is being filled."""

    def __init__(self, random: Random, scene: Scene, oracle: Oracle) -> None:
        self._random = random
        self._scene = scene
        self._oracle = oracle
        self._config = scene.around.config
        self._fields = SensibleFields(random, scene, oracle)

    def command(self, batch: Batch, weights: Mapping[Opcode, float]) -> FuzzCommand:
        """Any command, mostly of a port that may."""
        r, rights = self._random, self._scene.around.rights
        if self._oracle.state.recovering:
            weights = _RECOVERY_WEIGHTS
        while True:
            opcode = r.choices(list(weights), list(weights.values()))[0]
            if r.random() < 0.05:
                return self.of(batch, opcode, r.choice(list(rights)), r.choice(list(Port)))
            opcode, streams = self._likely_streams(opcode)
            if able := [
                (nsid, port)
                for nsid in streams
                for port in Port
                if batch.owner(nsid) in (None, port) and self._may(opcode, nsid, port)
            ]:
                return self.of(batch, opcode, *r.choice(able))

    def _likely_streams(self, opcode: Opcode) -> tuple[Opcode, tuple[int, ...]]:
        """Where it may succeed; in place of an update perhaps an append that makes the next one possible."""
        rights = self._scene.around.rights
        step_streams, everywhere = self._scene.step_streams, tuple(rights)
        raw = tuple(nsid for nsid in rights if not rights[nsid].encodes)
        if opcode is Opcode.WRITE and raw and self._random.random() < 0.9:
            return opcode, raw
        encoding = tuple(nsid for nsid in rights if rights[nsid].encodes)
        if opcode in (Opcode.READ, Opcode.ZONE_APPEND) and encoding and self._random.random() < 0.6:
            filled = tuple(nsid for nsid in encoding if self._filling(nsid))
            return opcode, filled if filled and opcode is Opcode.READ else encoding
        if opcode not in _OF_STEPS or self._random.random() < 0.1:
            return opcode, everywhere
        if opcode is not Opcode.UPDATE:
            return opcode, step_streams
        next_one, source = sorted(step_streams, key=self._filling)
        if self._is_ahead(source, next_one):
            return opcode, (next_one,)
        return Opcode.ZONE_APPEND, (source,)

    def _may(self, opcode: Opcode, nsid: int, port: Port) -> bool:
        rights = self._scene.around.rights
        if opcode in (Opcode.INSPECT, Opcode.RESTORE):
            return port is Port.HOST
        if opcode is Opcode.UPDATE and not all(
            Access.READ in rights[stream].of(port) for stream in self._scene.step_streams
        ):
            return False
        return (Access.READ if opcode is Opcode.READ else Access.APPEND) in rights[nsid].of(port)

    def _filling(self, nsid: int) -> int:
        return sum(zone.written for zone in self._oracle.state.streams[nsid].zones)

    def _is_ahead(self, source: int, nsid: int) -> bool:
        g, streams = self._config.geometry, self._oracle.state.streams
        zones = zip(streams[source].zones, streams[nsid].zones, strict=False)
        return any(a.written - b.written >= g.channels * g.planes for a, b in zones)

    def of(self, batch: Batch, opcode: Opcode, nsid: int, port: Port) -> FuzzCommand:
        """A command of this kind, on some zone."""
        fields: Fields = {"opcode": opcode, "nsid": nsid, "cid": self._random.randrange(1 << 16)}
        fields |= self._fields.of(opcode, nsid)
        if opcode in BLOCKS:
            expands = opcode is Opcode.READ and self._scene.around.rights[nsid].encodes
            unit = self._config.geometry.page_bytes
            length = (fields["expanded" if expands else "nlb"] + 1) * unit
        elif opcode is Opcode.ZONE_MANAGEMENT_RECEIVE:
            length, unit = 4 * (fields["dwords"] + 1), 8
        else:
            return FuzzCommand(port, int.from_bytes(raw_entry(**fields), "little"), "valid")
        reads = opcode in (Opcode.ZONE_APPEND, Opcode.WRITE)
        address = self._place(batch, length, unit, not reads)
        fields |= {"psdt": Submission.PSDT_SGL, "length": length, "address": address}
        payload = self._payload(opcode, nsid, address, length)
        return FuzzCommand(port, int.from_bytes(raw_entry(**fields), "little"), "valid", payload)

    def _payload(self, opcode: Opcode, nsid: int, address: int, length: int) -> Payload | None:
        """Data of this command, other than the random ones that are there."""
        if opcode is Opcode.SET_CONSTANTS:
            return Payload(address, self._fields.constants())
        encodes = opcode is Opcode.ZONE_APPEND and self._scene.around.rights[nsid].encodes
        if encodes and self._random.random() < _TENSORS:
            return Payload(address, tensor_bytes(self._random, length))
        return None

    def _place(self, batch: Batch, length: int, unit: int, owned: bool) -> int:
        """Somewhere in the tensor buffer, its very end included."""
        top = (self._scene.around.memory_bytes - length) // unit
        places = [top, *(self._random.randint(0, top) for _ in range(_SEARCHES))]
        if self._random.random() < 0.97:
            places.append(places.pop(0))
        for place in places:
            if batch.is_free(place * unit, place * unit + length, owned):
                return place * unit
        return places[-1] * unit  # the batch will refuse it
