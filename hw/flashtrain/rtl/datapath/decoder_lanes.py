"""The decoder lanes: pages of streams with a codec to data in the tensor buffer."""

from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.codec.decoder_lane import DecoderLane
from flashtrain.rtl.codec.page_verdict import PageVerdict
from flashtrain.rtl.layouts import ReturnedPage
from flashtrain.rtl.lib.axi import WritePort
from flashtrain.rtl.lib.streams import Queue, RoundRobin, StreamMerge
from flashtrain.spec import FmsConfig
from flashtrain.spec.codec import SLICE_BYTES
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.streams import Codec

from .page_check import CheckedPage
from .slice_writer import SliceTarget, SliceWriter, slice_parts

PAGES_PER_LANE = 3  # two in the lane's buffers, and one whose slices are written


def lane_count(config: FmsConfig) -> int:
    """One lane for each slice of a beat."""
    return slice_parts(config)


class DecoderLanes(wiring.Component):
    """Gives each page to a lane that has room, and writes what comes out of it.

    A page goes whole through one lane. Pages of a command may overtake each other: a page's header says where
    its data belong. A lane that accepts a page has a buffer for all its beats. So it never waits for its
    writer while other pages wait behind it, and the write port cannot deadlock.

    Latency: none from a page to its lane; see `DecoderLane` and `SliceWriter`. Throughput: a beat of the data
    port per cycle, as long as all lanes have pages.

    Members
    -------
    pages : In(stream(CheckedPage))    with a codec
    lane : Out                         the lane that accepts the page
    data : In(16 * channels)           a beat of a page, all of whose beats come one after the other, for the
      lane whose bit is set in
    data_valid : In(lanes)
    data_ready : Out(lanes)
    axis : Out(WritePort).array(lanes)
    returned : Out(stream(ReturnedPage))
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        self.count = lane_count(config)
        port = WritePort(
            address_bits=config.address_bits, data_bits=8 * config.data_bytes, parts=slice_parts(config)
        )
        super().__init__({
            "pages": In(stream.Signature(CheckedPage(config))),
            "lane": Out(bits_for(self.count)),
            "data": In(8 * config.data_bytes),
            "data_valid": In(self.count),
            "data_ready": Out(self.count),
            "axis": Out(port).array(self.count),
            "returned": Out(stream.Signature(ReturnedPage(config))),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, page = self.config, self.pages.payload
        m.submodules.turn = turn = RoundRobin(self.count)
        m.submodules.merge = merge = StreamMerge(ReturnedPage(config), self.count)
        connect(m, merge.output, flipped(self.returned))
        m.submodules.verdict = verdict = PageVerdict(config, self.count)
        m.d.comb += [verdict.taken.eq(self.data_valid & self.data_ready), verdict.data.eq(self.data)]
        slice_bits = bits_for(config.geometry.page_bytes // SLICE_BYTES)
        rooms, doubles = Signal(self.count), Signal()
        m.d.comb += [
            doubles.eq(page.codec == Codec.ROUND16),
            turn.requests.eq(rooms),
            turn.advance.eq(self.pages.valid & self.pages.ready),
            self.pages.ready.eq(rooms.any()),
            self.lane.eq(turn.index),
        ]
        for number in range(self.count):
            m.submodules[f"lane_{number}"] = lane = DecoderLane(config)
            m.submodules[f"writer_{number}"] = writer = SliceWriter(config)
            m.submodules[f"targets_{number}"] = targets = Queue(SliceTarget(config), PAGES_PER_LANE)
            accepts = Signal(name=f"accepts_{number}")
            m.d.comb += [
                rooms[number].eq(lane.page.ready & targets.input.ready),
                accepts.eq(self.pages.valid & turn.chosen[number]),
                lane.page.valid.eq(accepts),
                lane.page.payload.codec.eq(page.codec),
                lane.page.payload.expanded.eq((page.expanded << slice_bits) >> doubles),
                lane.page.payload.is_first.eq(page.is_first),
                lane.page.payload.is_last.eq(page.is_last),
                targets.input.valid.eq(accepts),
                targets.input.payload.tag.eq(page.tag),
                targets.input.payload.buffer_block.eq(page.buffer_block),
                targets.input.payload.failed.eq(page.failed),
                targets.input.payload.doubles.eq(doubles),
                targets.input.payload.effort.eq(page.effort),
                lane.beats.payload.eq(self.data),
                lane.beats.valid.eq(self.data_valid[number]),
                self.data_ready[number].eq(lane.beats.ready),
                lane.judged.eq(verdict.judged[number]),
                lane.damaged.eq(verdict.damaged),
            ]
            connect(m, targets.output, writer.target)
            connect(m, lane.head, writer.head)
            connect(m, lane.slices, writer.slices)
            connect(m, writer.axi, flipped(self.axis[number]))
            connect(m, writer.returned, merge.inputs[number])
        return m
