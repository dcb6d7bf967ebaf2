"""The tensor buffer of commands of hosts: the controller's bursts reach the host's memory in place."""

from amaranth import Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.layouts import STATUS_BITS
from flashtrain.rtl.lib.axi import ReadPort, WritePort
from flashtrain.rtl.lib.write_mux import WriteMux
from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.nvme import ZoneDescriptor
from flashtrain.spec.pcie import WORD_BYTES

from .address_table import AddressTable
from .host_reader import HostReader
from .host_writer import HostWriter
from .host_writes import WriteMerge, WriteWidener
from .layouts import ADDRESS_BITS, MOST_BYTES, PAGE_EXPONENT_BITS, BlockRun, HostWrite, Piece
from .zero_writer import ZeroWriter


class DataMover(wiring.Component):
    """Stands in the place of the tensor buffer: an address of the controller is a slot and an offset.

    No data are kept. A burst of the controller becomes requests to the pages of its command, whatever the
    order of pages in the flash. So a command needs no room, and moves its data once.

    The slot of a command with data comes before its pieces, and has a status when all pieces are kept. Bursts
    are of slots with SUCCESS, and within their length. Reports come by the controller's port of queues. The
    vendor's fields of their descriptors are 0 at the host. Zeros of unwritten blocks take turns with them.

    Latency and throughput: see `HostReader` and `HostWriter`.

    Members
    -------
    page_exponent, places, pieces, pointed   see `AddressTable`
    reads : In(ReadPort), writes : In(WritePort)   the controller's data port
    reports : In(WritePort)             its reports: bursts of 64 bytes
    zeros : In(stream(BlockRun)), zeroed : Out(stream(slot))   see `ZeroWriter`
    data_read : Out(ReadPort), data_write : Out(stream(HostWrite))   see `TlpPort`
    refused : Out(slots)                the host's memory has refused data of the command in this slot
    answered : In(slots)                the command is answered, and the next one of the slot has no refusal
    """

    def __init__(
        self, config: FmsConfig, slots: int, most_bytes: int = MOST_BYTES, port_bytes: int = WORD_BYTES
    ):
        self.config, self.slots, self.most_bytes, self.port_bytes = config, slots, most_bytes, port_bytes
        wide = {"address_bits": config.address_bits, "data_bits": 8 * config.data_bytes}
        narrow = {"address_bits": config.address_bits, "data_bits": 8 * WORD_BYTES}
        super().__init__({
            "page_exponent": In(PAGE_EXPONENT_BITS),
            "places": In(stream.Signature(bits_for(slots))),
            "pieces": In(stream.Signature(Piece())),
            "pointed": Out(stream.Signature(STATUS_BITS)),
            "reads": In(ReadPort(**wide)),
            "writes": In(WritePort(**wide)),
            "reports": In(WritePort(**narrow)),
            "zeros": In(stream.Signature(BlockRun(slots, most_bytes, config.geometry.page_bytes))),
            "zeroed": Out(stream.Signature(bits_for(slots))),
            "data_read": Out(ReadPort(address_bits=ADDRESS_BITS, data_bits=8 * port_bytes)),
            "data_write": Out(stream.Signature(HostWrite(port_bytes))),
            "refused": Out(slots),
            "answered": In(slots),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        sizes = {"address_bits": self.config.address_bits, "slots": self.slots, "most_bytes": self.most_bytes}
        wide = {"beat_bytes": self.config.data_bytes, "port_bytes": self.port_bytes, **sizes}
        m.submodules.reader = reader = HostReader(**wide)
        m.submodules.writer = writer = HostWriter(**wide)
        m.submodules.reporter = reporter = HostWriter(beat_bytes=WORD_BYTES, **sizes)
        m.submodules.zeros = zeros = ZeroWriter(**sizes, block_bytes=self.config.geometry.page_bytes)
        m.submodules.words = words = WriteMux(
            2, address_bits=self.config.address_bits, data_bits=8 * WORD_BYTES
        )
        users = reader, writer, reporter
        m.submodules.table = table = AddressTable(self.slots, len(users), self.most_bytes)
        m.submodules.widener = widener = WriteWidener(self.port_bytes)
        m.submodules.merge = merge = WriteMerge(self.port_bytes, 2)
        for name in ("places", "pieces"):
            connect(m, flipped(getattr(self, name)), getattr(table, name))
        connect(m, table.pointed, flipped(self.pointed))
        for number, user in enumerate(users):
            connect(m, user.request, table.requests[number])
            m.d.comb += [user.found.eq(table.found[number]), user.address.eq(table.address)]
            m.d.comb += user.room.eq(table.room)
        connect(m, flipped(self.reads), reader.controller)
        connect(m, flipped(self.writes), writer.controller)
        connect(m, reader.host, flipped(self.data_read))
        connect(m, reporter.host, widener.words)
        connect(m, writer.host, merge.inputs[0])
        connect(m, widener.rows, merge.inputs[1])
        connect(m, merge.output, flipped(self.data_write))
        m.d.comb += table.page_exponent.eq(self.page_exponent)
        self._hide(m, words.writers[0])
        connect(m, zeros.writes, words.writers[1])
        connect(m, words.axi, reporter.controller)
        connect(m, flipped(self.zeros), zeros.runs)
        connect(m, zeros.ended, flipped(self.zeroed))
        m.d.sync += self.refused.eq(self.refused & ~self.answered)
        with m.If(reader.refused.valid):
            m.d.sync += self.refused.bit_select(reader.refused.payload, 1).eq(1)
        return m

    def _hide(self, m: Module, reports):
        """Bursts of reports, without the bytes of the vendor behind the fields of the standard."""
        first = ZoneDescriptor.time.low // (8 * WORD_BYTES)
        number = Signal(range(ZoneDescriptor.BYTES // WORD_BYTES))
        mine = self.reports
        connect(m, flipped(mine.aw), reports.aw)
        connect(m, reports.b, flipped(mine.b))
        m.d.comb += [
            reports.w.valid.eq(mine.w.valid),
            Value.cast(reports.w.payload).eq(Value.cast(mine.w.payload)),
            mine.w.ready.eq(reports.w.ready),
        ]
        with m.If(number >= first):
            m.d.comb += reports.w.payload.data.eq(0)
        with m.If(mine.w.valid & mine.w.ready):
            m.d.sync += number.eq(number + 1)
