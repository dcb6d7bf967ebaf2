"""The locators of random errors have the errors for roots, or the word is uncorrectable; and nothing takes
longer than it says."""

import random
from itertools import pairwise

import cocotb
import numpy as np

from flashtrain.numerics.page_codec import PageCodec
from flashtrain.rtl.ecc.layouts import Locator, Syndromes
from flashtrain.sim.bench.streams import StreamSink, StreamSource, start, unpack
from tests.rtl.ecc.ecc_helpers import code_of_bench, damage, random_page, syndromes_item

CODE = code_of_bench()
CODEC = PageCodec(CODE)
FIELD = CODE.field
IN, OUT = Syndromes(CODE), Locator(CODE)


def damaged(count: int) -> tuple[object, int]:
    """A page, and one of its words, in which so many bits are wrong."""
    page, word = random_page(CODEC), random.randrange(CODE.words)
    damage(page, CODE, word, count)
    return page, word


def roots(coefficients: list[int], bits: int) -> list[int]:
    """The positions in a word of `bits` bits, from the first on, at whose x^-degree the polynomial is 0."""
    degrees, powers = np.arange(bits - 1, -1, -1), np.array(FIELD.powers)
    values = np.zeros(bits, int)
    for exponent, coefficient in enumerate(coefficients):
        if coefficient:
            values ^= powers[(FIELD.logarithms[coefficient] - exponent * degrees) % FIELD.order]
    return np.flatnonzero(values == 0).tolist()


def check(page, word: int, items: list[dict[str, int]]) -> None:
    """All coefficients of a word's locator against the positions that the codec finds."""
    assert [one["last"] for one in items] == [0] * (len(items) - 1) + [1]
    assert {one["word"] for one in items} == {word}
    expected = CODEC.errors(page, word)
    first = items[0]
    if expected is not None and len(expected) == 0:
        assert (len(items), first["errors"], first["failed"]) == (1, 0, 0)
    elif first["failed"]:
        assert expected is None and len(items) == 1
    else:
        assert len(items) == CODE.strength + 1
        coefficients = [one["coefficient"] for one in items]
        assert not any(coefficients[first["errors"] + 1 :])
        found = roots(coefficients, CODE.word_bits(word))
        if expected is None:
            assert len(found) != first["errors"]
        else:
            assert found == expected.tolist()
            assert first["errors"] == len(found)


def grouped(items: list[int]) -> list[list[dict[str, int]]]:
    """The items of each word."""
    groups, group = [], []
    for one in items:
        group.append(unpack(OUT, one))
        if group[-1]["last"]:
            groups.append(group)
            group = []
    return groups


@cocotb.test()
@cocotb.parametrize(busy_in=[1, 0.2], busy_out=[1, 0.3])
async def locators(dut, busy_in, busy_out):
    source, sink = StreamSource(dut, "input", busy_in), StreamSink(dut, "output", busy_out)
    await start(dut)
    counts = [*range(CODE.strength + 1), *(CODE.strength + more for more in (1, 2, 3, 20)), 0, 1]
    words = [damaged(count) for count in counts]
    source.send(*(syndromes_item(IN, CODEC, *word) for word in words))
    groups = []
    while len(groups) < len(words):
        await sink.wait_for(len(sink.items) + 1)
        groups = grouped(sink.items)
    for word, items in zip(words, groups, strict=True):
        check(*word, items)


@cocotb.test()
async def takes_as_long_as_it_says(dut):
    source, sink = StreamSource(dut, "input"), StreamSink(dut, "output")
    await start(dut)
    for count in (0, 1, CODE.strength):
        before = len(sink.items)
        source.send(syndromes_item(IN, CODEC, *damaged(count)))
        while int(dut.input__valid.value) != 1:
            await cocotb.triggers.RisingEdge(dut.clk)
        cycles = 0
        wanted = before + (1 if count == 0 else CODE.strength + 1)
        while len(sink.items) < wanted:
            await cocotb.triggers.RisingEdge(dut.clk)
            cycles += 1
        # Iterations that find an error are the first ones, but for what errors happen to cancel.
        found = [min(iteration, count) for iteration in range(CODE.strength + 1)]
        steps = sum(now + 3 + (then + 2) * (then > now) for now, then in pairwise(found))
        expected = 1 if count == 0 else 3 * CODE.strength + 1 + steps
        dut._log.info(f"{count} errors: {cycles} cycles, {expected} by the data sheet")
        assert cycles <= expected + 1
