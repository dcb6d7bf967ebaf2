"""The window code in NumPy: every bit pattern, every mode, every page; and pages that are none."""

import numpy as np
import pytest
import torch

from flashtrain.numerics.codec import (
    PageRefused,
    PagesIncomplete,
    decode,
    decode_page,
    encode,
    page_figures,
)
from flashtrain.numerics.codec.elements import elements_of, rounded, user_data
from flashtrain.numerics.codec.page import fill_page, page_elements
from flashtrain.numerics.codec.samples import choices_of
from flashtrain.numerics.errors import OperandError
from flashtrain.spec.codec import (
    BLOCK,
    DELAY,
    DISTANCES,
    FIRST_CHOICE,
    PAGE_SIZES,
    SAMPLED,
    Choice,
    Counters,
    Header,
    Mode,
    Refusal,
    Tracker,
    bound,
    element_bytes,
    fits,
    least_slices,
    slice_elements,
)
from flashtrain.spec.streams import Codec
from tests.numerics.codec_helpers import (
    decoded_slowly,
    for_each_mode,
    like_activations,
    stored_words,
    with_check,
)

LOSSLESS = (Codec.WINDOW16, Codec.WINDOW32)


@pytest.fixture
def random(seed):
    return np.random.default_rng(seed)


def headers_of(pages, codec, user_bytes):
    decoded = (decode_page(page, codec, user_bytes // 32) for page in pages)
    return [each[0] for each in decoded if not isinstance(each, Refusal)]


@pytest.mark.parametrize("page_bytes", PAGE_SIZES)
def test_every_bf16_pattern(page_bytes, random):
    """In order, in random order, and by the slow decoder."""
    patterns = np.arange(1 << 16, dtype="<u2")
    for words in (patterns, random.permutation(patterns)):
        data = words.tobytes()
        pages = encode(data, Codec.WINDOW16, page_bytes)
        assert decode(random.permutation(pages), Codec.WINDOW16, len(data)) == data
        assert [word for page in pages for word in decoded_slowly(page.tobytes())[2]] == words.tolist()


@pytest.mark.parametrize("codec", LOSSLESS)
@pytest.mark.parametrize("mode", Mode)
def test_every_mode_and_base(codec, mode, random):
    """Elements around the window, exponents that wrap around it, zeros of both signs, infinities, NaN."""
    width, bits = slice_elements(codec), 8 * element_bytes(codec)
    special = np.array([0, 1 << bits - 1, 0x7F80 << bits - 16, 0x7FC1 << bits - 16, 1, (1 << bits) - 1])
    for base in range(256):
        exponents = (base + random.integers(-8, 3, 8 * width)) % 256
        noise = random.integers(0, 1 << bits, exponents.size, dtype=np.uint64)
        noise &= np.uint64((1 << bits) - 1 ^ 0xFF << bits - 9)
        words = noise | exponents.astype(np.uint64) << np.uint64(bits - 9)
        words[random.integers(0, words.size, 6)] = special
        elements = elements_of(words.astype(f"<u{bits // 8}").tobytes(), codec)
        header = Header(codec, Choice(mode, base), 8, first=0, last=True, total=8)
        page = np.zeros(512, np.uint8)
        fill_page(page, header, elements)
        assert decoded_slowly(page.tobytes()) == (mode, 8, words.tolist())
        back = page_elements(page, header)
        assert not isinstance(back, Refusal) and (back == elements).all()


def test_a_page_has_these_bytes():
    """A slice of FP32: +0.0, 1.5, -2.0, 2**-9, -0.0, 3.0, +0.0, 2**60, with 4 to 2**-3 in the window."""
    data = np.array([0, 1.5, -2, 2**-9, -0.0, 3, 0, 2**60], "<f4").tobytes()
    page = np.zeros(512, np.uint8)
    fill_page(
        page,
        Header(Codec.WINDOW32, Choice(Mode.WINDOW, 129), 1, 0, True, 1),
        elements_of(data, Codec.WINDOW32),
    )
    # Classes 0, 3, 2, 7, 7, 2, 0, 7: their low, middle and high bits, element 0 in bit 0.
    assert page[16:19].tolist() == [0b10011010, 0b10111110, 0b10011000]
    payload = "00 00 40  00 00 80  00 00 00 76  00 00 80 00  00 00 40  00 00 00 bb"
    assert page[:-4][::-1][:21].tobytes() == bytes.fromhex(payload)
    assert not page[19:-25].any()
    assert (with_check(page.copy()) == page).all()


@pytest.mark.parametrize("page_bytes", PAGE_SIZES)
@pytest.mark.parametrize("codec", LOSSLESS)
def test_random_appends(codec, page_bytes, random):
    """They come back from pages in any order. Pages are full, within the bound, and of all modes."""
    width, modes = slice_elements(codec), set()
    appends = [for_each_mode(random, max(4000, page_bytes) * width, codec)]
    for length in (1, 2, BLOCK, BLOCK + DELAY, *random.integers(1, 2000, 8)):
        appends.append(like_activations(random, int(length) * width, codec))
    for data in appends:
        pages = encode(data, codec, page_bytes)
        assert decode(random.permutation(pages), codec, len(data)) == data
        assert len(pages) <= bound(-(-len(data) // page_bytes), codec, page_bytes)
        modes.update(check_pages(pages, codec, data))
        last = decoded_slowly(pages[-1].tobytes())[2]
        assert last == stored_words(data, codec)[-len(last) :]
    assert modes == set(Mode)


def check_pages(pages, codec, data):
    """Pages follow each other, have what their figures say, and take no further slice; their modes."""
    headers = headers_of(pages, codec, len(data))
    assert len(headers) == len(pages) and headers[-1].last
    elements = elements_of(data, codec)
    for page, header, following in zip(pages, headers, [*headers[1:], None], strict=True):
        figures = page_figures(page, header)
        assert figures.planes + figures.payload + figures.unused + 20 == page.size and figures.unused >= 0
        assert sum(figures.classes) == header.slices * slice_elements(codec)
        if following is not None:
            assert following.first == header.first + header.slices
            start = following.first * slice_elements(codec)
            more = np.zeros(512, np.uint8)
            one = Header(codec, header.choice, 1, 0)
            fill_page(more, one, elements[start : start + slice_elements(codec)])
            payload = figures.payload + page_figures(more, one).payload
            assert not fits(page.size, codec, header.choice.mode, header.slices + 1, payload)
    return {header.choice.mode for header in headers}


@pytest.mark.parametrize("codec", LOSSLESS)
def test_choices_are_those_of_the_contract(codec, random):
    """The fast rule of this package, and `Tracker` block by block."""
    changes = 0
    for _ in range(12):
        data = like_activations(random, 700 * slice_elements(codec), codec)
        elements = elements_of(data, codec).reshape(-1, slice_elements(codec))
        exponents, zeros = (elements >> (8 * element_bytes(codec) - 8)).astype(np.uint8), elements == 0
        tracker, recent, expected = Tracker(codec), 0, [FIRST_CHOICE]
        for block in range(len(elements) // BLOCK):
            slices = [block * BLOCK + place for place in SAMPLED]
            counted = exponents[slices][~zeros[slices]].astype(int)
            recent = int(counted[-1]) if counted.size else recent
            distances = (tracker.choice.base - counted + 1) % 256 - 1
            at = tuple(int((distances == distance).sum()) for distance in DISTANCES)
            tracker = tracker.after(Counters(int(zeros[slices].sum()), at), recent)
            expected.append(tracker.choice)
        assert choices_of(exponents, zeros, codec) == expected
        changes += len(set(expected))
    assert changes > 24


@pytest.mark.parametrize("page_bytes", PAGE_SIZES)
@pytest.mark.parametrize("codec", LOSSLESS)
def test_pages_have_the_choice_of_the_slices_before(codec, page_bytes, random):
    data = like_activations(random, 2000 * slice_elements(codec), codec)
    elements = elements_of(data, codec).reshape(-1, slice_elements(codec))
    exponents = (elements >> (8 * element_bytes(codec) - 8)).astype(np.uint8)
    choices = choices_of(exponents, elements == 0, codec)
    for header in headers_of(encode(data, codec, page_bytes), codec, len(data)):
        chosen = choices[(header.first - DELAY) // BLOCK if header.first >= DELAY else 0]
        assert header.choice in (chosen, Choice(Mode.RAW, chosen.base))


@pytest.mark.parametrize("codec", LOSSLESS)
def test_uniform_bits_expand_by_less_than_a_percent(codec, random):
    for page_bytes in (4096, 16384):
        data = random.bytes(512 * page_bytes)
        assert len(encode(data, codec, page_bytes)) <= 1.01 * 512


@pytest.mark.parametrize("page_bytes", PAGE_SIZES)
@pytest.mark.parametrize("codec", LOSSLESS)
def test_data_that_mislead_every_page(codec, page_bytes, random):
    """Each page's choice suits the one before and not itself; the budget keeps the bound."""
    width, whole = slice_elements(codec), page_bytes // 32
    exponents = np.repeat(random.permutation(np.arange(0, 250, 9)), 2 * whole)[: 40 * whole]
    words = np.repeat(exponents, width).astype(np.uint64) << np.uint64(8 * element_bytes(codec) - 9)
    data = (words | np.uint64(1)).astype(f"<u{element_bytes(codec)}").tobytes()
    pages = encode(data, codec, page_bytes)
    headers = headers_of(pages, codec, len(data))
    bad = [h for h in headers if h.slices < least_slices(page_bytes, codec, Mode.RAW) and not h.last]
    assert bad
    assert len(pages) <= bound(-(-len(data) // page_bytes), codec, page_bytes)
    assert decode(pages, codec, len(data)) == data


def test_rounding_is_that_of_torch(random):
    """Random bits, ties, the largest numbers, and NaN, which stays one, of its sign, and becomes quiet."""
    ties = (np.arange(1 << 16, dtype=np.uint32) << np.uint32(16)) + np.uint32(0x8000)
    words = np.concatenate([random.integers(0, 1 << 32, 200_000).astype(np.uint32), ties, ties - 1, ties + 1])
    values = words.view(np.float32)
    ours = rounded(words)
    theirs = torch.from_numpy(values.copy()).to(torch.bfloat16).view(torch.int16).numpy().view(np.uint16)
    nan = np.isnan(values)
    assert nan.sum() > 100 and (ours[~nan] == theirs[~nan]).all()
    assert (ours[nan] & 0x7FC0 == 0x7FC0).all() and (ours[nan] >> 15 == words[nan] >> 31).all()


def test_rounded_streams_give_fp32(random):
    values = random.standard_normal(4096).astype("<f4")
    values[:4] = np.nan, -np.inf, 0.0, -0.0
    pages = encode(values.tobytes(), Codec.ROUND16, 4096)
    back = np.frombuffer(decode(pages, Codec.ROUND16, values.nbytes), "<u4")
    assert not (back & 0xFFFF).any() and (back >> 16 == rounded(values.view("<u4"))).all()
    words = (rounded(values.view("<u4"))).tobytes()
    plain = encode(words, Codec.WINDOW16, 4096)
    assert (pages[:, 16:-4] == plain[:, 16:-4]).all(), "behind the header as WINDOW16 stores it"


@pytest.mark.parametrize("codec", (*LOSSLESS, Codec.ROUND16))
def test_random_pages_decode_or_are_refused(codec, random):
    """Random bytes have no header. With one, they decode to its slices, or planes and payload overlap."""
    refusals, decoded = [], 0
    for _ in range(300):
        page = random.integers(0, 256, 512, np.uint8)
        assert isinstance(decode_page(page, codec, 1 << 20), Refusal)
        slices = int(
            random.choice([random.integers(1, 16), random.integers(1, 250), random.integers(1, 65536)])
        )
        header = Header(
            codec, Choice(Mode(int(random.integers(4))), int(random.integers(256))), slices, 0, True, slices
        )
        page[:16] = np.frombuffer(header.pack(), np.uint8)
        assert decode_page(page, codec, slices) is Refusal.CHECK
        result = decode_page(with_check(page), codec, slices)
        if isinstance(result, Refusal):
            refusals.append(result)
        else:
            decoded += 1
            assert result[0] == header
            assert len(result[1]) == slices * 32 * (2 if codec is Codec.ROUND16 else 1)
    assert set(refusals) == {Refusal.OVERLAP} and decoded > 20


@pytest.mark.parametrize("whole", [184, 185])
def test_a_page_is_full_to_the_last_byte(whole, random):
    """14 slices of 6 bytes of planes; 184 whole elements and 40 in the window fill what is left."""
    words = np.full(14 * 16, 0x3F80, "<u2")
    words[random.permutation(words.size)[:whole]] = 0x0080
    large, page = np.zeros(4096, np.uint8), np.zeros(512, np.uint8)
    header = Header(Codec.WINDOW16, Choice(Mode.WINDOW, 128), 14, 0, True, 14)
    fill_page(large, header, elements_of(words.tobytes(), Codec.WINDOW16))
    page[: 16 + 84], page[16 + 84 :] = large[: 16 + 84], large[-412:]
    result = decode_page(with_check(page), Codec.WINDOW16, 14)
    assert result == (Refusal.OVERLAP if whole == 185 else (header, words.tobytes()))


def test_pages_that_are_not_of_the_append(random):
    data = random.bytes(8192)
    pages = encode(data, Codec.WINDOW16, 512)
    with pytest.raises(PagesIncomplete, match=r"a page begins with slice \d+; expected one with slice 0"):
        decode(pages[1:], Codec.WINDOW16, len(data))
    with pytest.raises(PagesIncomplete, match=r"the pages have \d+ slices; expected 256"):
        decode(pages[:-1], Codec.WINDOW16, len(data))
    with pytest.raises(PagesIncomplete, match="two pages begin with slice 0"):
        decode(pages[[0, *range(len(pages))]], Codec.WINDOW16, len(data))
    with pytest.raises(PageRefused, match="page 0 is refused: CODEC"):
        decode(pages, Codec.ROUND16, 2 * len(data))
    for place in (5, 200, 511):
        damaged = pages.copy()
        damaged[3, place] ^= 1
        with pytest.raises(PageRefused, match="page 3 is refused: CHECK") as refused:
            decode(damaged, Codec.WINDOW16, len(data))
        assert refused.value.refusal is Refusal.CHECK


def test_where_a_page_stands():
    first, middle, last = (
        Header(Codec.WINDOW16, FIRST_CHOICE, 4, first, last)
        for first, last in ((0, False), (4, False), (8, True))
    )
    for header, place in ((first, 0), (middle, 1), (last, 2)):
        assert [header.stands_at(index, 3) for index in range(3)] == [index == place for index in range(3)]
    only = Header(Codec.WINDOW16, FIRST_CHOICE, 4, 0, True)
    assert only.stands_at(0, 1) and not only.stands_at(0, 2) and not only.stands_at(1, 2)


@pytest.mark.parametrize(
    ("data", "codec", "page_bytes", "message"),
    [
        (b"", Codec.WINDOW16, 4096, "user data have 0 bytes; expected whole slices, one at least"),
        (bytes(33), Codec.WINDOW32, 4096, "data have 33 bytes"),
        (bytes(32), Codec.ROUND16, 4096, "data have 32 bytes"),
        (bytes(32), Codec.RAW, 4096, "codec is RAW; expected one of WINDOW16, WINDOW32, ROUND16"),
        (bytes(32), Codec.WINDOW16, 8192, r"page_bytes is 8192; expected one of \(512, 4096, 16384\)"),
    ],
)
def test_operands(data, codec, page_bytes, message):
    with pytest.raises(OperandError, match=message):
        encode(data, codec, page_bytes)
    if page_bytes in PAGE_SIZES:
        with pytest.raises(OperandError, match=message):
            decode([], codec, len(data))


def test_user_data_are_those_of_elements(random):
    data = random.bytes(4096)
    for codec in LOSSLESS:
        assert user_data(elements_of(data, codec), codec) == data
        assert user_data(elements_of(memoryview(np.frombuffer(data, "<f8")), codec), codec) == data
