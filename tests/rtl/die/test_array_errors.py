"""The error model in the arrays' store: against its twin bit by bit, and its statistics against the model."""

import ctypes

import numpy as np
import pytest

from flashtrain.sim.nand.errors import (
    FLIP_RECORD,
    Ageing,
    ErrorModel,
    PagePlace,
    Wear,
    cut_erase,
    cut_program,
    erase_fails,
    erase_hangs,
    even,
    model_record,
    program_fails,
    program_hangs,
    sense_hangs,
    torn,
    wrong_bits,
)
from tests.rtl.die.store_helpers import (
    ERASE,
    HANGS,
    PAGE_BYTES,
    PROGRAM,
    SENSE,
    SUSPENDED_READ,
    StoredDie,
    compile_store,
)

CHANNEL, DIE = 3, 1
BITS = 8 * PAGE_BYTES
ERASED = b"\xff" * PAGE_BYTES
EVERYTHING = ErrorModel(
    seed=5,
    fresh=1e-3,
    wear=Wear(2e-3, 2.0),
    retention=Ageing(3e-3, amount=10, wear_exponent=1.5, exponent=0.5),
    disturb=Ageing(2e-3, amount=20, wear_exponent=0.5, exponent=1.0),
    transient=0.25,
    program_failure=Wear(0.3, 1.0),
    erase_failure=Wear(0.2, 2.0),
    hang=Wear(0.05, 0.5),
    rated_cycles=8,
    cycles_before=2,
)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return compile_store(tmp_path_factory.mktemp("store"))


@pytest.fixture
def die(library):
    yield StoredDie(library, CHANNEL, DIE)
    set_errors(library, None)
    taken_flips(library)
    library.flashtrain_array_forget()
    library.flashtrain_array_clear_faults()


def set_errors(library, model: ErrorModel | None, keep: bool = False) -> None:
    library.flashtrain_array_set_errors(ctypes.byref(model_record(model)) if model else None, keep)


def taken_flips(library) -> np.ndarray:
    flips = np.empty(library.flashtrain_array_flips(), FLIP_RECORD)
    library.flashtrain_array_take_flips(ctypes.c_void_p(flips.ctypes.data))
    return flips


def wrong(found: bytes, right: bytes) -> list[int]:
    """Bits that differ."""
    differ = np.frombuffer(found, np.uint8) ^ np.frombuffer(right, np.uint8)
    return np.flatnonzero(np.unpackbits(differ, bitorder="little")).tolist()


class Twin:
    """What a die's store must do: plain Python, and the model's twin."""

    def __init__(self, model: ErrorModel):
        self.model = model
        self.erases, self.reads, self.senses, self.held, self.programmed = {}, {}, {}, {}, {}
        self.stuck: set[tuple[int, int]] = set()
        self.now = 0.0
        self.level = 0

    def place(self, plane: int, block: int, page: int) -> PagePlace:
        return PagePlace(CHANNEL, DIE, plane, block, page, self.erases.get((plane, block), 0))

    def program(self, plane: int, block: int, page: int, content: bytes) -> int:
        place = self.place(plane, block, page)
        if program_hangs(self.model, place):
            self.held[plane, block, page] = cut_program(self.model.seed, place, content, 0.0)
            self.programmed[plane, block, page] = self.now
            return HANGS
        failed = (plane, block) in self.stuck or program_fails(self.model, place)
        self.held[plane, block, page] = torn(self.model, place, content) if failed else content
        self.programmed[plane, block, page] = self.now
        return failed

    def erase(self, plane: int, block: int, pages: range) -> int:
        if erase_hangs(self.model, self.place(plane, block, 0)):
            for page in pages:
                at, place = (plane, block, page), self.place(plane, block, page)
                if at in self.held:
                    self.held[at] = cut_erase(self.model.seed, place, self.held[at], 0.0)
            self.erases[plane, block] = self.erases.get((plane, block), 0) + 1
            self.reads[plane, block] = 0
            return HANGS
        failed = erase_fails(self.model, self.place(plane, block, 0))
        (self.stuck.add if failed else self.stuck.discard)((plane, block))
        self.erases[plane, block] = self.erases.get((plane, block), 0) + 1
        self.reads[plane, block] = 0
        for page in pages:
            for known in (self.held, self.senses, self.programmed):
                known.pop((plane, block, page), None)
        return failed

    def sense_hangs(self, plane: int, block: int, page: int) -> bool:
        """Whether the next one does."""
        at = plane, block, page
        return sense_hangs(self.model, self.place(*at), self.senses.get(at, 0))

    def sense(self, plane: int, block: int, page: int) -> bytes:
        at = plane, block, page
        days = (self.now - self.programmed.get(at, self.now)) / 86_400
        reads = self.reads.get((plane, block), 0)
        erases = self.erases.get((plane, block), 0)
        rate = self.model.bit_error_rate(erases, days, reads, self.level)
        flips = wrong_bits(self.model, self.place(*at), BITS, self.senses.get(at, 0), rate)
        held = np.frombuffer(self.held.get(at, ERASED), np.uint8)
        found = np.unpackbits(held, bitorder="little")
        found[flips] ^= 1
        self.reads[plane, block] = reads + 1
        self.senses[at] = self.senses.get(at, 0) + 1
        return np.packbits(found, bitorder="little").tobytes()


