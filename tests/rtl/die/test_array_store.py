"""Storage of the array model under Verilator: sparse, freed by erases; and faults that a host asks for."""

import ctypes

import numpy as np
import pytest

from flashtrain.sim.nand.errors import CUT_RECORD, PagePlace, cut_erase, cut_program
from tests.rtl.die.store_helpers import ERASE, PAGE_BYTES, PROGRAM, WORD_BYTES, StoredDie, compile_store


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


def zeros(content: bytes) -> int:
    return 8 * len(content) - int(np.unpackbits(np.frombuffer(content, np.uint8)).sum())


def taken_cuts(library) -> np.ndarray:
    records = np.empty(library.flashtrain_array_cuts(), CUT_RECORD)
    library.flashtrain_array_take_cuts(ctypes.c_void_p(records.ctypes.data))
    return records


def test_a_program_that_is_cut_leaves_some_of_the_zeros(library, seed):
    """The same as its twin says; later more of them, all at the end; elsewhere and after an erase others."""
    library.flashtrain_array_forget()
    taken_cuts(library)
    die, content, takes = StoredDie(library, 4, 1), np.random.default_rng(seed).bytes(PAGE_BYTES), 2400
    before = None
    for passed in (0, 1, 240, 1200, 1800, 2280, 2399):
        found = []
        for plane in (0, 1):
            die.write_page(plane, 3, 2, content)
            die.cut(PROGRAM, plane, 3, 2, passed, takes)
            found.append(die.held(plane, 3, 2))
            assert found[-1] == cut_program(0, PagePlace(4, 1, plane, 3, 2, 0), content, passed / takes)
        missing = [zeros(content) - zeros(page) for page in found]
        assert taken_cuts(library).tolist() == [(0, 4, 1, plane, 3, 2, missing[plane]) for plane in (0, 1)]
        share = (1 - passed / takes) ** 4
        spread = (zeros(content) * share * (1 - share)) ** 0.5
        assert all(abs(count - zeros(content) * share) <= 6 * spread + 1e-6 for count in missing)
        assert missing[0] == 0 or passed == 0 or passed > 1800 or found[0] != found[1]
        if before is not None:
            ones = np.frombuffer(before, np.uint8)
            assert np.array_equal(ones | np.frombuffer(found[0], np.uint8), ones)
        before = found[0]
    die.write_page(0, 3, 2, content)
    die.cut(PROGRAM, 0, 3, 2, 1200, takes)
    first = die.held(0, 3, 2)
    die.erase(0, 3)
    die.write_page(0, 3, 2, content)
    die.cut(PROGRAM, 0, 3, 2, 1200, takes)
    assert die.held(0, 3, 2) != first


def test_an_erase_that_is_cut_leaves_some_of_the_zeros(library, seed):
    """Early all of them: the block looks as it was. Each cut counts as an erase; a whole one frees."""
    library.flashtrain_array_forget()
    taken_cuts(library)
    die, rng, takes = StoredDie(library, 4, 1), np.random.default_rng(seed), 6000
    for erases, passed in enumerate((1, 3000, 4500, 5999)):
        pages = [rng.bytes(PAGE_BYTES) for _ in range(3)]
        for number, content in enumerate(pages):
            die.write_page(1, 5, number, content)
        die.cut(ERASE, 1, 5, 0, passed, takes)
        held = [die.held(1, 5, number) for number in range(3)]
        assert held == [
            cut_erase(0, PagePlace(4, 1, 1, 5, number, erases), content, passed / takes)
            for number, content in enumerate(pages)
        ]
        left = sum(map(zeros, held))
        assert taken_cuts(library).tolist() == [(1, 4, 1, 1, 5, 3, left)]
        assert (held == pages) == (passed == 1)
        cells, share = sum(map(zeros, pages)), 1 - (passed / takes) ** 4
        assert left == pytest.approx(cells * share, abs=6 * (cells * share * (1 - share)) ** 0.5 + 1)
    die.erase(1, 5)
    assert library.flashtrain_array_bytes() == 0
