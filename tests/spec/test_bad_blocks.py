"""What is a mark, and that nothing of ours looks like one."""

from random import Random

import pytest

from flashtrain.numerics.page_randomizer import page_keys
from flashtrain.spec import preset
from flashtrain.spec.bad_blocks import is_mark, marked_pages, ones_of_ours
from flashtrain.spec.identity import PageIdentity, identity_record
from flashtrain.spec.randomizer import identity_key, page_key

G = preset("small_ecc").geometry
OFFSETS = [row * G.superpage + column for row in marked_pages(G.pages) for column in range(G.superpage)]


def stored(offset: int, **fields: int) -> int:
    """The identity of a page in that place, in the cells."""
    place = G.place(offset)
    where = {"page": place.page, "channel": place.channel, "die": place.die, "plane": place.plane}
    key = page_keys(G, place.page, place.plane)[G.page_bytes :]
    return int.from_bytes(identity_record(**where, **fields), "little") ^ int.from_bytes(key, "little")


def torn(random: Random, cells: int, share: float) -> bytes:
    """Each zero is a one with this probability."""
    bits = sum((random.random() < share) << bit for bit in range(8 * PageIdentity.BYTES))
    return (cells | bits).to_bytes(PageIdentity.BYTES, "little")


def test_the_key_of_an_identity():
    for offset in OFFSETS:
        place = G.place(offset)
        assert (
            identity_key(G, place.page, place.plane) == page_key(G, place.page, place.plane)[G.page_bytes :]
        )


@pytest.mark.parametrize("offset", OFFSETS[:: len(OFFSETS) // 16])
def test_marks(offset, seed):
    """The byte alone, all of the page, and what a bad block took of that; a wrong bit in the byte."""
    random, ours = Random(seed), ones_of_ours(G, G.place(offset), randomizer=True)
    rest = PageIdentity.BYTES - 1
    for first in (0, 1, 0x80):
        assert is_mark(bytes([first]) + bytes(rest), ours)
        assert is_mark(bytes([first]) + b"\xff" * rest, ours)
        for _ in range(20):
            assert is_mark(bytes([first]) + torn(random, 0, 0.3)[1:], ours)
    for first in (0xFF, 0x03, 0xFE):
        assert not is_mark(bytes([first]) + bytes(rest), ours)
    assert not is_mark(b"\xff" * PageIdentity.BYTES, ours)


def test_no_page_of_ours_is_a_mark(seed):
    """Whole, or cut short: of those whose first byte is zeros by chance."""
    random, close = Random(seed), 0
    for _ in range(4_000):
        offset = random.choice(OFFSETS)
        ours = ones_of_ours(G, G.place(offset), randomizer=True)
        fields = {"sequence": random.getrandbits(32), "wear": random.getrandbits(16)}
        place = G.place(offset)
        first = identity_key(G, place.page, place.plane)[0]  # so that the cells of the first byte are zeros
        fields |= {"stream": first & 7, "updated": first >> 3 & 1, "zone": first >> 4}
        cells = stored(offset, **fields)
        assert cells & ours == ours and cells & 0xFF == 0
        record = torn(random, cells, random.random() ** 4)
        close += record[0] == 0
        assert not is_mark(record, ours)
    assert close > 600