def test_random_operations_against_the_twin(library, die, seed):
    """Programs, senses, erases, ages and read levels: the same bytes, the same failures, the same that hang.

    A die that hangs is reset and mended.
    """
    rng = np.random.default_rng(seed)
    twin = Twin(EVERYTHING)
    set_errors(library, EVERYTHING)
    happened = dict.fromkeys(
        ("wrong", "programs", "erases", "hung senses", "hung programs", "hung erases"), 0
    )

    def check(what: str, verdict: int, op: int, *at: int) -> None:
        happened[f"hung {what}"] += verdict == HANGS
        if verdict == HANGS:
            others = ((kind, *rng.integers((2, 3, 4))) for kind in (SENSE, PROGRAM, ERASE, SUSPENDED_READ))
            assert all(die.fails(*map(int, other)) == HANGS for other in others)
            if op in (PROGRAM, ERASE):
                die.cut(op, *at, passed=0, takes=1000)
            library.flashtrain_array_clear_faults()
        elif verdict:
            happened[what] += 1

    pages = range(4)
    for _ in range(3000):
        plane, block, page = (int(rng.integers(n)) for n in (2, 3, len(pages)))
        match rng.choice(["sense", "program", "erase", "time", "level"], p=[0.6, 0.25, 0.09, 0.03, 0.03]):
            case "sense":
                op, hangs = int(rng.choice([SENSE, SUSPENDED_READ])), twin.sense_hangs(plane, block, page)
                if op == SUSPENDED_READ:
                    verdict = die.fails(SUSPENDED_READ, plane, block, page)
                    check("senses", verdict, op)
                    assert (verdict == HANGS) == hangs
                    if hangs:
                        continue
                found = die.read_page(plane, block, page)
                assert found == twin.sense(plane, block, page)
                if op == SENSE:
                    verdict = die.fails(SENSE, plane, block, page)
                    check("senses", verdict, op)
                    assert (verdict == HANGS) == hangs
                happened["wrong"] += found != twin.held.get((plane, block, page), ERASED)
            case "program":
                content = rng.bytes(PAGE_BYTES)
                verdict = twin.program(plane, block, page, content)
                assert die.write_page(plane, block, page, content) == verdict
                check("programs", verdict, PROGRAM, plane, block, page)
                assert die.held(plane, block, page) == twin.held[plane, block, page]
            case "erase":
                verdict = twin.erase(plane, block, pages)
                assert die.erase(plane, block) == verdict
                check("erases", verdict, ERASE, plane, block, 0)
            case "time":
                seconds = float(rng.exponential(5 * 86_400))
                library.flashtrain_array_pass_time(seconds)
                twin.now += seconds
            case "level":
                behind, die.level = int(rng.integers(-3, 4)), int(rng.integers(4))
                library.flashtrain_array_set_level(CHANNEL, DIE, behind)
                twin.level = behind + die.level
    print(happened)
    assert all(count >= 10 for count in happened.values())


def test_nothing_fails_without_a_model_or_with_an_empty_one(library, die):
    content = bytes(range(256)) * 2 + bytes(PAGE_BYTES - 512)
    for model in (None, ErrorModel(), None):
        set_errors(library, model)
        for page in range(50):
            assert not die.write_page(0, 1, page, content)
            assert die.read_page(0, 1, page) == content
        assert not die.erase(0, 1)
    assert library.flashtrain_array_flipped(CHANNEL, DIE) == 0


def test_a_sense_changes_nothing_and_says_what_it_got_wrong(library, die):
    set_errors(library, even(0.01), keep=True)
    content = b"\x5a" * PAGE_BYTES
    die.write_page(1, 2, 3, content)
    expected = []
    for sense in range(5):
        for page, right in ((3, content), (4, ERASED)):  # an erased page, too
            bits = wrong(die.read_page(1, 2, page), right)
            assert bits
            expected += [(CHANNEL, DIE, 1, 2, page, sense, bit) for bit in bits]
    assert die.held(1, 2, 3) == content
    assert taken_flips(library).tolist() == expected
    assert taken_flips(library).size == 0
    assert library.flashtrain_array_flipped(CHANNEL, DIE) == len(expected)


