"""The encoder: the data of appends to coded pages."""

from amaranth import Cat, Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect

from flashtrain.rtl.lib.forward import forward
from flashtrain.rtl.lib.streams import Queue
from flashtrain.spec import FmsConfig
from flashtrain.spec.streams import Codec

from .group_classifier import GroupClassifier
from .group_collector import GroupCollector
from .group_ring import GroupRing, Marked, marked
from .layouts import CODEC_BITS, EncoderShape, JobLayout
from .page_buffers import PageBuffers
from .page_fitter import PageFitter
from .page_sender import PageSender
from .payload_packer import PayloadPacker
from .plane_packer import PlanePacker
from .sampler import Sampler

BUFFERS = 3
"""Pages: one is output while the next is encoded; a third because a page is not whole at once."""


class EncoderJob(data.StructLayout):
    """An append: the codec of its stream, and its logical blocks."""

    def __init__(self, config: FmsConfig):
        super().__init__({"codec": CODEC_BITS, "blocks": config.count_bits})


class EncoderPage(data.StructLayout):
    """A page; the last of its append or not."""

    def __init__(self):
        super().__init__({"last": 1})


class Encoder(wiring.Component):
    """Encodes appends one after the other. A page is offered when it is whole in its buffer.

    Inside, a slice of 32 bytes is at work per cycle, and four of them on a port that is wider than a slice.
    A page begins with the mode and base of the page before. If the rule chooses others, the page begins anew.

    Latency: some 45 cycles from the last beat of a page's data to the page.
    Throughput: a beat of user data per cycle while pages are taken. A port of 128 bytes loses a cycle per
    page, some 20 cycles per change of mode or base, and some 14 cycles between appends. Cost: docs/area.md.

    Members
    -------
    job : In(stream(EncoderJob))  begins an append
    data : In(stream(beats))      its user data
    page : Out(stream(EncoderPage)) a whole page, the last of its append or not
    output : Out(stream(beats))   the beats of pages that were taken
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        beats = stream.Signature(8 * config.data_bytes)
        super().__init__({
            "job": In(stream.Signature(EncoderJob(config))),
            "data": In(beats),
            "page": Out(stream.Signature(EncoderPage())),
            "output": Out(beats),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        shape = EncoderShape(self.config.geometry.page_bytes, self.config.data_bytes)
        m.submodules.collector = collector = GroupCollector(shape)
        m.submodules.sampler = sampler = Sampler(shape)
        m.submodules.ring = ring = GroupRing(Marked(shape.group_bytes), shape.index_bits)
        m.submodules.classifier = classifier = GroupClassifier(shape)
        m.submodules.jobs = jobs = Queue(JobLayout(), 3)
        m.submodules.fitter = fitter = PageFitter(shape, BUFFERS)
        m.submodules.plane_packer = planes = PlanePacker(shape, BUFFERS)
        m.submodules.payload_packer = payload = PayloadPacker(shape, BUFFERS)
        m.submodules.buffers = buffers = PageBuffers(shape, BUFFERS)
        m.submodules.sender = sender = PageSender(shape)

        # Jobs and groups go two ways each. Groups wait nowhere.
        m.d.comb += [
            jobs.input.payload.codec.eq(self.job.payload.codec),
            jobs.input.payload.blocks.eq(self.job.payload.blocks),
            jobs.input.valid.eq(self.job.valid & collector.job.ready),
            collector.job.payload.eq(jobs.input.payload),
            collector.job.valid.eq(self.job.valid & jobs.input.ready),
            self.job.ready.eq(jobs.input.ready & collector.job.ready),
            collector.room.eq(ring.room & sampler.room),
            ring.group.eq(marked(collector.group, collector.codec == Codec.WINDOW32)),
            ring.valid.eq(collector.valid),
            ring.last.eq(collector.last),
            sampler.group.eq(collector.group),
            sampler.valid.eq(collector.valid),
            sampler.last.eq(collector.last),
            sampler.wide.eq(collector.codec == Codec.WINDOW32),
        ]
        forward(m, collector, self, ("data",))
        connect(m, jobs.output, fitter.job)
        connect(m, sampler.choices, fitter.choices)
        m.d.comb += [
            ring.restart.eq(fitter.restart),
            ring.restart_at.eq(fitter.restart_at),
            ring.retired.eq(fitter.retired),
            classifier.valid.eq(ring.next_valid & ~fitter.restart),
            classifier.at.eq(ring.next_at),
            classifier.group.eq(Cat(one.octets for one in ring.next_group)),
            classifier.last.eq(ring.next_last),
            classifier.wide.eq(fitter.wide),
            classifier.choice.eq(fitter.choice),
            classifier.restart.eq(fitter.restart),
            classifier.restart_at.eq(fitter.restart_at),
            classifier.read_at.eq(fitter.read_at),
            fitter.read.eq(classifier.read),
            classifier.classes_at.eq(fitter.classes_at),
            fitter.classes.eq(classifier.classes),
            fitter.done.eq(classifier.done),
            fitter.buffer_free.eq(buffers.free),
            buffers.begins.eq(fitter.begins),
            *(packer.valid.eq(fitter.part_valid) for packer in (planes, payload)),
            *(packer.part.eq(fitter.part) for packer in (planes, payload)),
            ring.read_at.eq(payload.read_at),
            payload.group.eq(ring.read_group),
            buffers.closes.eq(fitter.part_valid & fitter.part.closes),
            buffers.page.eq(fitter.part.page_end),
            buffers.buffer.eq(fitter.part.buffer),
            buffers.planes_end.eq(planes.end),
            buffers.payload_end.eq(payload.end),
            buffers.row_write.eq(planes.write),
            *(theirs.eq(ours) for theirs, ours in zip(buffers.row_address, planes.address, strict=True)),
            *(theirs.eq(ours) for theirs, ours in zip(buffers.row_data, planes.data, strict=True)),
            buffers.line_write.eq(payload.write),
            buffers.line_address.eq(payload.address),
            buffers.line_in.eq(payload.data),
            sender.whole.eq(buffers.whole),
            sender.last.eq(buffers.last),
            buffers.take.eq(sender.take),
            buffers.read.eq(sender.read),
            buffers.line.eq(sender.line),
            buffers.release.eq(sender.release),
            sender.line_data.eq(buffers.line_data),
        ]
        forward(m, sender, self, ("page", "output"))
        return m
