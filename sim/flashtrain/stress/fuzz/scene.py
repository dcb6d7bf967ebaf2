"""Scenes of a run: streams with any rights, and queues of any size anywhere in the tensor buffer."""

from dataclasses import dataclass
from random import Random

from flashtrain.host.queues.queue_pair import ALIGNMENT
from flashtrain.spec import Access, Completion, FmsConfig, Port, Submission
from flashtrain.spec.registers import MAX_STREAMS, StreamAttributes
from flashtrain.spec.streams import Codec, Retention

from .oracle import StreamRights, Surroundings

_LEAST_ENTRIES, _MOST_ENTRIES = 3, 13
_STREAMS = (2, 3, 3, 4, 6)
_CODECS = list(Codec)
_RAW_STEP_STREAMS = 0.75
"""Probability that the streams for optimizer steps have no codec."""
_GUARD_BYTES = 8192
"""At the end of the tensor buffer: there, but not said to be."""


@dataclass(frozen=True)
class QueuePlace:
    """Queues of a port: bytes of the tensor buffer, and entries."""

    sq_address: int
    sq_entries: int
    cq_address: int
    cq_entries: int

    @property
    def end(self) -> int:
        return self.cq_address + self.cq_entries * Completion.BYTES


@dataclass(frozen=True)
class Scene:
    """The streams and queues of a run, at random.

    - `around`: the inputs of the oracle's checks.
    - `first_zones`: the first zone of each stream.
    - `step_streams`: two streams of equal length, for optimizer steps.
    - `broken`: ZONES and ATTRIBUTES of streams that do not exist, by NSID.
    - `queues_start`, `queues_end`: the range of the tensor buffer with all queues.
    - `total_bytes`: the size of the tensor buffer with its guard.
    """

    around: Surroundings
    first_zones: dict[int, int]
    step_streams: tuple[int, ...]
    broken: dict[int, tuple[int, int]]
    queues: dict[Port, QueuePlace]
    queues_start: int
    queues_end: int
    total_bytes: int

    @classmethod
    def random(cls, random: Random, config: FmsConfig, total_bytes: int) -> "Scene":
        rights, first_zones = _random_streams(random, config)
        memory_bytes = (
            total_bytes - _GUARD_BYTES + random.choice([0, 1, 8, 511, random.randrange(_GUARD_BYTES)])
        )
        start = ALIGNMENT * random.randrange(memory_bytes // 2 // ALIGNMENT)
        queues: dict[Port, QueuePlace] = {}
        end = start
        for port in random.sample(list(Port), len(Port)):
            queues[port] = _place_queues(random, end)
            end = -(-queues[port].end // ALIGNMENT) * ALIGNMENT
        around = Surroundings(config, rights, memory_bytes)
        broken = _broken_streams(random, config, rights)
        return cls(around, first_zones, tuple(rights)[:2], broken, queues, start, end, total_bytes)

    def stream_settings(self, nsid: int) -> tuple[int, int]:
        """Registers ZONES and ATTRIBUTES."""
        if nsid in self.broken:
            return self.broken[nsid]
        rights = self.around.rights[nsid]
        return self.first_zones[nsid] | rights.zones << 16, rights.attributes


def _random_streams(random: Random, config: FmsConfig) -> tuple[dict[int, StreamRights], dict[int, int]]:
    """Streams that do not overlap; the first two are as long, so that one may be updated to the other."""
    zones = config.geometry.zones
    count = min(random.choice(_STREAMS), zones // 2)
    longest = max(1, zones // count)
    lengths = [random.randint(1, longest) for _ in range(count)]
    lengths[1] = lengths[0] = random.randint(min(2, longest), longest)
    rights: dict[int, StreamRights] = {}
    raw_steps = random.random() < _RAW_STEP_STREAMS
    liberal = Access.READ | Access.APPEND if random.random() < 0.7 else Access.NONE
    for nsid, length in zip(random.sample(range(1, MAX_STREAMS + 1), count), lengths, strict=True):
        of_steps = liberal if len(rights) < 2 else Access.NONE
        host, core = _random_access(random), _random_access(random) | of_steps
        non_volatile = random.random() < (0.85 if of_steps else 0.6)
        retention, refuses = random.choice(list(Retention)), random.random() < 0.5
        raw = not config.codec or (len(rights) < 2 and raw_steps)
        codec = Codec.RAW if raw else random.choice(_CODECS)
        rights[nsid] = StreamRights(length, host, core, non_volatile, retention, refuses, codec)
    first_zones: dict[int, int] = {}
    spare = zones - sum(lengths)
    start = 0
    for nsid in random.sample(list(rights), count):
        gap = random.randint(0, spare)
        spare -= gap
        first_zones[nsid] = start + gap
        start = first_zones[nsid] + rights[nsid].zones
    return rights, first_zones


def _broken_streams(
    random: Random, config: FmsConfig, rights: dict[int, StreamRights]
) -> dict[int, tuple[int, int]]:
    """Settings of the other streams, each with one fault for which it does not exist."""
    everything = StreamRights(1, Access.READ | Access.APPEND, Access.READ | Access.APPEND, True).attributes
    invalid = everything & ~(1 << StreamAttributes.valid.low)
    first_unknown = len(_CODECS) if config.codec else Codec.RAW + 1
    unknown_codec = everything | random.randint(first_unknown, 15) << StreamAttributes.codec.low
    zones = config.geometry.zones
    broken: dict[int, tuple[int, int]] = {}
    for nsid in range(1, MAX_STREAMS + 1):
        if nsid not in rights:
            first = random.randint(0, zones)
            outside = first | random.choice([zones - first + 1, zones + 1, 0xFFFF]) << 16
            broken[nsid] = random.choice(
                [(1 << 16, invalid), (1 << 16, unknown_codec), (outside, everything)]
            )
    return broken


def _random_access(random: Random) -> Access:
    both = Access.READ | Access.APPEND
    return random.choice([both, both, both, both, Access.READ, Access.APPEND, Access.NONE])


def _place_queues(random: Random, start: int) -> QueuePlace:
    sq_entries, cq_entries = (random.randint(_LEAST_ENTRIES, _MOST_ENTRIES) for _ in range(2))
    cq_address = start + sq_entries * Submission.BYTES + ALIGNMENT * random.randrange(3)
    return QueuePlace(start, sq_entries, cq_address, cq_entries)
