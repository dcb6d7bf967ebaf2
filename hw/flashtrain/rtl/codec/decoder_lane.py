"""A decoder lane: coded pages to slices of user data."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out, connect

from flashtrain.rtl.lib.forward import forward
from flashtrain.rtl.lib.memories import IN_BLOCKS
from flashtrain.rtl.lib.streams import Queue
from flashtrain.spec import FmsConfig
from flashtrain.spec.codec import SLICE_BYTES
from flashtrain.spec.streams import Codec

from .layouts import GROUP_BYTES, PageShape
from .page_receiver import DecodedHead, LanePage, PageReceiver
from .plane_reader import PlaneReader
from .slice_decoder import SLICE_CYCLES, SliceDecoder

__all__ = ["DecodedHead", "DecodedSlice", "DecoderLane", "LanePage"]

BUFFERS = 2
_QUEUED_SLICES = 32
"""As many as are on the way to the queue and out of it, and some."""


class DecodedSlice(data.StructLayout):
    """32 bytes of user data; the last of a page or not."""

    def __init__(self):
        super().__init__({"data": 8 * SLICE_BYTES, "last": 1})


class DecoderLane(wiring.Component):
    """Decodes pages one after the other; the next page comes in meanwhile.

    A page is checked as a whole before its head is offered. A page with a wrong check, or another one than
    its reader expects, is refused there and gives no slices. A page that is not refused gives as many slices
    as its head says. Its payload is read within its buffer, whatever its planes are.

    Latency: some 14 cycles from a page's last beat to its head, some 34 to its first slice.
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
        shape = PageShape(page_bytes)
        m.submodules.receiver = receiver = PageReceiver(self.config, BUFFERS)
        m.submodules.planes = planes = PlaneReader(page_bytes, BUFFERS)
        m.submodules.decoder = decoder = SliceDecoder(page_bytes, BUFFERS)
        forward(m, receiver, self, ("page", "beats", "judged", "damaged"))

        # Buffers, in turn.
        used, buffer, releases = Signal(range(BUFFERS + 1)), Signal(range(BUFFERS)), Signal()
        m.d.sync += used.eq(used + receiver.takes - receiver.refused - releases)
        # A page that is refused is the one that was taken last.
        with m.If(receiver.takes | receiver.refused):
            m.d.sync += buffer.eq(~buffer)
        m.d.comb += [receiver.free.eq(used != BUFFERS), receiver.buffer.eq(buffer)]

        # Lines, to the memory of planes and to that of payload.
        m.submodules.lines = lines = memory.Memory(
            shape=8 * GROUP_BYTES, depth=shape.lines * BUFFERS, init=[], attrs=IN_BLOCKS
        )
        write, read = lines.write_port(), lines.read_port()
        m.d.comb += [
            write.en.eq(receiver.write),
            write.addr.eq(Cat(receiver.line, receiver.job.payload.buffer)),
            write.data.eq(receiver.data),
            read.addr.eq(Cat(planes.line, planes.buffer)),
            planes.line_data.eq(read.data),
            decoder.write.eq(receiver.write),
            decoder.write_buffer.eq(receiver.job.payload.buffer),
            decoder.line.eq(receiver.line),
            decoder.data.eq(receiver.data),
        ]

        # Slices: none is begun unless the queue has room for it, and for the one of the cycle before.
        connect(m, receiver.job, planes.page)
        m.submodules.queue = queue = Queue(DecodedSliceOfPage(), _QUEUED_SLICES)
        reserved = Signal(range(queue.depth + 1))
        leaves = Signal()
        one = planes.slice
        m.d.comb += [
            leaves.eq(queue.output.valid & queue.output.ready),
            decoder.valid.eq(planes.valid),
            decoder.planes.eq(one.planes),
            decoder.first.eq(one.first),
            decoder.buffer.eq(one.buffer),
            decoder.wide.eq(one.codec == Codec.WINDOW32),
            decoder.choice.eq(one.choice),
        ]
        m.d.sync += [
            reserved.eq(reserved + planes.begins - leaves),
            planes.room.eq(reserved < queue.depth - 1),
        ]

        valid, last, rounded = planes.valid, planes.valid & one.last, one.codec == Codec.ROUND16
        for cycle in range(SLICE_CYCLES):
            before = valid, last, rounded
            valid, last, rounded = (Signal(name=f"{name}_{cycle}") for name in ("valid", "last", "rounded"))
            m.d.sync += [now.eq(then) for now, then in zip((valid, last, rounded), before, strict=True)]
        m.d.comb += [
            releases.eq(last),
            queue.input.valid.eq(valid),
            queue.input.payload.data.eq(decoder.slice),
            queue.input.payload.last.eq(last),
            queue.input.payload.rounded.eq(rounded),
        ]

        # Pages whose head was taken: the slices of the first of them may leave.
        forward(m, receiver, self, ("head",))
        announced, announces, page_ends = Signal(range(queue.depth + BUFFERS + 2)), Signal(), Signal()
        may_leave = Signal()
        m.d.sync += [
            announces.eq(self.head.valid & self.head.ready & ~self.head.payload.error),
            announced.eq(announced + announces - page_ends),
            may_leave.eq(announces | (announced > 1) | ((announced == 1) & ~page_ends)),
        ]

        # The slice that leaves, or its halves.
        slice_out, holds = Signal(DecodedSliceOfPage()), Signal()
        second, ends = Signal(), Signal()  # the second half; behind this part nothing of the slice is left
        goes = Signal()
        halves = [slice_out.data[half * 128 :][:128] for half in range(2)]
        widened = [
            Cat(Cat(Const(0, 16), half.word_select(number, 16)) for number in range(SLICE_BYTES // 4))
            for half in halves
        ]
        m.d.comb += [
            self.slices.valid.eq(holds & may_leave),
            self.slices.payload.data.eq(
                Mux(slice_out.rounded, Mux(second, widened[1], widened[0]), slice_out.data)
            ),
            self.slices.payload.last.eq(slice_out.last & ends),
            goes.eq(self.slices.valid & self.slices.ready),
            queue.output.ready.eq(~holds | (goes & ends)),
            page_ends.eq(goes & self.slices.payload.last),
        ]
        with m.If(queue.output.ready):
            m.d.sync += [
                holds.eq(queue.output.valid), slice_out.eq(queue.output.payload), second.eq(0),
                ends.eq(~queue.output.payload.rounded),
            ]  # fmt: skip
        with m.Elif(goes):
            m.d.sync += [second.eq(1), ends.eq(1)]
        return m


class DecodedSliceOfPage(data.StructLayout):
    """A stored slice; one of ROUND16 becomes two of user data."""

    def __init__(self):
        super().__init__({"data": 8 * SLICE_BYTES, "last": 1, "rounded": 1})
