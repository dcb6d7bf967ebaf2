"""Storage of the array model under Verilator: sparse, freed by erases; and faults that a host asks for."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from store_kit import PAGE_BYTES, PROGRAM, WORD_BYTES, StoredDie, compile_store


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return compile_store(tmp_path_factory.mktemp("store"))


def test_only_what_is_written_is_kept(library):
    library.flashtrain_array_forget()
    first, second = StoredDie(library, 0, 0), StoredDie(library, 63, 1)
    ones = b"\x11" * WORD_BYTES
    first.write(0, 682, 767, {3: ones})
    assert library.flashtrain_array_bytes() == PAGE_BYTES
    assert first.read(0, 682, 767, 3) == ones
    for plane, block, page, word in [(0, 682, 767, 4), (1, 682, 767, 3), (0, 682, 766, 3), (0, 681, 767, 3)]:
        assert first.read(plane, block, page, word) == b"\xff" * WORD_BYTES
    assert second.read(0, 682, 767, 3) == b"\xff" * WORD_BYTES


def test_an_erase_frees(library):
    library.flashtrain_array_forget()
    die = StoredDie(library, 1, 0)
    for page in range(5):
        die.write(0, 7, page, {0: bytes(WORD_BYTES)})
        die.write(1, 7, page, {0: bytes(WORD_BYTES)})
    library.flashtrain_array_erase(die.store, 0, 7)
    assert library.flashtrain_array_bytes() == 5 * PAGE_BYTES
    assert die.read(0, 7, 2, 0) == b"\xff" * WORD_BYTES
    assert die.read(1, 7, 2, 0) == bytes(WORD_BYTES)


def test_faults(library):
    def fails(channel: int, die: int, plane: int, block: int) -> bool:
        return bool(library.flashtrain_array_fails(channel, die, PROGRAM, plane, block, 0))

    library.flashtrain_array_clear_faults()
    assert not fails(2, 1, 0, 9)
    library.flashtrain_array_add_fault(2, 1, 0, 9)
    assert fails(2, 1, 0, 9)
    assert not any(fails(*place) for place in [(1, 1, 0, 9), (2, 0, 0, 9), (2, 1, 1, 9), (2, 1, 0, 8)])
    library.flashtrain_array_clear_faults()
    assert not fails(2, 1, 0, 9)


def test_a_die_that_hangs(library):
    def verdict(die: int, op: int) -> int:
        return library.flashtrain_array_fails(3, die, op, 0, 0, 0)

    library.flashtrain_array_clear_faults()
    library.flashtrain_array_hang(3, 1)
    assert [verdict(1, op) for op in range(4)] == [2, 2, 2, 2]
    assert [verdict(0, op) for op in range(4)] == [0, 0, 0, 0]
    library.flashtrain_array_clear_faults()
    assert verdict(1, PROGRAM) == 0
