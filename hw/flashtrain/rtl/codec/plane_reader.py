"""Planes of a page's slices, one slice per cycle."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.streams import Queue
from flashtrain.spec.codec import HEADER_BYTES
from flashtrain.spec.geometry import bits_for

from .byte_network import delayed
from .layouts import CODEC_BITS, ChoiceLayout, PageShape
from .line_memory import BUFFERS, HALF_BYTES, HALF_CYCLES, half_bits
from .page_receiver import WORDS_BITS, DecodeJob

PLANES_BITS = 48
"""Of a slice at most."""
_WORD_BYTES = 16
_WORD_BITS = 8 * _WORD_BYTES
_HALF_WORDS = HALF_BYTES // _WORD_BYTES
_QUEUED_WORDS = 16
_CUT_LEVELS = (3, 2, 1, 0)
"""The level of the window in each cycle: steps of 8, 4, 2 and 1 bytes."""
CUT_CYCLES = len(_CUT_LEVELS)
"""From a step to the planes of its slice."""
BEGIN_CYCLES = 3
"""Slices that may begin before `room` follows."""


class SlicePlanes(data.StructLayout):
    """The planes of a slice, from the low bits on, and its page. Of RAW the planes have no meaning."""

    def __init__(self):
        super().__init__({
            "planes": PLANES_BITS, "first": 1, "last": 1, "buffer": bits_for(BUFFERS), "codec": CODEC_BITS,
            "choice": ChoiceLayout(),
        })  # fmt: skip


class StepLayout(data.StructLayout):
    """A step of the window.

    - moves: the next word becomes the present one; without it `offset` and the planes are in the present one.
    - slices: a slice begins at `offset` of the present word.
    - slice: of its page; the planes are not there yet.
    """

    def __init__(self):
        super().__init__({
            "moves": 1, "slices": 1, "offset": bits_for(_WORD_BYTES), "slice": SlicePlanes(),
        })  # fmt: skip


class PlaneReader(wiring.Component):
    """Fetches the planes of pages in words of 16 bytes, and cuts them into those of slices.

    The planes of a slice are in the present word and the next one. A step moves on by a slice, by a word, or
    both; whether the next word is needed is known before the step. The words of the next page are fetched
    meanwhile, one every other cycle.

    Latency: some 12 cycles from a page to its first slice, `CUT_CYCLES` + 1 from `begins` to its slice.
    Throughput: a slice per cycle; 2 cycles are lost between pages.

    Members
    -------
    page : In(stream(DecodeJob))
    request : Out(1), half : Out, buffer : Out, taken : In(1)   of `LineMemory`
    half_line : In(512)            `HALF_CYCLES` - 1 after `taken`
    room : In(1)                   a slice may begin
    begins : Out(1)                pulse: a slice begins; up to `BEGIN_CYCLES` follow before `room` does
    valid : Out(1), slice : Out(SlicePlanes)
    """

    def __init__(self, page_bytes: int):
        self.shape = PageShape(page_bytes)
        super().__init__({
            "page": In(stream.Signature(DecodeJob(BUFFERS))),
            "request": Out(1),
            "half": Out(half_bits(self.shape)),
            "buffer": Out(bits_for(BUFFERS)),
            "taken": In(1),
            "half_line": In(8 * HALF_BYTES),
            "room": In(1),
            "begins": Out(1),
            "valid": Out(1),
            "slice": Out(SlicePlanes()),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.words = words = Queue(_WORD_BITS, _QUEUED_WORDS + 1)
        m.submodules.pages = pages = Queue(DecodeJob(BUFFERS), 3)
        self._fetch(m, pages.input, words.input, words.output)
        self._cut(m, self._steps(m, pages.output, words.output), words.output)
        return m

    def _fetch(self, m: Module, pages, words, popped) -> None:
        """Fetch the words behind the header of a page, and queue the page."""
        place_bits = bits_for(_HALF_WORDS)
        word, left = Signal(len(self.half) + place_bits), Signal(WORDS_BITS)
        active, is_last = Signal(), Signal()  # words are left; only one
        reserved, room = Signal(range(_QUEUED_WORDS + 1)), Signal()  # words in the queue, or on the way to it
        accepts, leaves = Signal(), Signal()
        m.d.comb += [
            self.page.ready.eq(~active),  # the queue has room for all pages of the lane
            accepts.eq(self.page.valid & self.page.ready),
            pages.valid.eq(accepts),
            pages.payload.eq(self.page.payload),
            self.half.eq(word[place_bits:]),
        ]
        # No two requests are taken in cycles that follow each other, so what they depend on may be late.
        m.d.sync += [
            leaves.eq(popped.valid & popped.ready),
            reserved.eq(reserved + self.taken - leaves),
            room.eq(reserved < _QUEUED_WORDS - 2),
            is_last.eq(left == 1),
            self.request.eq(active & room & ~(self.taken & is_last)),
        ]
        with m.If(accepts):
            m.d.sync += [
                word.eq(HEADER_BYTES // _WORD_BYTES),
                left.eq(self.page.payload.words),
                active.eq(self.page.payload.words != 0),
                self.buffer.eq(self.page.payload.buffer),
            ]
        with m.If(self.taken):
            m.d.sync += [word.eq(word + 1), left.eq(left - 1), active.eq(~is_last)]

        # A word of the half line; to the queue.
        arrives = self.taken
        for cycle in range(HALF_CYCLES):
            before, arrives = arrives, Signal(name=f"arrives_{cycle}")
            m.d.sync += arrives.eq(before)
        fetched = Signal(_WORD_BITS, reset_less=True)
        select = delayed(m, word[:place_bits], HALF_CYCLES - 1, "select")
        m.d.sync += fetched.eq(self.half_line.word_select(select, _WORD_BITS))
        m.d.comb += [words.valid.eq(arrives), words.payload.eq(fetched)]

    def _steps(self, m: Module, pages, words) -> tuple[data.View, Signal]:
        """The next step, and whether it is done in this cycle."""
        step, done = Signal(StepLayout()), Signal()
        page, slices = Signal(DecodeJob(BUFFERS)), Signal(16)
        first, last = Signal(), Signal()
        # Of a slice, and behind it.
        offset, behind = Signal(range(_WORD_BYTES)), Signal(range(2 * _WORD_BYTES))
        # A step that moves waits for its word, and no other waits.
        m.d.comb += [done.eq(~step.moves | words.valid), words.ready.eq(step.moves)]
        with m.If(done):
            m.d.sync += [step.moves.eq(0), step.slices.eq(0)]

        with m.FSM(name="step"):
            with m.State("IDLE"):
                job = pages.payload
                m.d.comb += pages.ready.eq(1)
                m.d.sync += [
                    page.eq(job), slices.eq(job.slices), first.eq(1), last.eq(job.slices == 1),
                    offset.eq(0), behind.eq(job.stride),
                ]  # fmt: skip
                with m.If(pages.valid & (job.stride == 0)):
                    m.next = "SLICE"
                with m.Elif(pages.valid):
                    m.next = "LOAD"

            with m.State("LOAD"), m.If(done):
                m.d.sync += step.moves.eq(1)
                m.next = "SLICE"

            with m.State("SLICE"), m.If(done & self.room):
                m.d.comb += self.begins.eq(1)
                m.d.sync += [
                    step.slices.eq(1),
                    step.moves.eq((behind > _WORD_BYTES) | ((behind == _WORD_BYTES) & ~last)),
                    offset.eq(behind), behind.eq(behind[: len(offset)] + page.stride),
                    slices.eq(slices - 1), first.eq(0), last.eq(slices == 2),
                ]  # fmt: skip
                with m.If(last):
                    m.next = "IDLE"
        with m.If(done):
            m.d.sync += [
                step.offset.eq(offset), step.slice.first.eq(first), step.slice.last.eq(last),
                *(step.slice[name].eq(page[name]) for name in ("buffer", "codec", "choice")),
            ]  # fmt: skip
        return step, done

    def _cut(self, m: Module, step_done: tuple[data.View, Signal], words) -> None:
        """Do the steps: a window of two words, moved by the offset in steps of 8, 4, 2 and 1."""
        step, done = step_done
        present = Signal(_WORD_BITS, reset_less=True)
        with m.If(step.moves & words.valid):
            m.d.sync += present.eq(words.payload)
        window, offset = Cat(present, words.payload), step.offset
        one, valid = step.slice, step.slices & done
        for cycle, level in enumerate(_CUT_LEVELS):
            bits = 8 * ((1 << level) - 1) + PLANES_BITS
            window = Mux(offset[level], window[8 << level :][:bits], window[:bits])
            window, offset, one = (
                delayed(m, value, 1, f"{name}_{cycle}")
                for name, value in (("window", window), ("offset", offset), ("slice", one))
            )
            before, valid = valid, Signal(name=f"valid_{cycle}")
            m.d.sync += valid.eq(before)
        m.d.comb += [self.valid.eq(valid), self.slice.eq(one), self.slice.planes.eq(window)]
