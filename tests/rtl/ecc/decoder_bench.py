"""Pages with errors come out as the codec in NumPy corrects them, and clean ones cost nothing."""

import random
from itertools import combinations

import cocotb
import numpy as np

from flashtrain.numerics.page_codec import PageCodec
from flashtrain.rtl.ecc.layouts import Correction, Verdict
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, start, unpack
from flashtrain.spec.ecc import RAW_BIT_ERROR_RATE
from tests.rtl.ecc.ecc_helpers import beats, code_of_bench, damage, flip, random_page

CODE = code_of_bench()
WIDTH, PARALLEL = bench_parameters()["width"], bench_parameters()["parallel"]
CODEC = PageCodec(CODE)


class Decoder:
    """The streams of the unit, and what has come out of them."""

    def __init__(self, dut, busy_in: float = 1, busy_out: float = 1):
        self.source = StreamSource(dut, "input", busy_in)
        self.corrections = StreamSink(dut, "corrections", busy_out)
        self.verdicts = StreamSink(dut, "verdicts", busy_out)

    async def check(self, pages: list[np.ndarray]) -> None:
        """Decode the pages, one after the other."""
        self.source.send(*(beat for page in pages for beat in beats(page, WIDTH)))
        before = len(self.verdicts.items)
        await self.verdicts.wait_for(before + len(pages) * CODE.words)
        corrections = [unpack(Correction(CODE, PARALLEL), item) for item in self.corrections.items]
        verdicts = [unpack(Verdict(CODE), item) for item in self.verdicts.items]
        number = before
        for page in pages:
            changed, expected = page.copy(), page.copy()
            for word, verdict in enumerate(CODEC.decode(expected)):
                begin = self.verdicts.cycles[number - 1] if number else -1
                bits = 0
                for clock, correction in zip(self.corrections.cycles, corrections, strict=True):
                    if begin <= clock < self.verdicts.cycles[number]:
                        bits += correction["mask"].bit_count()
                        self._apply(changed, word, correction)
                got = verdicts[number]
                assert got["word"] == word
                if verdict.corrected is None:
                    assert (got["failed"], bits) == (1, 0)
                else:
                    assert (got["failed"], got["corrected"]) == (0, verdict.corrected)
                    assert bits <= verdict.corrected
                number += 1
            assert (changed[: CODE.data_bytes] == expected[: CODE.data_bytes]).all()

    @staticmethod
    def _apply(page: np.ndarray, word: int, correction: dict[str, int]) -> None:
        for bit in range(PARALLEL):
            if correction["mask"] >> bit & 1:
                place = correction["position"] * PARALLEL + bit
                assert CODE.data(word).start <= place // 8 < CODE.data(word).stop
                page[place // 8] ^= np.uint8(1 << place % 8)


def damaged(counts: list[int]) -> np.ndarray:
    """A page with so many wrong bits in its code words."""
    page = random_page(CODEC)
    for word, count in enumerate(counts):
        damage(page, CODE, word, count)
    return page


@cocotb.test()
@cocotb.parametrize(busy_in=[1, 0.5], busy_out=[1, 0.2])
async def pages_with_errors(dut, busy_in, busy_out):
    """Clean words, up to as many errors as can be corrected, and more."""
    decoder = Decoder(dut, busy_in, busy_out)
    await start(dut)
    some = [0, 0, 1, 2, CODE.strength - 1, CODE.strength, CODE.strength + 1, 4 * CODE.strength]
    pages = [damaged(random.choices(some, k=CODE.words)) for _ in range(bench_parameters()["pages"])]
    await decoder.check([random_page(CODEC), *pages, damaged([CODE.strength] * CODE.words)])


@cocotb.test()
async def erased_pages(dut):
    decoder = Decoder(dut)
    await start(dut)
    erased = np.full(CODE.page_bytes, 0xFF, np.uint8)
    with_zeros = erased.copy()
    for word in range(CODE.words):
        damage(with_zeros, CODE, word, CODE.strength)
    await decoder.check([erased, with_zeros, erased])


@cocotb.test()
async def first_and_last_bits(dut):
    """Errors at the ends of data and parity of each word."""
    decoder = Decoder(dut)
    await start(dut)
    pages = []
    for word in range(CODE.words):
        bits, data = CODE.word_bits(word), CODE.word_bits(word) - 8 * CODE.parity_bytes
        for wrong in ([0], [data - 1], [data], [bits - 1], [0, bits - 1], [data - 1, data]):
            pages.append(random_page(CODEC))
            flip(pages[-1], CODE, word, wrong)
    await decoder.check(random.sample(pages, min(len(pages), 5)))


@cocotb.test()
async def clean_pages_cost_nothing(dut):
    """A beat per clock, page after page, and verdicts soon after each word's parity."""
    decoder = Decoder(dut)
    await start(dut)
    await decoder.check([random_page(CODEC)] * 4)
    page, parity = 8 * CODE.page_bytes // WIDTH, 8 * CODE.parity_bytes // WIDTH
    cycles = decoder.verdicts.cycles
    assert cycles[-1] - cycles[CODE.words - 1] == 3 * page
    if parity > 4:
        assert cycles[CODE.words - 1] - cycles[0] == (CODE.words - 1) * parity


@cocotb.test()
async def how_long_one_error_takes(dut):
    """An error in the first bit is found last."""
    decoder = Decoder(dut)
    await start(dut)
    page = random_page(CODEC)
    flip(page, CODE, CODE.words - 1, [0])
    await decoder.check([page])
    clean = random_page(CODEC)
    cycles = decoder.verdicts.cycles[-1]
    await decoder.check([clean])
    solving = 3 * CODE.strength + 1 + 6 + 4 * (CODE.strength - 1)
    searching = CODE.word_bits(CODE.words - 1) // PARALLEL
    sent = 8 * CODE.page_bytes // WIDTH
    dut._log.info(f"verdict {cycles - sent} cycles after the page; solver {solving}, groups {searching}")
    assert 0 < cycles - sent - solving - searching < 20


@cocotb.test(skip=not bench_parameters()["bus_rate"])
async def keeps_up_with_the_errors_it_is_made_for(dut):
    """At the raw bit error rate that the strength follows from, half of all words have errors."""
    decoder = Decoder(dut)
    await start(dut)
    random_bits = np.random.default_rng(cocotb.RANDOM_SEED)
    pages = []
    for _ in range(bench_parameters()["bus_rate"]):
        lengths = [CODE.word_bits(word) for word in range(CODE.words)]
        pages.append(damaged(random_bits.binomial(lengths, RAW_BIT_ERROR_RATE).tolist()))
    await decoder.check([random_page(CODEC), *pages, random_page(CODEC)])
    verdicts = [unpack(Verdict(CODE), item) for item in decoder.verdicts.items]
    dirty = sum(verdict["corrected"] > 0 for verdict in verdicts)
    # The last page is clean, so its verdicts come soon unless something has had to wait.
    beats_of_page = 8 * CODE.page_bytes // WIDTH
    late = (
        decoder.verdicts.cycles[-1]
        - decoder.verdicts.cycles[CODE.words - 1]
        - (len(pages) + 1) * beats_of_page
    )
    dut._log.info(
        f"{dirty} of {4 * len(pages)} words with errors; {late} cycles late after {len(pages)} pages"
    )
    assert late <= 0.01 * len(pages) * beats_of_page


@cocotb.test(skip=not bench_parameters()["exhaustive"])
async def every_single_and_double_error(dut):
    """Each of them once, in one code word of a page or the other; both have the same length."""
    decoder = Decoder(dut)
    await start(dut)
    page = random_page(CODEC)
    bits = range(CODE.word_bits(0))
    wrong = [*combinations(bits, 1), *combinations(bits, 2)]
    random.shuffle(wrong)
    pairs = list(zip(wrong[::2], wrong[1::2], strict=True))
    for pair in pairs:
        read = page.copy()
        for word, one in enumerate(pair):
            flip(read, CODE, word, one)
        decoder.source.send(*beats(read, WIDTH))
    items = await decoder.verdicts.wait_for(len(wrong), cycles=2_000_000)
    got = [unpack(Verdict(CODE), item) for item in items]
    assert not any(verdict["failed"] for verdict in got)
    assert [verdict["corrected"] for verdict in got] == [len(one) for pair in pairs for one in pair]
    # Corrections come in the order of words, and in a word from its end; those of parity do not come.
    found = []
    for item in decoder.corrections.items:
        correction = unpack(Correction(CODE, PARALLEL), item)
        mask, begin = correction["mask"], correction["position"] * PARALLEL
        found += [begin + bit for bit in reversed(range(PARALLEL)) if mask >> bit & 1]
    data = CODE.data(0).stop * 8
    assert found == [
        word * data + bit
        for pair in pairs
        for word, one in enumerate(pair)
        for bit in reversed(one)
        if bit < data
    ]
