"""Pages from the port to lines of the lane's memories, and to a head if they are as expected."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.hdl import ValueLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.streams import lowest
from flashtrain.spec import FmsConfig
from flashtrain.spec.codec import SLICE_BYTES, Mode, PageHeader, Refusal
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.streams import Codec

from .classes import plane_stride
from .layouts import CODEC_BITS, LINE_BYTES, STRIDE_BITS, ChoiceLayout, PageShape

WORDS_BITS = 11
"""Words of 16 bytes in a page of 16 KiB."""
_REFUSAL_BITS = bits_for(max(Refusal) + 1)


def slice_bits(config: FmsConfig) -> int:
    """Of the number of slices of an append."""
    return config.count_bits + bits_for(config.geometry.page_bytes // SLICE_BYTES)


class LanePage(data.StructLayout):
    """The page that is expected.

    - codec: that of the stream.
    - expanded: slices of the whole append, as they are stored.
    - is_first, is_last: the page is the first or the last of its append.
    """

    def __init__(self, config: FmsConfig):
        super().__init__({"codec": CODEC_BITS, "expanded": slice_bits(config), "is_first": 1, "is_last": 1})


class DecodedHead(data.StructLayout):
    """A page's place in its append: its first slice and their number, as they are stored.

    error: the page is refused, and has no slices; `refusal` says why. The other fields have no meaning then.
    """

    def __init__(self, config: FmsConfig):
        bits = slice_bits(config)
        super().__init__({
            "first": bits, "slices": 16, "last": 1, "total": bits, "error": 1, "refusal": _REFUSAL_BITS,
        })  # fmt: skip


class DecodeJob(data.StructLayout):
    """A page to be decoded: its buffer, and the content of its header.

    `stride`: bytes of planes of a slice; `words`: words of 16 bytes that planes take.
    """

    def __init__(self, buffers: int):
        super().__init__({
            "buffer": bits_for(buffers), "codec": CODEC_BITS, "choice": ChoiceLayout(), "slices": 16,
            "stride": STRIDE_BITS, "words": WORDS_BITS,
        })  # fmt: skip


class PageReceiver(wiring.Component):
    """Receives a page with its verdict, and judges its header.

    Latency: 4 cycles from a page's verdict to its head. Throughput: a beat per cycle within a page;
    the next page is taken when the head of this one has been.

    Members
    -------
    page : In(stream(LanePage)), beats : In(stream)   a page, and then its beats
    judged : In(1), damaged : In(1)   its verdict, three cycles after its last beat or later (`PageVerdict`)
    free : In(1), buffer : In      there is a free buffer, and which
    takes : Out(1)                 pulse: a page has taken it
    write : Out(1), line : Out, data : Out(1024)   write a line of the page; holds no longer than a cycle
    head : Out(stream(DecodedHead))
    job : Out(stream(DecodeJob))   of a page that is not refused
    refused : Out(1)               pulse: a page is refused, and its buffer free again
    """

    def __init__(self, config: FmsConfig, buffers: int):
        self.config = config
        self.shape = PageShape(config.geometry.page_bytes)
        self.buffers = buffers
        super().__init__({
            "page": In(stream.Signature(LanePage(config))),
            "beats": In(stream.Signature(8 * config.data_bytes)),
            "judged": In(1),
            "damaged": In(1),
            "free": In(1),
            "buffer": In(bits_for(buffers)),
            "takes": Out(1),
            "write": Out(1),
            "line": Out(self.shape.line_bits),
            "data": Out(8 * LINE_BYTES),
            "head": Out(stream.Signature(DecodedHead(config))),
            "job": Out(stream.Signature(DecodeJob(buffers))),
            "refused": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, shape, port_bits = self.config, self.shape, 8 * self.config.data_bytes
        line_beats = LINE_BYTES // config.data_bytes

        # Beats to lines.
        expected = Signal(LanePage(config))
        beat, takes = Signal(range(line_beats)), Signal()
        line, last_line = Signal(shape.line_bits), Signal()
        m.d.comb += [
            last_line.eq(line == shape.lines - 1),
            takes.eq(self.beats.valid & self.beats.ready),
        ]
        ends = Signal()
        m.d.comb += ends.eq(takes & (beat == line_beats - 1))
        data, writes_header = Signal(8 * LINE_BYTES, reset_less=True), Signal()
        m.d.comb += self.data.eq(data)
        m.d.sync += [self.write.eq(ends), writes_header.eq(ends & (line == 0))]
        if line_beats == 1:
            m.d.sync += data.eq(self.beats.payload)
        with m.If(takes):
            m.d.sync += beat.eq(beat + 1)
            if line_beats > 1:
                m.d.sync += data.eq(Cat(data[port_bits:], self.beats.payload))
        with m.If(ends):
            m.d.sync += [beat.eq(0), self.line.eq(line), line.eq(line + 1)]

        # The header, once its line is there. The verdict comes later than the last of what follows from it.
        h = PageHeader
        header = Signal(8 * h.BYTES, reset_less=True)

        def field(one):
            return header[one.low : one.low + one.width]

        def registered(name: str, value: ValueLike) -> Signal:
            result = Signal(Value.cast(value).shape(), name=name, reset_less=True)
            m.d.sync += result.eq(value)
            return result

        def chunks(name: str, value: Value) -> Signal:
            """Which chunks of a value are not 0."""
            return registered(name, Cat(value[at : at + 4].any() for at in range(0, len(value), 4)))

        with m.If(writes_header):
            m.d.sync += header.eq(data[: len(header)])
        first, slices, total = field(h.first), field(h.slices), field(h.total)
        last = field(h.last)
        stride = registered("stride", plane_stride(field(h.mode), field(h.codec) == Codec.WINDOW32))
        behind = registered("behind", first + slices)
        end = registered("end", Mux(last, expected.expanded, 0))
        fixed = Cat(field(h.magic) ^ h.MAGIC, field(h.version) ^ h.VERSION, field(h.reserved),
                    field(h.reserved_high))  # fmt: skip
        fixed, no_slices, not_first, not_end, not_total = (
            chunks(name, value)
            for name, value in (
                ("fixed", fixed), ("no_slices", slices), ("not_first", first),
                ("not_end", behind ^ expected.expanded), ("not_total", total ^ end),
            )
        )  # fmt: skip
        is_first, is_end = registered("is_first", ~not_first.any()), registered("is_end", ~not_end.any())
        multiples = [Mux(bit, slices << place, 0) for place, bit in enumerate(stride)]
        low, high = registered("low", multiples[0] + multiples[1]), registered("high", multiples[2])
        planes = registered("planes", (low + high)[:19])
        # Of planes, or of the payload of RAW. Only the decoder finds that of other modes.
        least = registered("least", Mux(field(h.mode) == Mode.RAW, slices << bits_for(SLICE_BYTES), planes))
        words = registered("words", ((planes + 15) >> 4)[:WORDS_BITS])
        wrong = {
            Refusal.MAGIC: Signal(), Refusal.CHECK: Signal(), Refusal.CODEC: Signal(),
            Refusal.SLICES: Signal(6), Refusal.OVERLAP: Signal(),
        }  # fmt: skip
        m.d.sync += [
            wrong[Refusal.MAGIC].eq(fixed.any()),
            wrong[Refusal.CODEC].eq(field(h.codec) != expected.codec),
            wrong[Refusal.SLICES].eq(Cat(
                ~no_slices.any(),
                behind > expected.expanded,
                not_total.any(),
                last != is_end,
                is_first != expected.is_first,
                last != expected.is_last,
            )),
            wrong[Refusal.OVERLAP].eq(least > shape.capacity),
        ]  # fmt: skip
        error, refusal, buffer = Signal(), Signal(_REFUSAL_BITS), Signal.like(self.buffer)
        found = Cat(wrong[reason].any() for reason in Refusal)
        m.d.comb += [
            self.head.payload.first.eq(first),
            self.head.payload.slices.eq(slices),
            self.head.payload.last.eq(last),
            self.head.payload.total.eq(total),
            self.head.payload.error.eq(error),
            self.head.payload.refusal.eq(refusal),
            self.job.payload.buffer.eq(buffer),
            self.job.payload.words.eq(words),
            self.job.payload.codec.eq(expected.codec),
            self.job.payload.choice.mode.eq(field(h.mode)),
            self.job.payload.choice.base.eq(field(h.base)),
            self.job.payload.slices.eq(slices),
            self.job.payload.stride.eq(stride),
        ]

        with m.FSM(name="page"):
            with m.State("IDLE"):
                m.d.comb += [
                    self.page.ready.eq(self.free), self.takes.eq(self.page.valid & self.page.ready)
                ]  # fmt: skip
                with m.If(self.takes):
                    m.d.sync += [expected.eq(self.page.payload), buffer.eq(self.buffer)]
                    m.next = "RECEIVE"

            with m.State("RECEIVE"):
                m.d.comb += self.beats.ready.eq(1)
                with m.If(ends & last_line):
                    m.next = "CHECK"

            with m.State("CHECK"):
                m.d.sync += wrong[Refusal.CHECK].eq(self.damaged)
                with m.If(self.judged):
                    m.next = "JUDGE"

            with m.State("JUDGE"):
                m.d.sync += [error.eq(found.any()), refusal.eq(0)]
                for reason, is_first in zip(Refusal, lowest(found), strict=True):
                    with m.If(is_first):
                        m.d.sync += refusal.eq(reason)
                m.next = "START"

            with m.State("START"):
                m.d.comb += [
                    self.job.valid.eq(~error), self.refused.eq(error)
                ]  # fmt: skip
                with m.If(self.job.ready | self.refused):
                    m.next = "OFFER"

            with m.State("OFFER"):
                m.d.comb += self.head.valid.eq(1)
                with m.If(self.head.ready):
                    m.next = "IDLE"
        return m
