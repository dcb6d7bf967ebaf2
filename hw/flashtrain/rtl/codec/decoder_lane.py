"""A decoder lane: coded pages to slices of user data."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect

from flashtrain.rtl.lib.forward import forward
from flashtrain.spec import FmsConfig
from flashtrain.spec.codec import SLICE_BYTES
from flashtrain.spec.streams import Codec

from .line_memory import BUFFERS, LineMemory
from .page_receiver import DecodedHead, LanePage, PageReceiver
from .payload_reader import PayloadReader
from .plane_reader import BEGIN_CYCLES, PlaneReader
from .slice_decoder import SLICE_CYCLES, SliceDecoder
from .slice_queue import QUEUED_SLICES, SliceQueue

__all__ = ["DecodedHead", "DecodedSlice", "DecoderLane", "LanePage"]


class DecodedSlice(data.StructLayout):
    """32 bytes of user data; the last of a page or not."""

    def __init__(self):
        super().__init__({"data": 8 * SLICE_BYTES, "last": 1})


class DecoderLane(wiring.Component):
    """Decodes pages one after the other; the next page comes in meanwhile.

    A page is checked as a whole before its head is offered. A page with a wrong check, or another one than
    its reader expects, is refused there and gives no slices. A page that is not refused gives as many slices
    as its head says. Its payload is read within its buffer, whatever its planes are.

    Latency: some 14 cycles from a page's last beat to its head, some 40 from that to its first slice.
    Throughput: 32 bytes of user data per cycle: a slice, or half of one of ROUND16. Up to 8 cycles are lost
    between pages. Cost: docs/area.md.

    Members
    -------
    page : In(stream(LanePage))        a page that comes, and what is expected of it
    beats : In(stream)                 its beats
    judged : In(1), damaged : In(1)    the verdict on them, see `PageVerdict`
    head : Out(stream(DecodedHead))    of each page, in order
    slices : Out(stream(DecodedSlice)) of each page that is not refused, after its head was taken
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "page": In(stream.Signature(LanePage(config))),
            "beats": In(stream.Signature(8 * config.data_bytes)),
            "judged": In(1),
            "damaged": In(1),
            "head": Out(stream.Signature(DecodedHead(config))),
            "slices": Out(stream.Signature(DecodedSlice())),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        page_bytes = self.config.geometry.page_bytes
        m.submodules.receiver = receiver = PageReceiver(self.config, BUFFERS)
        m.submodules.lines = lines = LineMemory(page_bytes)
        m.submodules.planes = planes = PlaneReader(page_bytes)
        m.submodules.payload = payload = PayloadReader(page_bytes)
        m.submodules.decoder = decoder = SliceDecoder(page_bytes)
        m.submodules.queue = queue = SliceQueue()
        forward(m, receiver, self, ("page", "beats", "judged", "damaged", "head"))

        # Buffers, in turn.
        used, buffer, releases = Signal(range(BUFFERS + 1)), Signal(range(BUFFERS)), Signal()
        m.d.sync += used.eq(used + receiver.takes - receiver.refused - releases)
        # A page that is refused is the one that was taken last.
        with m.If(receiver.takes | receiver.refused):
            m.d.sync += buffer.eq(~buffer)
        m.d.comb += [receiver.free.eq(used != BUFFERS), receiver.buffer.eq(buffer)]

        # Lines into the memory; half lines out of it.
        connect(m, receiver.job, planes.page)
        m.d.sync += [
            payload.begins.eq(receiver.job.valid & receiver.job.ready),
            payload.begins_buffer.eq(receiver.job.payload.buffer),
        ]
        m.d.comb += [
            lines.write.eq(receiver.write),
            lines.write_buffer.eq(receiver.job.payload.buffer),
            lines.line.eq(receiver.line),
            lines.data.eq(receiver.data),
            lines.payload_requests.eq(payload.requests),
            *(lines.payload_halves[number].eq(payload.halves[number]) for number in range(BUFFERS)),
            payload.taken.eq(lines.payload_taken),
            payload.half.eq(lines.half),
            lines.planes_request.eq(planes.request),
            lines.planes_half.eq(planes.half),
            lines.planes_buffer.eq(planes.buffer),
            planes.taken.eq(lines.planes_taken),
            planes.half_line.eq(lines.half),
        ]

        # Slices: none begins unless the queue has room for it.
        reserved, begins = Signal(range(QUEUED_SLICES + 1)), Signal()
        m.d.sync += [
            begins.eq(planes.begins),
            reserved.eq(reserved + begins - queue.frees),
            planes.room.eq(reserved < QUEUED_SLICES - BEGIN_CYCLES),
        ]
        one = planes.slice
        m.d.comb += [
            decoder.valid.eq(planes.valid),
            decoder.planes.eq(one.planes),
            decoder.first.eq(one.first),
            decoder.buffer.eq(one.buffer),
            decoder.wide.eq(one.codec == Codec.WINDOW32),
            decoder.choice.eq(one.choice),
            payload.valid.eq(decoder.run_valid),
            payload.start.eq(decoder.run_start),
            payload.buffer.eq(decoder.run_buffer),
            decoder.run.eq(payload.run),
        ]
        valid, last, rounded = planes.valid, planes.valid & one.last, one.codec == Codec.ROUND16
        for cycle in range(SLICE_CYCLES):
            before = valid, last, rounded
            valid, last, rounded = (Signal(name=f"{name}_{cycle}") for name in ("valid", "last", "rounded"))
            m.d.sync += [now.eq(then) for now, then in zip((valid, last, rounded), before, strict=True)]
        m.d.comb += [
            releases.eq(last),
            queue.valid.eq(valid),
            queue.slice.data.eq(decoder.slice),
            queue.slice.flags.last.eq(last),
            queue.slice.flags.whole.eq(~rounded),
            queue.slice.rounded.eq(rounded),
        ]
        self._output(m, queue.output)
        return m

    def _output(self, m: Module, stored) -> None:
        """Slices of pages whose head was taken leave, those of ROUND16 in two halves."""
        one, slice_out = stored.payload, Signal(8 * SLICE_BYTES, reset_less=True)
        halved, at_first = Signal(), Signal(init=1)  # data: its second half; control: its first, or all of it
        may_leave, ends, advances, page_ends = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            self.slices.payload.data.eq(slice_out),
            advances.eq(~self.slices.valid | self.slices.ready),
            ends.eq(one.flags.whole | ~at_first),
            stored.ready.eq(advances & may_leave & ends),
            page_ends.eq(stored.valid & stored.ready & one.flags.last),
        ]
        halves = [_widened(one.data[at : at + 4 * SLICE_BYTES]) for at in (0, 4 * SLICE_BYTES)]
        with m.If(advances):
            m.d.sync += [
                self.slices.valid.eq(stored.valid & may_leave),
                self.slices.payload.last.eq(one.flags.last & ends),
                slice_out.eq(Mux(one.rounded, Mux(halved, halves[1], halves[0]), one.data)),
            ]
            with m.If(stored.valid & may_leave):
                m.d.sync += [halved.eq(~ends), at_first.eq(ends)]

        # Pages whose head was taken. Two cycles pass between pages, unless the head is taken in them.
        announced, announces, announced_now = Signal(range(QUEUED_SLICES + 8)), Signal(), Signal()
        ended = Signal()
        m.d.comb += announces.eq(self.head.valid & self.head.ready & ~self.head.payload.error)
        m.d.sync += [
            announced_now.eq(announces),
            ended.eq(page_ends),
            announced.eq(announced + announced_now - ended),
            may_leave.eq(~page_ends & (announces | announced_now | (announced.any() & ~ended))),
        ]


def _widened(half: Value) -> Value:
    """Halfwords of ROUND16 as words of user data."""
    return Cat(Cat(Const(0, 16), half.word_select(number, 16)) for number in range(SLICE_BYTES // 4))
