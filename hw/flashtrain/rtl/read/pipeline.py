"""The read command pipeline: channel buffers to tensor buffer."""

from amaranth import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig

from ..axi import WritePort
from ..layouts import SEQUENCE_BITS, PageEvent, ReadHead, ReadJob, ReadPage
from .returner import ReadReturner
from .splitter import ReadSplitter


class ReadPipeline(wiring.Component):
    """Asks channels for the pages of read jobs and writes them to the tensor buffer as they come.

    Members
    -------
    jobs : In(stream(ReadJob))
    issued : In(SEQUENCE_BITS)           from the write pipeline
    pages : Out(stream(ReadPage)).array(channels)
    heads, data, data_valid, data_ready, data_chosen   to the channels, see :class:`ReadReturner`
    axi : Out(WritePort)                 the data port's writing side
    returned : Out(stream(PageEvent))
    page_read, busy, stall_memory, no_page : Out(1)   see :class:`ReadReturner`
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        channels, bits = config.geometry.channels, 8 * config.data_bytes
        super().__init__({
            "jobs": In(stream.Signature(ReadJob(config))),
            "issued": In(SEQUENCE_BITS),
            "pages": Out(stream.Signature(ReadPage(config))).array(channels),
            "heads": In(stream.Signature(ReadHead(config))).array(channels),
            "data": In(bits),
            "data_valid": In(channels),
            "data_ready": Out(channels),
            "data_chosen": Out(channels),
            "axi": Out(WritePort(address_bits=config.address_bits, data_bits=bits)),
            "returned": Out(stream.Signature(PageEvent(config))),
            "page_read": Out(1),
            "busy": Out(1),
            "stall_memory": Out(1),
            "no_page": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.splitter = splitter = ReadSplitter(self.config)
        m.submodules.returner = returner = ReadReturner(self.config)
        wiring.connect(m, splitter.jobs, wiring.flipped(self.jobs))
        wiring.connect(m, returner.axi, wiring.flipped(self.axi))
        wiring.connect(m, returner.returned, wiring.flipped(self.returned))
        m.d.comb += [
            splitter.issued.eq(self.issued),
            returner.data.eq(self.data),
            returner.data_valid.eq(self.data_valid),
            self.data_ready.eq(returner.data_ready),
            self.data_chosen.eq(returner.data_chosen),
        ]
        for number in range(self.config.geometry.channels):
            wiring.connect(m, splitter.pages[number], wiring.flipped(self.pages[number]))
            wiring.connect(m, wiring.flipped(self.heads[number]), returner.heads[number])
        m.d.comb += [
            getattr(self, name).eq(getattr(returner, name))
            for name in ("page_read", "busy", "stall_memory", "no_page")
        ]
        return m
