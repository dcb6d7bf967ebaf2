"""The write splitter: write jobs to pages of the channels."""

from amaranth import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.codec.encoder import EncoderJob, EncoderPage
from flashtrain.rtl.layouts import (
    SEQUENCE_BITS,
    STREAM_BITS,
    PageKind,
    Settled,
    TileSource,
    WriteJob,
    WritePage,
    coded,
)
from flashtrain.spec import FmsConfig
from flashtrain.spec.registers import MAX_STREAMS
from flashtrain.spec.streams import Codec


class AllocatedPage(data.StructLayout):
    """A page with a place in its channel's write buffer, to be fetched from the tensor buffer.

    `encode`: a block of data for the encoder instead; the channel is invalid.
    """

    def __init__(self, config: FmsConfig):
        super().__init__({
            "channel": config.geometry.channel_bits,
            "buffer_block": config.buffer_block_bits,
            "tag": config.tag_bits,
            **coded(config, {"encode": 1}),
        })  # fmt: skip


class _Place:
    """The registers of a job that change with its pages; the others stay in the queue until its end."""

    def __init__(self, config: FmsConfig):
        job = WriteJob(config)
        self.offset, self.buffer_block, self.blocks = (
            Signal(job[name].shape, name=name) for name in ("offset", "buffer_block", "blocks")
        )
        self.source_page = Signal(TileSource()["page"].shape)

    def begin(self, job) -> list:
        return [
            self.offset.eq(job.offset),
            self.buffer_block.eq(job.buffer_block),
            self.blocks.eq(job.blocks),
            self.source_page.eq(job.source_identity.page),
        ]


class _Flush:
    """The registers of a flush."""

    def __init__(self, config: FmsConfig):
        channels = config.geometry.channels
        self.sent = Signal(channels)  # channels that have accepted the present flush
        self.outstanding = Signal(channels)  # channels that have not answered the last flush
        self.flushing = Signal()
        self.is_command = Signal(init=1) if config.codec else Const(1)  # `flushed` has its tag


class _Encoding:
    """The registers of a job with a codec."""

    def __init__(self, config: FmsConfig):
        g = config.geometry
        self.slack = Array(Signal(g.zone_size_bits + 1, name=f"slack{n}") for n in range(MAX_STREAMS))
        self.start = Signal(g.zone_size_bits)  # offset of the first page
        self.stored = Signal(config.count_bits)  # pages so far


