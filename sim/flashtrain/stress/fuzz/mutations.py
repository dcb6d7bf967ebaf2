"""Mutations of commands: they show whether the device checks the right fields, and no others."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from flashtrain.spec import Opcode, Submission
from flashtrain.spec.nvme import BitField

from .command import FuzzCommand
from .oracle import Surroundings

_BITS = 8 * Submission.BYTES
_FIELDS: dict[str, BitField] = {
    name: field for name, field in vars(Submission).items() if isinstance(field, BitField)
}
_OPCODES = tuple(Opcode)
_NOBODY_LOOKS_AT = (
    *range(10, 14), *range(128, 192), *range(288, 312),
)  # fmt: skip
"""Reserved bits of the entry, whatever the opcode: of dword 0, the metadata pointer, of the descriptor."""


class Mutations:
    """Changes commands; each way has the same chances."""

    def __init__(self, random: Random, around: Surroundings) -> None:
        self._random = random
        config = around.config
        g = config.geometry
        self._zone_size, self._most_zones = (
            g.zone_size,
            max(rights.zones for rights in around.rights.values()),
        )
        page, end = g.page_bytes, around.memory_bytes
        self._addresses = [0, end, end - 8, end // page * page, end // page * page - page, 1 << 36, 1 << 48]
        limits = (
            g.page_bytes,
            g.zone_size,
            g.zone_capacity,
            config.max_blocks,
            g.zones,
            g.planes,
            g.channels,
        )
        near = {limit + step for limit in limits for step in (-1, 0, 1)}
        self._numbers = sorted({0, 1, 2, 15, 16, 0x7F, 0x80, 0xFF, 0xFFFF, *near})
        self._ways: dict[str, Callable[[int], int]] = {
            "bits flipped": self._flip,
            "reserved bits set": self._set_reserved,
            "a field at a limit": self._to_limit,
            "two fields swapped": self._swap_fields,
            "two dwords swapped": self._swap_dwords,
            "another zone": self._other_zone,
            "data elsewhere": self._other_address,
            "another opcode": self._other_opcode,
            "a random field": self._random_field,
            "random, with a known opcode": self._random_of_known_opcode,
            "random": self._random_entry,
        }

    def of(self, command: FuzzCommand) -> FuzzCommand:
        kind, way = self._random.choice(list(self._ways.items()))
        return replace(command, entry=way(command.entry), kind=kind)

    def _put(self, entry: int, field: BitField, value: int) -> int:
        mask = (1 << field.width) - 1
        return entry & ~(mask << field.low) | (value & mask) << field.low

    def _flip(self, entry: int) -> int:
        for _ in range(self._random.choice([1, 1, 1, 2, 3, 8])):
            entry ^= 1 << self._random.randrange(_BITS)
        return entry

    def _set_reserved(self, entry: int) -> int:
        for bit in self._random.sample(_NOBODY_LOOKS_AT, self._random.randint(1, len(_NOBODY_LOOKS_AT))):
            entry ^= 1 << bit
        return entry

    def _to_limit(self, entry: int) -> int:
        field = self._random.choice(list(_FIELDS.values()))
        value = self._random.choice(self._numbers)
        if self._random.random() < 0.3:
            value = (1 << field.width) - self._random.choice([1, 2, value])
        return self._put(entry, field, value)

    def _swap_fields(self, entry: int) -> int:
        a, b = self._random.sample(list(_FIELDS.values()), 2)
        of_a, of_b = a.get(entry), b.get(entry)
        return self._put(self._put(entry, a, of_b), b, of_a)

    def _swap_dwords(self, entry: int) -> int:
        a, b = (BitField(32 * number, 32) for number in self._random.sample(range(16), 2))
        of_a, of_b = a.get(entry), b.get(entry)
        return self._put(self._put(entry, a, of_b), b, of_a)

    def _other_opcode(self, entry: int) -> int:
        return self._put(entry, Submission.opcode, self._random.choice(_OPCODES))

    def _other_zone(self, entry: int) -> int:
        """Zones further, to the end of any stream, or of all numbers."""
        zones = self._random.choice(
            [1, -1, self._random.randint(0, self._most_zones + 1), 1 << 20, -(1 << 20)]
        )
        slba = Submission.slba.get(entry) + zones * self._zone_size
        return self._put(entry, Submission.slba, slba)

    def _other_address(self, entry: int) -> int:
        """At the end of the tensor buffer, or of all addresses, or a bit off."""
        s = Submission
        address = self._random.choice(
            [*self._addresses, s.address.get(entry), (1 << 64) - s.length.get(entry)]
        )
        address += self._random.choice([0, 0, 1, 8, -8, 64, 512])
        return self._put(entry, s.address, address)

    def _random_field(self, entry: int) -> int:
        field = self._random.choice(list(_FIELDS.values()))
        return self._put(entry, field, self._random.getrandbits(field.width))

    def _random_entry(self, entry: int) -> int:
        return self._random.getrandbits(_BITS)

    def _random_of_known_opcode(self, entry: int) -> int:
        """Random all over, but for what the first checks would refuse almost always."""
        s, value = Submission, self._random.getrandbits(_BITS)
        value = self._put(value, s.opcode, self._random.choice(_OPCODES))
        kept = self._random.sample([s.fuse, s.psdt, s.nsid, s.sgl_type, s.address, s.length], 6)
        for field in kept[: self._random.randint(2, 6)]:
            value = self._put(value, field, field.get(entry))
        return self._put(value, s.fuse, 0)