@pytest.mark.parametrize("rate", [1e-4, 2e-3, 0.1])
def test_rate(library, rate):
    """Within six standard deviations of what the model says, and as spread as independent bits are."""
    words = 130
    bits, pages = 8 * 32 * words, 600
    die = StoredDie(library, 9, 0, words)
    set_errors(library, even(rate))
    counts = np.array([len(wrong(die.read_page(0, page, 0), b"\xff" * (bits // 8))) for page in range(pages)])
    expected = rate * bits
    assert abs(counts.mean() - expected) < 6 * np.sqrt(expected * (1 - rate) / pages)
    variance = expected * (1 - rate)
    assert abs(counts.var() / variance - 1) < 6 * np.sqrt((2 + 1 / variance) / pages)
    set_errors(library, None)
    library.flashtrain_array_forget()


def test_any_bit_may_be_wrong(library, die):
    """Each quarter of a page gets its share, and each bit of a byte."""
    set_errors(library, even(0.02))
    found = np.concatenate([
        wrong(die.read_page(0, block, 0), ERASED) for block in range(400)
    ]).astype(int)  # fmt: skip
    for parts, of in ((4, found // (BITS // 4)), (8, found % 8)):
        counts = np.bincount(of, minlength=parts)
        expected = found.size / parts
        assert np.abs(counts - expected).max() < 6 * np.sqrt(expected), counts


def test_the_same_cells_fail_again(library, die):
    """But for the transient share; and with age they are more, not others."""
    model = ErrorModel(retention=Ageing(0.02, wear_exponent=0, exponent=0.5), transient=0.1)
    set_errors(library, model)
    right = bytes(PAGE_BYTES)
    die.write_page(0, 0, 0, right)
    seen: list[set[int]] = []
    for days in (0.25, 0, 0, 3.75, 96):
        library.flashtrain_array_pass_time(86_400 * days)
        seen.append(set(wrong(die.read_page(0, 0, 0), right)))
    cells = seen[0] & seen[1] & seen[2]
    assert all(0.75 < len(cells) / len(seen[sense]) for sense in (0, 1, 2))
    assert len(seen[0] | seen[1] | seen[2]) > len(cells)
    assert cells <= seen[3]
    assert len(seen[0]) < len(seen[3]) < len(seen[4])
    assert len(seen[3] & seen[4]) > 0.8 * len(seen[3])

    die.erase(0, 0)
    die.write_page(0, 0, 0, right)
    library.flashtrain_array_pass_time(86_400 * 4)
    again = set(wrong(die.read_page(0, 0, 0), right))
    assert len(again & seen[3]) < len(seen[3]) / 2


class Zeros:
    """A block of zeros on both planes, and its errors against what the model says."""

    PAGES = 100

    def __init__(self, die: StoredDie, model: ErrorModel):
        self.die = die
        set_errors(die.library, model)
        self.counts: list[int] = []
        self.program()

    def program(self) -> None:
        for plane in range(2):
            for page in range(self.PAGES):
                self.die.write_page(plane, 0, page, bytes(PAGE_BYTES))

    def look(self, rate: float) -> None:
        count = sum(
            len(wrong(self.die.read_page(plane, 0, page), bytes(PAGE_BYTES)))
            for plane in range(2)
            for page in range(self.PAGES)
        )
        expected = rate * BITS * 2 * self.PAGES
        assert abs(count - expected) < 6 * np.sqrt(expected), (count, expected)
        self.counts.append(count)

    def has_grown(self) -> bool:
        return self.counts == sorted(self.counts) and self.counts[-1] > 2 * self.counts[0]


def test_growth_with_wear(die):
    model = ErrorModel(wear=Wear(1e-3, 2.0), rated_cycles=10)
    zeros = Zeros(die, model)
    for erases in (10, 20, 30):
        for _ in range(10):
            die.erase(0, 0)
            die.erase(1, 0)
        zeros.program()
        zeros.look(model.bit_error_rate(erases=erases))
    assert zeros.has_grown()


def test_growth_with_age(library, die):
    model = ErrorModel(retention=Ageing(1e-3, 10, 0.0, 0.5))
    zeros = Zeros(die, model)
    for days, age in ((10, 10), (30, 40), (90, 130)):
        library.flashtrain_array_pass_time(86_400 * days)
        zeros.look(model.bit_error_rate(days=age))
    assert zeros.has_grown()


def test_growth_with_reads(die):
    model = ErrorModel(disturb=Ageing(1e-3, 500, 0.0, 1.0))
    zeros = Zeros(die, model)
    for reads in range(0, 400, zeros.PAGES):
        zeros.look(float(np.mean([model.bit_error_rate(reads=reads + i) for i in range(zeros.PAGES)])))
    assert zeros.has_grown()


def test_an_old_page_has_fewer_errors_at_a_lower_level(library, die):
    model = ErrorModel(fresh=1e-4, retention=Ageing(6e-3, 1, 0.0, 1.0))
    zeros = Zeros(die, model)
    library.flashtrain_array_pass_time(86_400)
    for level in (3, 2, 1, 0, -1):
        library.flashtrain_array_set_level(CHANNEL, DIE, level)
        zeros.look(model.bit_error_rate(days=1, level=level))
    assert zeros.has_grown()
    rates = [model.bit_error_rate(days=1, level=level) for level in range(8)]
    assert 2 <= int(np.argmin(rates)) <= 4, "the best level is none of the ends"


def test_a_seed_is_replayed_and_another_is_not(library, die):
    def run(seed: int, backwards: bool) -> dict[tuple[int, int, int], bytes]:
        library.flashtrain_array_forget()
        fresh = StoredDie(library, CHANNEL, DIE)
        set_errors(library, even(5e-3, seed))
        places = [(plane, block, page) for plane in range(2) for block in range(3) for page in range(3)]
        return {place: fresh.read_page(*place) for place in (reversed(places) if backwards else places)}

    first = run(1, backwards=False)
    assert run(1, backwards=True) == first
    other = run(2, backwards=False)
    assert all(other[place] != first[place] for place in first)
    assert len(set(first.values())) == len(first)


def test_failing_programs_and_erases(library, die):
    """As often as the model says. A torn page lacks zeros, and nothing else."""
    model = ErrorModel(program_failure=Wear(0.1, 1.0), erase_failure=Wear(0.2, 1.0), rated_cycles=1)
    set_errors(library, model)
    content = b"\xf0" * PAGE_BYTES
    assert not any(die.write_page(0, block, 0, content) for block in range(200))
    assert not any(die.erase(0, block) for block in range(1000))
    stuck = {block for block in range(1000) if die.erase(0, block)}
    assert abs(len(stuck) - 200) < 6 * np.sqrt(160)
    failed = {block for block in range(1000) if die.write_page(0, block, 0, content)}
    assert stuck <= failed
    assert abs(len(failed - stuck) - 0.2 * 800) < 6 * np.sqrt(0.16 * 800)
    for block in failed:
        held = np.frombuffer(die.held(0, block, 0), np.uint8)
        assert (held & 0xF0 == 0xF0).all()
        assert 0 < np.count_nonzero(held == 0xF0) < PAGE_BYTES
    assert all(die.held(0, block, 0) == content for block in set(range(1000)) - failed)
    assert die.fails(PROGRAM, 0, min(stuck), 7)

    set_errors(library, None)
    assert not die.fails(PROGRAM, 0, min(stuck), 8)


def test_operations_that_hang(library, die):
    """As often as the model says; the die from then on, until it is mended, and no other."""
    model = ErrorModel(hang=Wear(0.1, exponent=1.0), rated_cycles=4, cycles_before=2)
    set_errors(library, model)
    other = StoredDie(library, CHANNEL, DIE + 1)
    places, hung = 1000, {op: 0 for op in (SENSE, PROGRAM, ERASE, SUSPENDED_READ)}
    for op in hung:
        for block in range(places):
            if op == SENSE:
                die.read_page(1, block, 0)
            if die.fails(op, 1, block) == HANGS:
                hung[op] += 1
                assert die.fails(PROGRAM, 0, 0, 3) == HANGS
                library.flashtrain_array_clear_faults()
    expected = 0.05 * places
    assert all(abs(count - expected) < 6 * np.sqrt(expected) for count in hung.values()), hung
    die_hangs = next(
        block for block in range(places) if program_hangs(model, PagePlace(CHANNEL, DIE, 1, block))
    )
    assert die.fails(PROGRAM, 1, die_hangs) == HANGS
    set_errors(library, None)
    assert [die.fails(op, 0, 5) for op in hung] == [HANGS] * 4
    assert [other.fails(op, 0, 5) for op in hung] == [0] * 4
    library.flashtrain_array_clear_faults()
    assert [die.fails(op, 0, 5) for op in hung] == [0] * 4
