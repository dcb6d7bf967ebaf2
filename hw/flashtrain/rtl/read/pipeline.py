"""The read command pipeline: channel buffers to tensor buffer."""

from amaranth import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig

from ..axi import WritePort
from ..forward import forward
from ..layouts import SEQUENCE_BITS, ReadHead, ReadJob, ReadPage, ReturnedPage
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
    returned : Out(stream(ReturnedPage))
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
            "returned": Out(stream.Signature(ReturnedPage(config))),
            "page_read": Out(1),
            "busy": Out(1),
            "stall_memory": Out(1),
            "no_page": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.splitter = splitter = ReadSplitter(self.config)
        m.submodules.returner = returner = ReadReturner(self.config)
        forward(m, splitter, self, ("jobs", "issued", "pages"))
        forward(
            m, returner, self, (name for name in returner.signature.members if name in self.signature.members)
        )
        m.d.comb += [
            returner.job.eq(self.jobs.payload),
            returner.job_begins.eq(self.jobs.valid & self.jobs.ready),
        ]
        return m
