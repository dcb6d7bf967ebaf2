"""Writes decoded slices to the tensor buffer, at any multiple of 32 bytes."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.codec.decoder_lane import DecodedHead, DecodedSlice
from flashtrain.rtl.layouts import ReadEffort, ReturnedPage
from flashtrain.rtl.lib.axi import WritePort, write_beat_layout
from flashtrain.rtl.lib.streams import Queue, StreamMerge
from flashtrain.spec import FmsConfig
from flashtrain.spec.codec import SLICE_BYTES
from flashtrain.spec.geometry import bits_for

BURST_BYTES = 1024
"""Bursts end at multiples of it: then none crosses 4 KiB (AXI4, A3.4.1) nor has more than 256 beats."""
BURSTS_OUTSTANDING = 16
PAGES_OUTSTANDING = 4


def slice_parts(config: FmsConfig) -> int:
    """Slices in a beat of the data port; 1 if a beat is no longer than a slice."""
    return max(1, config.data_bytes // SLICE_BYTES)


class SliceTarget(data.StructLayout):
    """The command of a page that is decoded, and where its data begin. `failed`: its slices are dropped.

    `doubles`: two slices of data come from each that is stored.
    """

    def __init__(self, config: FmsConfig):
        super().__init__({
            "tag": config.tag_bits,
            "buffer_block": config.buffer_block_bits,
            "failed": 1,
            "doubles": 1,
            "effort": ReadEffort(config),
        })  # fmt: skip


class SliceWriter(wiring.Component):
    """Joins the slices of decoded pages to beats, and writes them in bursts.

    A burst is offered when its beats are all here, so that other writers use the port meanwhile. The first
    and the last beat of a page may be partly masked.

    Latency: 2 cycles from a page's head to its first slice; a burst is offered 2 cycles after its last slice.
    Throughput: one slice per cycle, or one beat per cycle where a beat is shorter; two idle cycles between
    pages.

    Members
    -------
    target : In(stream(SliceTarget))   of each page, in order
    head : In(stream(DecodedHead))     likewise
    slices : In(stream(DecodedSlice))  of the pages without an error
    axi : Out(WritePort)
    returned : Out(stream(ReturnedPage))   the page is in the tensor buffer, or failed, or was refused
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        self._port = {"address_bits": config.address_bits, "data_bits": 8 * config.data_bytes}
        super().__init__({
            "target": In(stream.Signature(SliceTarget(config))),
            "head": In(stream.Signature(DecodedHead(config))),
            "slices": In(stream.Signature(DecodedSlice())),
            "axi": Out(WritePort(**self._port, parts=slice_parts(config))),
            "returned": Out(stream.Signature(ReturnedPage(config))),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config = self.config
        m.submodules.beats = beats = Queue(
            write_beat_layout(8 * config.data_bytes, slice_parts(config)),
            2 * BURST_BYTES // config.data_bytes,
        )
        wiring.connect(m, beats.output, wiring.flipped(self.axi.w))
        burst = data.StructLayout({**{n: f.shape for n, f in self.axi.aw.payload.shape()}, "ends_page": 1})
        m.submodules.bursts = bursts = Queue(burst, 4)
        m.submodules.pages = pages = Queue(ReturnedPage(config), PAGES_OUTSTANDING)
        m.submodules.returns = returns = StreamMerge(ReturnedPage(config), 2)
        wiring.connect(m, returns.output, wiring.flipped(self.returned))
        self._offer_bursts(m, bursts.output, pages.output, returns.inputs[0])

        position = Signal(config.address_bits - bits_for(SLICE_BYTES))  # of the next slice
        page, dropped = Signal(ReturnedPage(config)), returns.inputs[1]
        target, head = self.target.payload, self.head.payload
        both = self.target.valid & self.head.valid
        m.d.comb += dropped.payload.eq(page)

        with m.FSM(name="slice_writer"):
            with m.State("IDLE"):
                m.d.comb += [self.target.ready.eq(self.head.valid), self.head.ready.eq(self.target.valid)]
                blocks = target.buffer_block << bits_for(config.geometry.page_bytes // SLICE_BYTES)
                m.d.sync += [
                    position.eq(blocks + (head.first << target.doubles)),
                    page.tag.eq(target.tag),
                    page.failed.eq(target.failed),
                    page.refused.eq(head.error),
                    page.effort.eq(target.effort),
                ]
                with m.If(both & head.error):
                    m.next = "REFUSE"
                with m.Elif(both & target.failed):
                    m.next = "DROP"
                with m.Elif(both):
                    m.next = "ENTER"

            with m.State("ENTER"):
                m.d.comb += [pages.input.valid.eq(1), pages.input.payload.eq(page)]
                with m.If(pages.input.ready):
                    m.next = "WRITE"

            with m.State("WRITE"):
                with m.If(self._write(m, position, beats, bursts)):
                    m.next = "IDLE"

            with m.State("DROP"):
                m.d.comb += self.slices.ready.eq(1)
                with m.If(self.slices.valid & self.slices.payload.last):
                    m.next = "REFUSE"

            with m.State("REFUSE"):
                m.d.comb += dropped.valid.eq(1)
                with m.If(dropped.ready):
                    m.next = "IDLE"
        return m

    def _write(self, m: Module, position, beat_queue: Queue, burst_queue: Queue):
        """Move slices to beats and bursts; whether the page's last beat moves."""
        beats, bursts = beat_queue.input, burst_queue.input
        config, parts, piece = self.config, slice_parts(self.config), self.slices.payload
        beat_bits = 8 * config.data_bytes
        of_slice = max(1, SLICE_BYTES // config.data_bytes)  # beats
        sub = Signal(range(max(2, of_slice)))  # the beat of a long slice
        part = position[: bits_for(parts)] if parts > 1 else Const(0)
        kept, kept_mask = Signal(beat_bits), Signal(parts, init=-1)
        length, address = Signal(8), Signal(config.address_bits)
        begun = Signal()  # the burst has beats
        ends_beat, ends_slice, ends_burst, moves = Signal(), Signal(), Signal(), Signal()
        room = Signal(init=1)  # for a beat and a burst, and for those of the cycle before
        m.d.sync += room.eq(
            (beat_queue.level < beat_queue.depth - 1) & (burst_queue.level < burst_queue.depth - 1)
        )

        data_now, mask_now = Signal(beat_bits), Signal(parts)
        if parts > 1:
            m.d.comb += [data_now.eq(kept), mask_now.eq(kept_mask)]
            with m.Switch(part):
                for number in range(parts):
                    with m.Case(number):
                        m.d.comb += [
                            data_now.word_select(number, 8 * SLICE_BYTES).eq(piece.data),
                            mask_now[number].eq(0),
                        ]
        else:
            m.d.comb += data_now.eq(piece.data.word_select(sub, beat_bits))
        here = Cat(Const(0, bits_for(SLICE_BYTES)), position)
        beat_start = (here | (sub << bits_for(config.data_bytes))) & ~(config.data_bytes - 1)
        m.d.comb += [
            ends_slice.eq(sub == of_slice - 1),
            ends_beat.eq((part == parts - 1) | piece.last),
            ends_burst.eq(ends_slice & (position[: bits_for(BURST_BYTES // SLICE_BYTES)].all() | piece.last)),
            moves.eq(self.slices.valid & room),
            self.slices.ready.eq(ends_slice & room),
            beats.valid.eq(moves & ends_beat),
            beats.payload.data.eq(data_now),
            beats.payload.masked.eq(mask_now),
            beats.payload.last.eq(ends_burst),
            bursts.valid.eq(moves & ends_burst),
            bursts.payload.length.eq(length),
            bursts.payload.address.eq(Mux(begun, address, beat_start)),
            bursts.payload.ends_page.eq(piece.last),
        ]
        with m.If(moves):
            m.d.sync += sub.eq(Mux(ends_slice, 0, sub + 1))
            with m.If(ends_slice):
                m.d.sync += position.eq(position + 1)
            m.d.sync += [kept.eq(data_now), kept_mask.eq(Mux(ends_beat, (1 << parts) - 1, mask_now))]
            with m.If(~begun):
                m.d.sync += address.eq(beat_start)
            m.d.sync += begun.eq(~ends_burst)
            with m.If(ends_beat):
                m.d.sync += length.eq(Mux(ends_burst, 0, length + 1))
        return moves & ends_burst & piece.last

    def _offer_bursts(self, m: Module, bursts, pages, returned) -> None:
        """Offer the bursts, and take their responses to events of pages."""
        m.submodules.outstanding = outstanding = Queue(1, BURSTS_OUTSTANDING)
        error, ends_page = Signal(), outstanding.output.payload
        m.d.comb += [
            self.axi.aw.valid.eq(bursts.valid & outstanding.input.ready),
            self.axi.aw.payload.address.eq(bursts.payload.address),
            self.axi.aw.payload.length.eq(bursts.payload.length),
            bursts.ready.eq(self.axi.aw.ready & outstanding.input.ready),
            outstanding.input.valid.eq(bursts.valid & bursts.ready),
            outstanding.input.payload.eq(bursts.payload.ends_page),
            returned.valid.eq(self.axi.b.valid & ends_page),
            returned.payload.eq(pages.payload),
            returned.payload.failed.eq(error | self.axi.b.payload.error),
            self.axi.b.ready.eq(~ends_page | returned.ready),
            outstanding.output.ready.eq(self.axi.b.valid & self.axi.b.ready),
            pages.ready.eq(returned.valid & returned.ready),
        ]
        with m.If(self.axi.b.valid & self.axi.b.ready):
            m.d.sync += error.eq(~ends_page & (error | self.axi.b.payload.error))
