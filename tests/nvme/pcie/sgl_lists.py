"""Random Scatter Gather Lists, right and with a fault, from the standard alone (Base 2.0, section 4.1.2)."""

import random
from collections.abc import Callable, Sequence
from itertools import pairwise

DATA_BLOCK, BIT_BUCKET, SEGMENT, LAST_SEGMENT, KEYED = 0, 1, 2, 3, 4
BYTES = 16
FAULTS = (
    "type", "subtype", "bucket", "short", "grain", "beyond", "segment in the last", "segment too early",
    "odd segment", "empty segment", "misplaced segment", "segment beyond", "unreadable", "descriptors",
    "blocks", "loop",
)  # fmt: skip
"""Kinds of faults. Not each of them has an effect: it may be behind the end of the data."""


def descriptor(kind: int, address: int, length: int, subtype: int = 0) -> int:
    return address % (1 << 64) | length % (1 << 32) << 64 | subtype << 120 | kind << 124


Block = tuple[int, int]
"""Address and bytes."""


def blocks_of(
    chance: random.Random, length: int, most: int, address: Callable[[int], int], largest: int = 32 << 10
) -> list[Block]:
    """At most so many data blocks that add up to a length. `address` has room for so many bytes."""
    found, left = [], length
    for more in reversed(range(most)):
        if left:
            least, upto = max(4, left - more * largest), min(left, largest)
            size = chance.choice([least, upto, 4 * chance.randint(1, 40), 4 * chance.randint(1, 8192)])
            size = max(least, min(upto, size))
            found.append((address(size), size))
            left -= size
    return found


class Sgl:
    """A list in segments. `put` writes a descriptor, `place` gives the address of a segment of some bytes."""

    def __init__(
        self,
        chance: random.Random,
        blocks: Sequence[Block],
        put: Callable[[int, int], None],
        place: Callable[[int], int],
    ) -> None:
        self.chance, self.put = chance, put
        found, empty = [], 0
        for address, size in blocks:
            # So few that they and the links are not more than descriptors may be.
            if chance.random() < 0.1 and empty < len(blocks) - 2:
                found.append(descriptor(DATA_BLOCK, 4 * chance.getrandbits(61), 0))
                empty += 1
            found.append(descriptor(DATA_BLOCK, address, size))
        if len(found) == 1 and chance.random() < 0.7:
            self.segments, self.places = [found], [0]
            return
        cuts = sorted(chance.choices(range(1, len(found) + 1), k=chance.randrange(3)))
        bounds = [0, *dict.fromkeys(cuts), len(found)]
        parts = [found[first:last] for first, last in pairwise(bounds) if first < last]
        self.segments = [[], *parts]
        sizes = [BYTES * (len(part) + (part is not parts[-1])) for part in parts]
        self.places = [0, *(place(size) for size in sizes)]
        for number, size in enumerate(sizes):
            is_last = number == len(sizes) - 1 and chance.random() < 0.9
            kind = LAST_SEGMENT if is_last else SEGMENT
            self.segments[number].append(descriptor(kind, self.places[number + 1], size))

    def write(self) -> tuple[int, int]:
        """Put the segments into the memory; the two words of the command's descriptor."""
        for place, segment in zip(self.places[1:], self.segments[1:], strict=True):
            for number, one in enumerate(segment):
                self.put(place + BYTES * number, one)
        (first,) = self.segments[0]
        return first % (1 << 64), first >> 64

    def spoil(self, fault: str, memory_bytes: int, most: int) -> None:
        """Change one descriptor; a fault of segments that the list does not have changes nothing.

        `most`: blocks that there may be.
        """
        chance = self.chance
        segment = chance.choice(self.segments)
        at = chance.randrange(len(segment))
        link, linked = self.segments[0], len(self.segments) > 1
        old = segment[at]
        address, length, kind = old % (1 << 64), old >> 64 & 0xFFFF_FFFF, old >> 124
        first = link[0] % (1 << 64)
        match fault:
            case "type":
                segment[at] = descriptor(chance.choice([4, 5, 6, 8, 14, 15]), address, length)
            case "subtype":
                segment[at] = descriptor(kind, address, length, chance.randrange(1, 16))
            case "bucket":
                segment[at] = descriptor(BIT_BUCKET, address, length)
            case "short" if kind == DATA_BLOCK and length:
                segment[at] = descriptor(kind, address, length - 4 * chance.randint(1, length // 4))
            case "grain":
                odd = chance.randint(1, 3)
                segment[at] = descriptor(
                    kind, address | chance.choice([0, odd]), length | chance.choice([odd, 0])
                )
            case "beyond" if length > 4:
                segment[at] = descriptor(kind, -4 * chance.randint(1, length // 4 - 1), length)
            case "segment in the last" if linked:
                last = self.segments[-1]
                last[chance.randrange(len(last))] = descriptor(chance.choice([2, 3]), self.places[1], BYTES)
            case "segment too early":
                # A last segment has another fault, which comes first.
                long = [one for one in self.segments[:-1] if len(one) > 1] or [
                    one for one in self.segments if len(one) > 1
                ]
                if long:
                    one = chance.choice(long)
                    one[chance.randrange(len(one) - 1)] = descriptor(chance.choice([2, 3]), 4096, BYTES)
            case "odd segment" if linked:
                link[0] += chance.randint(1, 15) << 64
            case "empty segment" if linked:
                link[0] = descriptor(link[0] >> 124, first, 0)
            case "misplaced segment" if linked:
                link[0] |= chance.randint(1, 7)
            case "segment beyond" if linked:
                link[0] = descriptor(link[0] >> 124, -8, 64)
            case "unreadable" if linked:
                link[0] = descriptor(link[0] >> 124, memory_bytes + chance.choice([-16, 0, 1 << 40]), 32)
            case "descriptors" if linked:
                link[0] |= chance.choice([1 << 16, 1 << 31, 1 << 14]) << 64
            case "blocks" if linked:
                small = descriptor(DATA_BLOCK, 4 * chance.getrandbits(8), 4)
                self.segments[1:] = [[small] * (most + 1)]
                del self.places[2:]
                link[0] = descriptor(LAST_SEGMENT, first, BYTES * (most + 1))
            case "loop" if linked:
                empty = descriptor(DATA_BLOCK, 0, 0)
                self.segments[1:] = [[empty, descriptor(SEGMENT, self.places[1], 2 * BYTES)]]
                del self.places[2:]
                link[0] = descriptor(SEGMENT, first, 2 * BYTES)
