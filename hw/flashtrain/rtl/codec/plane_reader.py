"""Planes of a page's slices, one slice per cycle."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.lib.streams import Queue, RegisterSlice
from flashtrain.spec.codec import HEADER_BYTES
from flashtrain.spec.geometry import bits_for

from .layouts import CODEC_BITS, GROUP_BYTES, ChoiceLayout, PageShape
from .page_receiver import WORDS_BITS, DecodeJob

PLANES_BITS = 48
"""Of a slice at most."""
_WORD_BYTES = 16
_LINE_WORDS = GROUP_BYTES // _WORD_BYTES
_QUEUED_WORDS = 6


class SlicePlanes(data.StructLayout):
    """The planes of a slice, from the low bits on, and its page. Of RAW the planes have no meaning."""

    def __init__(self, buffers: int):
        super().__init__({
            "planes": PLANES_BITS, "first": 1, "last": 1, "buffer": bits_for(buffers), "codec": CODEC_BITS,
            "choice": ChoiceLayout(),
        })  # fmt: skip


class PlaneReader(wiring.Component):
    """Fetches the planes of pages in words of 16 bytes, and cuts them into those of slices.

    A window of two words is at work. The words of the next page are fetched meanwhile.

    Latency: 8 cycles from a page to its first slice. Throughput: a slice per cycle; 3 cycles are lost between
    pages.

    Members
    -------
    page : In(stream(DecodeJob))
    line : Out, buffer : Out       of the memory of lines
    line_data : In(1024)           a cycle later
    slices : Out(stream(SlicePlanes))
    """

    def __init__(self, page_bytes: int, buffers: int):
        self.shape = PageShape(page_bytes)
        self.buffers = buffers
        super().__init__({
            "page": In(stream.Signature(DecodeJob(buffers))),
            "line": Out(self.shape.line_bits),
            "buffer": Out(bits_for(buffers)),
            "line_data": In(8 * GROUP_BYTES),
            "slices": Out(stream.Signature(SlicePlanes(buffers))),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        word_bits = 8 * _WORD_BYTES
        m.submodules.words = words = Queue(word_bits, _QUEUED_WORDS)
        m.submodules.pages = pages = Queue(DecodeJob(self.buffers), 3)

        # Fetch the words behind the header.
        word, left = Signal(self.shape.line_bits + bits_for(_LINE_WORDS)), Signal(WORDS_BITS)
        reserved = Signal(range(words.depth + 1))  # words in the queue, or on the way to it
        accepts, fetches, leaves = Signal(), Signal(), Signal()
        select, arriving, arrived = Signal(range(_LINE_WORDS)), Signal(), Signal()
        m.d.comb += [
            accepts.eq(self.page.valid & self.page.ready),
            self.page.ready.eq((left == 0) & pages.input.ready),
            pages.input.valid.eq(accepts),
            pages.input.payload.eq(self.page.payload),
            fetches.eq((left != 0) & (reserved != words.depth)),
            self.line.eq(word[bits_for(_LINE_WORDS) :]),
            words.input.valid.eq(arrived),
            leaves.eq(words.output.valid & words.output.ready),
        ]
        m.d.sync += [
            reserved.eq(reserved + fetches - leaves),
            select.eq(word),
            arriving.eq(fetches),
            arrived.eq(arriving),
        ]
        fetched = Signal(word_bits, reset_less=True)
        m.d.sync += fetched.eq(self.line_data.word_select(select, word_bits))
        m.d.comb += words.input.payload.eq(fetched)
        with m.If(accepts):
            m.d.sync += [
                word.eq(HEADER_BYTES // _WORD_BYTES),
                left.eq(self.page.payload.words),
                self.buffer.eq(self.page.payload.buffer),
            ]
        with m.If(fetches):
            m.d.sync += [word.eq(word + 1), left.eq(left - 1)]

        # The present word, and the next one: a window of both, moved by the offset in steps of 8, 4, 2 and 1.
        page, slices, first = Signal(DecodeJob(self.buffers)), Signal(16), Signal()
        present, following = Signal(word_bits, reset_less=True), Signal(word_bits, reset_less=True)
        held, wanted = Signal(range(3)), Signal(WORDS_BITS)
        offset = Signal(range(_WORD_BYTES))  # of the slice in the present word
        window = Cat(present, following)
        for level in reversed(range(bits_for(_WORD_BYTES))):
            bits = 8 * ((1 << level) - 1) + PLANES_BITS
            window = Mux(offset[level], window[8 << level :][:bits], window[:bits])

        m.submodules.output = output = RegisterSlice(SlicePlanes(self.buffers))
        connect(m, output.output, flipped(self.slices))
        behind = Signal(range(2 * _WORD_BYTES))
        there, takes, ends, begins = Signal(), Signal(), Signal(), Signal()
        shifts, loads, kept = Signal(), Signal(), Signal(range(3))
        one = output.input.payload
        m.d.comb += [
            behind.eq(offset + page.stride),
            there.eq((held == 2) | ((held == 1) & (behind <= _WORD_BYTES)) | (page.stride == 0)),
            output.input.valid.eq((slices != 0) & there),
            one.planes.eq(window),
            one.first.eq(first),
            one.last.eq(slices == 1),
            *(one[name].eq(page[name]) for name in ("buffer", "codec", "choice")),
            takes.eq(output.input.valid & output.input.ready),
            ends.eq(takes & one.last),
            shifts.eq(takes & (behind >= _WORD_BYTES)),
            kept.eq(held - shifts),
            loads.eq((wanted != 0) & (kept != 2) & words.output.valid),
            words.output.ready.eq(loads),
            pages.output.ready.eq((slices == 0) | ends),
            begins.eq(pages.output.valid & pages.output.ready),
        ]
        with m.If(takes):
            m.d.sync += [offset.eq(behind), slices.eq(slices - 1), first.eq(0)]
        with m.If(shifts):
            m.d.sync += present.eq(following)
        with m.If(loads & (kept == 0)):
            m.d.sync += present.eq(words.output.payload)
        with m.If(loads & (kept == 1)):
            m.d.sync += following.eq(words.output.payload)
        m.d.sync += [held.eq(kept + loads), wanted.eq(wanted - loads)]
        with m.If(begins):
            m.d.sync += [
                page.eq(pages.output.payload), slices.eq(pages.output.payload.slices), first.eq(1),
                wanted.eq(pages.output.payload.words), held.eq(0), offset.eq(0),
            ]  # fmt: skip
        return m
