"""The pages of a lane in block memory, read by half a line."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.memories import IN_BLOCKS
from flashtrain.spec.geometry import bits_for

from .byte_network import delayed
from .layouts import LINE_BYTES, PageShape

BUFFERS = 2
HALF_BYTES = LINE_BYTES // 2
HALF_CYCLES = 4
"""From a request that is taken to its half line."""


def half_bits(shape: PageShape) -> int:
    """Of the number of a half line in a page."""
    return shape.line_bits + 1


class LineMemory(wiring.Component):
    """Two pages, in lines of 128 bytes. One half line is read per cycle.

    The payload of each buffer has every other cycle, and planes take those that payload leaves. So payload
    of 32 bytes per cycle is certain, whatever else is read.

    Latency: `HALF_CYCLES`. Throughput: a half line per cycle. Cost: block memories of the width of a line.

    Members
    -------
    write : In(1), write_buffer : In, line : In, data : In(1024)   a line of a page
    payload_requests : In(2)   from registers, one per buffer
    payload_halves : In(2 numbers of half lines)
    payload_taken : Out(2)     the request is taken
    planes_request : In(1)     from a register
    planes_half : In, planes_buffer : In
    planes_taken : Out(1)      the request of the cycle before was taken; that of this cycle is not
    half : Out(512)            `HALF_CYCLES` after a request that is taken
    """

    def __init__(self, page_bytes: int):
        self.shape = PageShape(page_bytes)
        bits = half_bits(self.shape)
        super().__init__({
            "write": In(1),
            "write_buffer": In(bits_for(BUFFERS)),
            "line": In(self.shape.line_bits),
            "data": In(8 * LINE_BYTES),
            "payload_requests": In(BUFFERS),
            "payload_halves": In(bits).array(BUFFERS),
            "payload_taken": Out(BUFFERS),
            "planes_request": In(1),
            "planes_half": In(bits),
            "planes_buffer": In(bits_for(BUFFERS)),
            "planes_taken": Out(1),
            "half": Out(8 * HALF_BYTES),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        turn, payload = Signal(), Signal()  # whose turn it is; it has a request
        m.d.sync += turn.eq(~turn)
        m.d.comb += [
            payload.eq(Mux(turn, self.payload_requests[1], self.payload_requests[0])),
            self.payload_taken.eq(Cat(payload & ~turn, payload & turn)),
        ]
        m.d.sync += self.planes_taken.eq(self.planes_request & ~payload & ~self.planes_taken)
        half = Signal(half_bits(self.shape), reset_less=True)
        buffer = Signal.like(self.planes_buffer, reset_less=True)
        m.d.sync += [
            half.eq(
                Mux(payload, Mux(turn, self.payload_halves[1], self.payload_halves[0]), self.planes_half)
            ),
            buffer.eq(Mux(payload, turn, self.planes_buffer)),
        ]

        m.submodules.pages = pages = memory.Memory(
            shape=8 * LINE_BYTES, depth=self.shape.lines * BUFFERS, init=[], attrs=IN_BLOCKS
        )
        write, read = pages.write_port(), pages.read_port()
        m.d.comb += [
            write.en.eq(self.write),
            write.addr.eq(Cat(self.line, self.write_buffer)),
            write.data.eq(self.data),
            read.addr.eq(Cat(half[1:], buffer)),
        ]
        line, result = Signal(8 * LINE_BYTES, reset_less=True), Signal(8 * HALF_BYTES, reset_less=True)
        upper = delayed(m, half[0], HALF_CYCLES - 2, "upper")
        m.d.sync += [
            line.eq(read.data),
            result.eq(Mux(upper, line[8 * HALF_BYTES :], line[: 8 * HALF_BYTES])),
        ]
        m.d.comb += self.half.eq(result)
        return m
