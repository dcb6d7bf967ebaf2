"""Buffers of pages between their encoding and their output."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.forward import follow
from flashtrain.rtl.lib.memories import IN_BLOCKS
from flashtrain.spec.codec import CHECK_BYTES, PageHeader
from flashtrain.spec.geometry import bits_for

from .byte_network import PLACE_BITS, delayed
from .layouts import EncoderShape, PageShape
from .page_counters import PageCounters
from .page_fitter import END_CYCLES, PageEndLayout
from .plane_packer import ROW_BYTES

LINE_CYCLES = 4
"""From a request for a line until it is there."""


class BufferedLayout(data.StructLayout):
    """The content of a page buffer: of the header, and where planes and payload end."""

    def __init__(self, shape: PageShape):
        super().__init__({
            "page": PageEndLayout(), "planes": shape.offset_bits, "payload": shape.offset_bits,
        })  # fmt: skip


def _bytes_beside(m: Module, name: str, rows: int, line: Value, offset: Value, *, behind: bool) -> Value:
    """The bytes of a line that are before an offset in the page, or behind it: two cycles later."""
    at, lane_at = offset[PLACE_BITS:][: len(line) + bits_for(rows)], offset[:PLACE_BITS]
    whole, cut = Signal(rows, name=f"{name}_whole", reset_less=True), Signal(rows, name=f"{name}_cut")
    lanes = Signal(ROW_BYTES, name=f"{name}_lanes", reset_less=True)
    for row in range(rows):
        number = Cat(Const(row, bits_for(rows)), line)
        m.d.sync += [whole[row].eq(number > at if behind else number < at), cut[row].eq(number == at)]
    m.d.sync += lanes.eq(Cat(lane_at < lane if behind else lane_at > lane for lane in range(ROW_BYTES)))
    result = Signal(rows * ROW_BYTES, name=f"is_{name}", reset_less=True)
    m.d.sync += result.eq(Cat(
        whole[row] | (cut[row] & lanes[lane]) for row in range(rows) for lane in range(ROW_BYTES)
    ))  # fmt: skip
    return result


class PageBuffers(wiring.Component):
    """Keeps planes and payload of pages in memories of their own, and outputs the lines of whole pages.

    A line has the header, planes, zeros and payload. The bytes of the checksum are zero.

    Latency: `LINE_CYCLES` of a line.
    Throughput: a line per cycle. Cost: two memories of all pages.

    Members
    -------
    begins : In(1), free : Out(1)   a page takes a buffer; there is one
    closes : In(1)             the last part of a page
    page : In(PageEndLayout), buffer : In    with it
    planes_end, payload_end : In   `END_CYCLES` later
    rows, lines : In           the writes of the packers
    whole : Out(1), last : Out(1)   a whole page waits; the oldest is the last of its append
    take : In(1)               pulse: it is to be output
    read : In(1), line : In    request a line of the oldest page that was taken
    release : In(1)            pulse: the last line of it is requested
    line_data : Out(line)
    """

    def __init__(self, shape: EncoderShape, buffers: int):
        self.shape = shape.page
        self.rows = shape.rows
        self.buffers = buffers
        address = self.shape.line_bits + bits_for(buffers)
        super().__init__({
            "begins": In(1),
            "free": Out(1),
            "closes": In(1),
            "page": In(PageEndLayout()),
            "buffer": In(bits_for(buffers)),
            "planes_end": In(self.shape.offset_bits),
            "payload_end": In(self.shape.offset_bits),
            "row_write": In(shape.rows),
            "row_address": In(address).array(shape.rows),
            "row_data": In(8 * ROW_BYTES).array(shape.rows),
            "line_write": In(1),
            "line_address": In(address),
            "line_in": In(8 * self.shape.line_bytes),
            "whole": Out(1),
            "last": Out(1),
            "take": In(1),
            "read": In(1),
            "line": In(self.shape.line_bits),
            "release": In(1),
            "line_data": Out(8 * self.shape.line_bytes),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        shape, line_bits = self.shape, 8 * self.shape.line_bytes
        m.submodules.pages = pages = PageCounters(self.buffers)
        follow(m, pages, self, ("begins", "closes", "take", "release"))
        lasts = Signal(self.buffers)
        m.d.comb += [
            self.free.eq(pages.free),
            self.whole.eq(pages.whole),
            self.last.eq(lasts.bit_select(pages.offered, 1)),
        ]
        with m.If(self.closes):
            m.d.sync += lasts.bit_select(self.buffer, 1).eq(self.page.last)

        m.submodules.content = content = memory.Memory(
            shape=BufferedLayout(shape), depth=self.buffers, init=[]
        )  # fmt: skip
        write, read = content.write_port(), content.read_port(domain="comb")
        buffered = Signal(BufferedLayout(shape), reset_less=True)
        m.d.comb += [
            write.en.eq(delayed(m, self.closes, END_CYCLES, "closes")),
            write.addr.eq(delayed(m, self.buffer, END_CYCLES, "buffer")),
            write.data.page.eq(delayed(m, self.page.as_value(), END_CYCLES, "page")),
            write.data.planes.eq(self.planes_end),
            write.data.payload.eq(self.payload_end),
            read.addr.eq(pages.output),
        ]
        m.d.sync += buffered.eq(read.data)

        # 1: the address, and where planes end and payload begins. 2: a line of both memories.
        depth = shape.lines * self.buffers
        address, line = Signal(shape.line_bits + bits_for(self.buffers)), Signal.like(self.line)
        m.d.sync += address.eq(Cat(self.line, pages.output))
        m.d.comb += line.eq(address)
        fetched = []
        for number in range(self.rows):
            m.submodules[f"planes_{number}"] = rows = memory.Memory(
                shape=8 * ROW_BYTES, depth=depth, init=[], attrs=IN_BLOCKS
            )
            to_rows, of_rows = rows.write_port(), rows.read_port()
            m.d.comb += [
                to_rows.en.eq(self.row_write[number]),
                to_rows.addr.eq(self.row_address[number]),
                to_rows.data.eq(self.row_data[number]),
                of_rows.addr.eq(address),
            ]
            fetched.append(of_rows.data)
        m.submodules.payload = lines = memory.Memory(shape=line_bits, depth=depth, init=[], attrs=IN_BLOCKS)
        to_lines, of_lines = lines.write_port(), lines.read_port()
        m.d.comb += [
            to_lines.en.eq(self.line_write),
            to_lines.addr.eq(self.line_address),
            to_lines.data.eq(self.line_in),
            of_lines.addr.eq(address),
        ]

        # 3: out of the memories; masks of bytes.
        planes, payload = Signal(line_bits, reset_less=True), Signal(line_bits, reset_less=True)
        m.d.sync += [planes.eq(Cat(fetched)), payload.eq(of_lines.data)]
        is_plane = _bytes_beside(m, "planes", self.rows, line, buffered.planes, behind=False)
        is_payload = _bytes_beside(m, "payload", self.rows, line, buffered.payload, behind=True)
        first = delayed(m, line == 0, 2, "first")
        last = delayed(m, line == shape.lines - 1, 2, "last")

        # 4: the line. The page is the same all along its first line.
        page, h = buffered.page, PageHeader
        header = Signal(8 * h.BYTES, reset_less=True)
        fields = {
            h.magic: h.MAGIC, h.version: h.VERSION, h.codec: page.codec, h.mode: page.choice.mode,
            h.last: page.last, h.base: page.choice.base, h.first: page.first, h.total: page.total,
            h.slices: page.behind - page.first,
        }  # fmt: skip
        m.d.sync += [header[f.low : f.low + f.width].eq(value) for f, value in fields.items()]
        for place in range(shape.line_bytes):
            bits = slice(8 * place, 8 * place + 8)
            of_planes, of_payload = is_plane[place], is_payload[place]
            octet = (planes[bits] & of_planes.replicate(8)) | (payload[bits] & of_payload.replicate(8))
            if place < h.BYTES:
                octet = Mux(first, header[bits], octet)
            if place >= shape.line_bytes - CHECK_BYTES:
                octet = Mux(last, 0, octet)
            m.d.sync += self.line_data[bits].eq(octet)
        return m
