"""The read command pipeline: channel buffers to tensor buffer."""

from amaranth import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import SEQUENCE_BITS, ReadHead, ReadJob, ReadPage, ReturnedPage
from flashtrain.rtl.lib.axi import WritePort
from flashtrain.rtl.lib.forward import forward
from flashtrain.rtl.lib.streams import StreamMerge
from flashtrain.rtl.lib.write_mux import WriteMux
from flashtrain.spec import FmsConfig

from .decoder_lanes import DecoderLanes
from .page_check import opened_ports
from .read_return import ReadReturn
from .slice_writer import slice_parts

DECODED = ("axi", "returned", "busy", "stall_memory", "no_page")
"""Members that have pages of two kinds with a codec."""


class ReadSplitter(wiring.Component):
    """Splits read jobs by page, in order, and requests each page from its channel.

    Requests for statistics go to the channels in turn, then to the next die.

    A job waits until the pages of the write jobs before it are allocated in the channels. From then on each
    channel's lookup finds them in its write buffer.

    Latency: 2 cycles from a job to its first page. Throughput: one page per cycle, one idle cycle between
    jobs.

    Members
    -------
    jobs : In(stream(ReadJob))
    issued : In(SEQUENCE_BITS)   write jobs whose pages are all allocated
    pages : Out(stream(ReadPage)).array(channels)
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "jobs": In(stream.Signature(ReadJob(config))),
            "issued": In(SEQUENCE_BITS),
            "pages": Out(stream.Signature(ReadPage(config))).array(config.geometry.channels),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        g = self.config.geometry
        job = Signal(ReadJob(self.config))
        channel = job.offset[: g.channel_bits]
        plane, die, page_number = (Signal(bits) for bits in (g.plane_bits, g.die_bits, g.page_bits))
        m.d.comb += Cat(plane, die, page_number).eq(job.offset[g.channel_bits :])
        with m.If(job.statistics):
            m.d.comb += [Cat(die, page_number).eq(job.offset[g.channel_bits :]), plane.eq(0)]
        # Both numbers wrap: the sign of their difference orders them.
        behind = (self.issued - job.after)[SEQUENCE_BITS - 1]

        accepted = Signal()
        for page in self.pages:
            m.d.comb += [
                page.payload.zone.eq(job.zone),
                page.payload.page.eq(page_number),
                page.payload.die.eq(die),
                page.payload.plane.eq(plane),
                page.payload.statistics.eq(job.statistics),
                page.payload.tag.eq(job.tag),
                page.payload.buffer_block.eq(job.buffer_block),
            ]
            if self.config.part_bytes:
                m.d.comb += page.payload.part.eq(job.part)

        with m.FSM(name="read_splitter"):
            with m.State("IDLE"):
                m.d.comb += self.jobs.ready.eq(1)
                m.d.sync += job.eq(self.jobs.payload)
                with m.If(self.jobs.valid):
                    m.next = "WAIT_FOR_WRITES"
            with m.State("WAIT_FOR_WRITES"):
                with m.If(~behind):
                    m.next = "REQUEST"
            with m.State("REQUEST"):
                with m.Switch(channel):
                    for number, page in enumerate(self.pages):
                        with m.Case(number):
                            m.d.comb += [page.valid.eq(1), accepted.eq(page.ready)]
                with m.If(accepted):
                    m.d.sync += [
                        job.offset.eq(job.offset + 1),
                        job.buffer_block.eq(job.buffer_block + 1),
                        job.blocks.eq(job.blocks - 1),
                    ]
                    with m.If(job.blocks == 1):
                        m.next = "IDLE"
        return m


class ReadPipeline(wiring.Component):
    """Requests the pages of read jobs from the channels, and writes them to the tensor buffer in any order.

    Latency and throughput: see `ReadSplitter` and `ReadReturn`.

    Members
    -------
    jobs : In(stream(ReadJob))
    opened : In(1), opened_tag : In      with a codec, see `PageCheck`
    issued : In(SEQUENCE_BITS)           from the write pipeline
    pages : Out(stream(ReadPage)).array(channels)
    heads, data, data_valid, data_ready, data_chosen   to the channels, see `ReadReturn`
    axi : Out(WritePort)                 the data port's writing side
    returned : Out(stream(ReturnedPage))
    page_read, busy, stall_memory, no_page : Out(1)   see `ReadReturn`
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        channels, bits = config.geometry.channels, 8 * config.data_bytes
        port = {"address_bits": config.address_bits, "data_bits": bits}
        super().__init__({
            "jobs": In(stream.Signature(ReadJob(config))),
            **opened_ports(config),
            "issued": In(SEQUENCE_BITS),
            "pages": Out(stream.Signature(ReadPage(config))).array(channels),
            "heads": In(stream.Signature(ReadHead(config))).array(channels),
            "data": In(bits),
            "data_valid": In(channels),
            "data_ready": Out(channels),
            "data_chosen": Out(channels),
            "axi": Out(WritePort(**port, parts=slice_parts(config) if config.codec else 1)),
            "returned": Out(stream.Signature(ReturnedPage(config))),
            "page_read": Out(1),
            "busy": Out(1),
            "stall_memory": Out(1),
            "no_page": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.splitter = splitter = ReadSplitter(self.config)
        m.submodules.read_return = read_return = ReadReturn(self.config)
        forward(m, splitter, self, ("jobs", "issued", "pages"))
        own = [name for name in read_return.signature.members if name in self.signature.members]
        if self.config.codec:
            own = [name for name in own if name not in DECODED]
            self._decode(m, read_return)
        forward(m, read_return, self, own)
        m.d.comb += [
            read_return.job.eq(self.jobs.payload),
            read_return.job_begins.eq(self.jobs.valid & self.jobs.ready),
        ]
        return m

    def _decode(self, m: Module, read_return: ReadReturn) -> None:
        """The decoder lanes, beside the pages that are returned as they are."""
        config, parts = self.config, slice_parts(self.config)
        port = {"address_bits": config.address_bits, "data_bits": 8 * config.data_bytes}
        m.submodules.lanes = lanes = DecoderLanes(config)
        m.submodules.write_mux = mux = WriteMux(lanes.count + 1, **port, parts=parts)
        m.submodules.returned = merge = StreamMerge(ReturnedPage(config), 2)
        wiring.connect(m, read_return.lane_pages, lanes.pages)
        wiring.connect(m, read_return.returned, merge.inputs[0])
        wiring.connect(m, lanes.returned, merge.inputs[1])
        wiring.connect(m, merge.output, wiring.flipped(self.returned))
        for number, axi in enumerate(lanes.axis):
            wiring.connect(m, axi, mux.writers[number])
        wiring.connect(m, mux.axi, wiring.flipped(self.axi))
        raw, whole, beat = read_return.axi, mux.writers[-1], mux.axi.w
        wiring.connect(m, raw.aw, whole.aw)
        wiring.connect(m, whole.b, raw.b)
        m.d.comb += [
            whole.w.valid.eq(raw.w.valid),
            whole.w.payload.data.eq(raw.w.payload.data),
            whole.w.payload.last.eq(raw.w.payload.last),
            whole.w.payload.masked.eq(raw.w.payload.masked.replicate(parts)),
            raw.w.ready.eq(whole.w.ready),
            lanes.data.eq(self.data),
            lanes.data_valid.eq(read_return.lane_valid),
            read_return.lane_ready.eq(lanes.data_ready),
            read_return.lane.eq(lanes.lane),
            self.busy.eq(beat.valid & beat.ready),
            self.stall_memory.eq(beat.valid & ~beat.ready),
            self.no_page.eq(~beat.valid),
        ]
