"""Planes of a page's slices, one slice per cycle."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.streams import Queue
from flashtrain.spec.codec import HEADER_BYTES
from flashtrain.spec.geometry import bits_for

from .byte_network import delayed
from .layouts import CODEC_BITS, GROUP_BYTES, ChoiceLayout, PageShape
from .page_receiver import WORDS_BITS, DecodeJob

PLANES_BITS = 48
"""Of a slice at most."""
_WORD_BYTES = 16
_WORD_BITS = 8 * _WORD_BYTES
_LINE_WORDS = GROUP_BYTES // _WORD_BYTES
_QUEUED_WORDS = 6
_FETCH_CYCLES = 3
_CUT_LEVELS = ((3, 2), (1, 0))
"""Levels of the window in each cycle: steps of 8 and 4 bytes, then of 2 and 1."""
CUT_CYCLES = len(_CUT_LEVELS)
"""From a step to the planes of its slice."""


class SlicePlanes(data.StructLayout):
    """The planes of a slice, from the low bits on, and its page. Of RAW the planes have no meaning."""

    def __init__(self, buffers: int):
        super().__init__({
            "planes": PLANES_BITS, "first": 1, "last": 1, "buffer": bits_for(buffers), "codec": CODEC_BITS,
            "choice": ChoiceLayout(),
        })  # fmt: skip


class StepLayout(data.StructLayout):
    """A step of the window.

    - moves: the next word becomes the present one; without it `offset` and the planes are in the present one.
    - slices: a slice begins at `offset` of the present word.
    - slice: of its page; the planes are not there yet.
    """

    def __init__(self, buffers: int):
        super().__init__({
            "valid": 1, "moves": 1, "slices": 1, "offset": bits_for(_WORD_BYTES),
            "slice": SlicePlanes(buffers),
        })  # fmt: skip


class PlaneReader(wiring.Component):
    """Fetches the planes of pages in words of 16 bytes, and cuts them into those of slices.

    The planes of a slice are in the present word and the next one. A step moves on by a slice, by a word, or
    both; whether the next word is needed is known before the step. The words of the next page are fetched
    meanwhile.

    Latency: some 10 cycles from a page to its first slice, `CUT_CYCLES` from a step to its slice.
    Throughput: a slice per cycle; 1 cycle is lost between pages.

    Members
    -------
    page : In(stream(DecodeJob))
    line : Out, buffer : Out       of the memory of lines
    line_data : In(1024)           a cycle later
    room : In(1)                   a step may be done
    begins : Out(1)                pulse: a slice is begun
    valid : Out(1), slice : Out(SlicePlanes)   `CUT_CYCLES` later
    """

    def __init__(self, page_bytes: int, buffers: int):
        self.shape = PageShape(page_bytes)
        self.buffers = buffers
        super().__init__({
            "page": In(stream.Signature(DecodeJob(buffers))),
            "line": Out(self.shape.line_bits),
            "buffer": Out(bits_for(buffers)),
            "line_data": In(8 * GROUP_BYTES),
            "room": In(1),
            "begins": Out(1),
            "valid": Out(1),
            "slice": Out(SlicePlanes(buffers)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.words = words = Queue(_WORD_BITS, _QUEUED_WORDS)
        m.submodules.pages = pages = Queue(DecodeJob(self.buffers), 3)
        self._fetch(m, pages.input, words.input, words.output)
        self._cut(m, self._steps(m, pages.output), words.output)
        return m

    def _fetch(self, m: Module, pages, words, taken) -> None:
        """Fetch the words behind the header of a page, and queue the page."""
        place_bits = bits_for(_LINE_WORDS)
        word, left = Signal(self.shape.line_bits + place_bits), Signal(WORDS_BITS)
        active = Signal()  # words are left
        reserved = Signal(range(_QUEUED_WORDS + 1))  # words in the queue, or on the way to it
        accepts, fetches = Signal(), Signal()
        m.d.comb += [
            self.page.ready.eq(~active & pages.ready),
            accepts.eq(self.page.valid & self.page.ready),
            pages.valid.eq(accepts),
            pages.payload.eq(self.page.payload),
            fetches.eq(active & (reserved != _QUEUED_WORDS)),
            self.line.eq(word[place_bits:]),
        ]
        m.d.sync += reserved.eq(reserved + fetches - (taken.valid & taken.ready))
        with m.If(accepts):
            m.d.sync += [
                word.eq(HEADER_BYTES // _WORD_BYTES),
                left.eq(self.page.payload.words),
                active.eq(self.page.payload.words != 0),
                self.buffer.eq(self.page.payload.buffer),
            ]
        with m.If(fetches):
            m.d.sync += [word.eq(word + 1), left.eq(left - 1), active.eq(left != 1)]

        # Out of the memory and through its register; a word of the line; to the queue.
        arrives = fetches
        for cycle in range(_FETCH_CYCLES):
            before, arrives = arrives, Signal(name=f"arrives_{cycle}")
            m.d.sync += arrives.eq(before)
        line, fetched = Signal(8 * GROUP_BYTES, reset_less=True), Signal(_WORD_BITS, reset_less=True)
        select = delayed(m, word[:place_bits], _FETCH_CYCLES - 1, "select")
        m.d.sync += [line.eq(self.line_data), fetched.eq(line.word_select(select, _WORD_BITS))]
        m.d.comb += [words.valid.eq(arrives), words.payload.eq(fetched)]

    def _steps(self, m: Module, pages) -> tuple[data.View, Signal]:
        """The next step; and a signal to be driven: it is done."""
        step, done = Signal(StepLayout(self.buffers)), Signal()
        page, slices, offset = Signal(DecodeJob(self.buffers)), Signal(16), Signal(range(_WORD_BYTES))
        first, last, behind, free = Signal(), Signal(), Signal(range(2 * _WORD_BYTES)), Signal()
        m.d.comb += [behind.eq(offset + page.stride), free.eq(~step.valid | done)]

        def begin() -> None:
            """Take a page, if there is one. It begins with a step to its first word, if it has words."""
            job = pages.payload
            m.d.comb += pages.ready.eq(1)
            m.d.sync += [
                page.eq(job), slices.eq(job.slices), offset.eq(0), first.eq(1), last.eq(job.slices == 1)
            ]  # fmt: skip
            with m.If(~pages.valid):
                m.next = "IDLE"
            with m.Elif(job.stride == 0):
                m.next = "SLICE"
            with m.Else():
                m.next = "LOAD"

        with m.FSM(name="step"):
            with m.State("IDLE"):
                with m.If(free):
                    m.d.sync += step.valid.eq(0)
                begin()

            with m.State("LOAD"), m.If(free):
                m.d.sync += [step.valid.eq(1), step.moves.eq(1), step.slices.eq(0)]
                m.next = "SLICE"

            with m.State("SLICE"), m.If(free):
                m.d.sync += [
                    step.valid.eq(1), step.slices.eq(1),
                    step.moves.eq((behind > _WORD_BYTES) | ((behind == _WORD_BYTES) & ~last)),
                    offset.eq(behind), slices.eq(slices - 1), first.eq(0), last.eq(slices == 2),
                ]  # fmt: skip
                with m.If(last):
                    begin()
        with m.If(free):
            m.d.sync += [
                step.offset.eq(offset), step.slice.first.eq(first), step.slice.last.eq(last),
                *(step.slice[name].eq(page[name]) for name in ("buffer", "codec", "choice")),
            ]  # fmt: skip
        return step, done

    def _cut(self, m: Module, step_done: tuple[data.View, Signal], words) -> None:
        """Do the steps: a window of two words, moved by the offset in steps of 8, 4, 2 and 1."""
        step, done = step_done
        present = Signal(_WORD_BITS, reset_less=True)
        m.d.comb += [
            done.eq(step.valid & self.room & (~step.moves | words.valid)),
            words.ready.eq(step.valid & self.room & step.moves),
            self.begins.eq(done & step.slices),
        ]
        with m.If(step.moves & done):
            m.d.sync += present.eq(words.payload)
        window, offset = Cat(present, words.payload), step.offset
        one, valid = step.slice, self.begins
        for cycle, levels in enumerate(_CUT_LEVELS):
            for level in levels:
                bits = 8 * ((1 << level) - 1) + PLANES_BITS
                window = Mux(offset[level], window[8 << level :][:bits], window[:bits])
            window, offset, one = (
                delayed(m, value, 1, f"{name}_{cycle}")
                for name, value in (("window", window), ("offset", offset), ("slice", one))
            )
            before, valid = valid, Signal(name=f"valid_{cycle}")
            m.d.sync += valid.eq(before)
        m.d.comb += [self.valid.eq(valid), self.slice.eq(one), self.slice.planes.eq(window)]