class WriteSplitter(wiring.Component):
    """Splits write jobs by page, in order, and allocates each page in its channel's write buffer.

    Pages go to the channels in turn, then to the next plane. After the job's last page of a page set follow
    the next die, then the next page of the block. The tiles of the source keep the distance of the first from
    its new place.

    A flush goes to all channels behind the pages of the jobs before it. After the last channel's answer
    `flushed` offers its tag. The next flush waits for that, other jobs do not.

    A job with a codec fetches its blocks for the encoder, and allocates the pages that the encoder has
    completed. They follow those of the stream's last such job. The last page ends the job. Then `settled`
    offers its place, and what it leaves of its bound. A non-volatile job closes its page sets by a flush
    without a tag.

    Latency: 1 cycle from a job to its first page, 2 to its first block for the encoder. Throughput: one page
    per cycle, two idle cycles between jobs. A job with a codec begins when the one before has left the
    encoder.

    Members
    -------
    jobs : In(stream(WriteJob))         accepted a cycle after its end
    pages : Out(stream(WritePage)).array(channels)
    allocated : Out(stream(AllocatedPage))  each page, in the cycle in which its channel accepts it
    flush : Out(stream(STREAM_BITS)).array(channels)
    flush_done : In(channels)           pulses: the channel has programmed the flushed stream
    flushed : Out(stream(tag))
    issued : Out(SEQUENCE_BITS)         jobs, flushes too, whose pages are all allocated, 1 cycle later; wraps
    placed : Out(1)                     pulse: a channel accepts a page
    stalled : Out(1)                    a page waits for a place in its channel

    With a codec:

    encode : Out(stream(EncoderJob)), encoded : In(stream(EncoderPage))   see `Encoder`
    encoded_channel : Out               the channel of the accepted page
    fetch_failed : In(1)                a block of the job could not be fetched
    settled : Out(stream(Settled))
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        channels = config.geometry.channels
        super().__init__({
            "jobs": In(stream.Signature(WriteJob(config))),
            "pages": Out(stream.Signature(WritePage(config))).array(channels),
            "allocated": Out(stream.Signature(AllocatedPage(config))),
            "flush": Out(stream.Signature(STREAM_BITS)).array(channels),
            "flush_done": In(channels),
            "flushed": Out(stream.Signature(config.tag_bits)),
            "issued": Out(SEQUENCE_BITS),
            "placed": Out(1),
            "stalled": Out(1),
            **coded(config, {
                "encode": Out(stream.Signature(EncoderJob(config))),
                "encoded": In(stream.Signature(EncoderPage())),
                "encoded_channel": Out(config.geometry.channel_bits),
                "fetch_failed": In(1),
                "settled": Out(stream.Signature(Settled(config))),
            }),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, g = self.config, self.config.geometry
        job, place = self.jobs.payload, _Place(config)
        channel = place.offset[: g.channel_bits]
        plane, die, page_number = (Signal(bits) for bits in (g.plane_bits, g.die_bits, g.page_bits))
        m.d.comb += Cat(plane, die, page_number).eq(place.offset[g.channel_bits :])
        is_data = job.kind == PageKind.DATA
        ends_set = Signal()
        next_offset = Signal.like(place.offset)
        m.d.comb += [ends_set.eq(plane == job.last_page), next_offset.eq(place.offset + 1)]
        ends_row, ends_superpage = Signal(), Signal()
        m.d.comb += [
            ends_row.eq(ends_set & (channel == g.channels - 1)),
            ends_superpage.eq(ends_row & (die == g.dies - 1)),
        ]
        with m.If(ends_row):
            m.d.comb += next_offset[g.channel_bits + g.plane_bits :].eq(Cat(die, page_number) + 1)
            m.d.comb += next_offset[: g.channel_bits + g.plane_bits].eq(0)
        # The last page of the job on each channel: no later page completes its set soon.
        closes = job.non_volatile & (place.blocks <= g.channels)
        if config.codec:
            closes &= job.codec == Codec.RAW  # a flush closes the sets

        ends = Signal()  # all pages of the job are allocated
        m.d.comb += self.jobs.ready.eq(ends)
        m.d.sync += [ends.eq(0), self.issued.eq(self.issued + ends)]

        offers, accepts = Signal(), Signal()
        m.d.comb += self.placed.eq(offers & accepts)
        with m.Switch(channel):
            for number, page in enumerate(self.pages):
                with m.Case(number):
                    m.d.comb += [page.valid.eq(offers), accepts.eq(page.ready)]
        for number, page in enumerate(self.pages):
            m.d.comb += [
                page.payload.zone.eq(job.zone),
                page.payload.page.eq(page_number),
                page.payload.die.eq(die),
                page.payload.plane.eq(plane),
                page.payload.tag.eq(job.tag),
                page.payload.stream.eq(job.stream),
                page.payload.notify.eq(Mux(is_data, job.non_volatile, ends_set)),
                page.payload.close.eq(Mux(is_data, closes, ends_set)),
                page.payload.kind.eq(job.kind),
                page.payload.source.eq(job.source),
                page.payload.copies.eq(job.copies),
                page.payload.buffer_block.eq(place.buffer_block),
                page.payload.source_identity.eq(job.source_identity),
                page.payload.source_identity.page.eq(place.source_page),
                page.payload.identity.eq(job.identity),
                page.payload.wear.eq(job.wear),
                page.payload.channel.eq(number),
            ]
        m.d.comb += [
            self.allocated.payload.channel.eq(channel),
            self.allocated.payload.buffer_block.eq(place.buffer_block),
            self.allocated.payload.tag.eq(job.tag),
        ]

        flush = self._track_flush(m, job)
        encoding = self._offer_settled(m, job, place) if config.codec else None
        with m.FSM(name="write_splitter"):
            with m.State("IDLE"):
                m.d.sync += place.begin(job)
                with m.If(self.jobs.valid & ~ends):
                    with m.If(job.flush):
                        m.next = "WAIT_FOR_FLUSH"
                    if config.codec:
                        with m.Elif(job.codec != Codec.RAW):
                            m.next = "LOCATE"
                    with m.Else():
                        m.next = "ALLOCATE"

            with m.State("ALLOCATE"):
                # The channel and the fetch accept the page in the same cycle.
                m.d.comb += [
                    offers.eq(self.allocated.ready),
                    self.allocated.valid.eq(accepts),
                    self.stalled.eq(~accepts),
                ]
                with m.If(self.placed):
                    m.d.sync += [
                        place.offset.eq(next_offset),
                        place.buffer_block.eq(place.buffer_block + 1),
                        place.blocks.eq(place.blocks - 1),
                        place.source_page.eq(place.source_page + ends_superpage),
                    ]
                    with m.If(place.blocks == 1):
                        m.d.sync += ends.eq(1)
                        m.next = "IDLE"

            self._flush(m, job, flush, ends)
            if encoding is not None:
                self._encode(m, job, place, encoding, next_offset, offers, accepts, ends)
        return m

    def _track_flush(self, m: Module, job) -> "_Flush":
        flush = _Flush(self.config)
        m.d.sync += flush.outstanding.eq(flush.outstanding & ~self.flush_done)
        answered = ~flush.outstanding.any()
        m.d.comb += self.flushed.valid.eq(flush.flushing & answered & flush.is_command)
        with m.If((self.flushed.valid & self.flushed.ready) | (answered & ~flush.is_command)):
            m.d.sync += flush.flushing.eq(0)
        for channel in self.flush:
            m.d.comb += channel.payload.eq(job.stream)
        return flush

    def _flush(self, m: Module, job, flush: "_Flush", ends) -> None:
        with m.State("WAIT_FOR_FLUSH"):
            m.d.sync += flush.sent.eq(0)
            with m.If(~flush.flushing):
                m.d.sync += [
                    flush.flushing.eq(1),
                    flush.outstanding.eq(-1),
                    self.flushed.payload.eq(job.tag),
                ]
                if self.config.codec:
                    m.d.sync += flush.is_command.eq(job.flush)
                m.next = "FLUSH"

        with m.State("FLUSH"):
            for number, channel in enumerate(self.flush):
                m.d.comb += channel.valid.eq(~flush.sent[number])
                with m.If(channel.ready):
                    m.d.sync += flush.sent[number].eq(1)
            with m.If(flush.sent.all()):
                m.d.sync += ends.eq(1)
                m.next = "IDLE"

    def _offer_settled(self, m: Module, job, place) -> "_Encoding":
        encoding, settled = _Encoding(self.config), self.settled.payload
        m.d.comb += [
            self.encode.payload.codec.eq(job.codec),
            self.encode.payload.blocks.eq(place.blocks),
            settled.tag.eq(job.tag),
            settled.failed.eq(self.fetch_failed),
            settled.stream.eq(job.stream),
            settled.zone.eq(job.identity.zone),
            settled.offset.eq(encoding.start),
            settled.stored.eq(encoding.stored),
            settled.slack.eq(job.bound - encoding.stored),
            settled.non_volatile.eq(job.non_volatile),
            self.encoded_channel.eq(place.offset[: self.config.geometry.channel_bits]),
        ]
        return encoding

    def _encode(
        self, m: Module, job, place: _Place, encoding: "_Encoding", next_offset, offers, accepts, ends
    ) -> None:
        """The job's blocks to the encoder, and the encoder's pages to the channels."""
        slack = encoding.slack
        with m.State("LOCATE"):
            m.d.sync += place.offset.eq(place.offset - (slack[job.stream] - job.slack))
            m.next = "BEGIN"

        with m.State("BEGIN"):
            m.d.comb += self.encode.valid.eq(1)
            m.d.sync += [encoding.start.eq(place.offset), encoding.stored.eq(0)]
            with m.If(self.encode.ready):
                m.next = "ENCODE"

        with m.State("ENCODE"):
            m.d.comb += [
                self.allocated.valid.eq(place.blocks != 0),
                self.allocated.payload.encode.eq(1),
                offers.eq(self.encoded.valid),
                self.encoded.ready.eq(accepts),
                self.stalled.eq(self.encoded.valid & ~accepts),
            ]
            with m.If(self.allocated.valid & self.allocated.ready):
                m.d.sync += [
                    place.buffer_block.eq(place.buffer_block + 1),
                    place.blocks.eq(place.blocks - 1),
                ]
            with m.If(self.placed):
                m.d.sync += [
                    place.offset.eq(next_offset),
                    encoding.stored.eq(encoding.stored + 1),
                ]
                with m.If(self.encoded.payload.last):
                    m.next = "SETTLE"

        with m.State("SETTLE"):
            m.d.comb += self.settled.valid.eq(1)
            with m.If(self.settled.ready):
                m.d.sync += slack[job.stream].eq(slack[job.stream] + self.settled.payload.slack)
                with m.If(job.non_volatile):
                    m.next = "WAIT_FOR_FLUSH"
                with m.Else():
                    m.d.sync += ends.eq(1)
                    m.next = "IDLE"
