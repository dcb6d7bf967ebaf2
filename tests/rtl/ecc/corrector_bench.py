"""A corrector that serves several streams of pages: they take turns, and words of each keep their order."""

import random

import cocotb

from flashtrain.numerics.page_codec import PageCodec
from flashtrain.rtl.ecc.layouts import Correction, Syndromes, Verdict
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, start, unpack
from tests.rtl.ecc.ecc_helpers import code_of_bench, damage, random_page, syndromes_item

CODE = code_of_bench()
CODEC = PageCodec(CODE)
SOURCES, PARALLEL = bench_parameters()["sources"], bench_parameters()["parallel"]

WORDS = 16
"""Of each stream."""


@cocotb.test()
@cocotb.parametrize(busy=[1, 0.3])
async def words_of_several_streams(dut, busy):
    sources = [StreamSource(dut, f"inputs__{number}", busy) for number in range(SOURCES)]
    corrections, verdicts = StreamSink(dut, "corrections", busy), StreamSink(dut, "verdicts", busy)
    await start(dut)
    expected = [[] for _ in sources]
    for number, source in enumerate(sources):
        for _ in range(WORDS):
            page, word = random_page(CODEC), random.randrange(CODE.words)
            damage(page, CODE, word, random.choice([0, 1, CODE.strength, CODE.strength + 1]))
            errors = CODEC.errors(page, word)
            expected[number].append((word, None if errors is None else errors.tolist()))
            source.send(syndromes_item(Syndromes(CODE), CODEC, page, word))
    got = [unpack(Verdict(CODE, SOURCES), item) for item in await verdicts.wait_for(WORDS * SOURCES)]
    fixed = [unpack(Correction(CODE, PARALLEL, SOURCES), item) for item in corrections.items]
    for number, words in enumerate(expected):
        ours = [one for one in got if one["source"] == number]
        assert [(one["word"], one["failed"]) for one in ours] == [
            (word, int(errors is None)) for word, errors in words
        ]
        assert [one["corrected"] for one in ours if not one["failed"]] == [
            len(errors) for _, errors in words if errors is not None
        ]
        wrong = sum(
            error < CODE.word_bits(word) - 8 * CODE.parity_bytes
            for word, errors in words
            for error in errors or ()
        )
        assert sum(one["mask"].bit_count() for one in fixed if one["source"] == number) == wrong
    # They take turns: while all have words waiting, none is ahead by more than one.
    order = [one["source"] for one in got]
    if busy == 1:
        shares = [order[: WORDS // 2 * SOURCES].count(number) for number in range(SOURCES)]
        assert max(shares) - min(shares) <= 1
