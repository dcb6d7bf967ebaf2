"""Planes of slices to rows of a page buffer."""

from amaranth import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.codec import SLICE_BYTES, Mode
from flashtrain.spec.geometry import bits_for

from .byte_network import PLACE_BITS, delayed
from .classes import planes
from .layouts import GROUP_SLICES, PageShape
from .page_fitter import END_CYCLES, PartLayout

ROW_BYTES = SLICE_BYTES
ROWS = 4
"""Of a line; each is in a memory of its own."""
_BYTES = 24
"""Of the planes of a group at most."""


class PlanePacker(wiring.Component):
    """Moves the planes of parts to their places, and writes each row of 32 bytes when it is complete.

    The last row of a page is written with its last part. Bytes that are not planes have no meaning.

    Latency: 4 cycles. Throughput: a part per cycle.

    Members
    -------
    valid : In(1)
    part : In(PartLayout)
    write : Out(4)                       write a row of each of these memories
    address : Out(lines * buffers).array(4)
    data : Out(256).array(4)
    end : Out     offset behind the planes, `END_CYCLES` after `part`
    """

    def __init__(self, page_bytes: int, buffers: int):
        self.shape = PageShape(page_bytes)
        self.buffers = buffers
        super().__init__({
            "valid": In(1),
            "part": In(PartLayout(self.shape, buffers)),
            "write": Out(ROWS),
            "address": Out(self.shape.line_bits + bits_for(buffers)).array(ROWS),
            "data": Out(8 * ROW_BYTES).array(ROWS),
            "end": Out(self.shape.offset_bits),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        shape, part = self.shape, self.part
        offset = shape.offset_bits

        # 1: the planes of the group, one slice after the other, and which bytes the page takes.
        per_slice = [planes(part.classes[number].as_value(), part.wide) for number in range(GROUP_SLICES)]
        octets = Signal(8 * _BYTES, reset_less=True)
        taken = Signal(_BYTES, reset_less=True)
        begin, end = Signal(offset, reset_less=True), Signal(offset, reset_less=True)
        base = Signal(PLACE_BITS, reset_less=True)
        with m.Switch(Cat(part.mode, part.wide)):
            for mode in Mode:
                for wide in (0, 1):
                    octets_of_slice = shape.stride(bool(wide), mode)
                    bits = octets_of_slice * 8 // mode.plane_bits if mode.plane_bits else 0
                    chosen = [plane[:bits] for row in per_slice for plane in row[: mode.plane_bits]]
                    with m.Case(wide << 2 | mode):
                        m.d.sync += [
                            octets.eq(Cat(chosen)),
                            taken.eq(Cat(bit.replicate(octets_of_slice) for bit in part.taken)),
                        ]
        begin_above, end_above = Signal(PLACE_BITS, reset_less=True), Signal(PLACE_BITS, reset_less=True)
        above = Array(part.plane_bytes)
        m.d.sync += [base.eq(part.planes), begin_above.eq(above[part.begin]), end_above.eq(above[part.end])]
        planes_1 = delayed(m, part.planes, 1, "planes")
        m.d.sync += [begin.eq(planes_1 + begin_above), end.eq(planes_1 + end_above)]

        # 2 and 3: rotated to their places in a row. Byte 8 of each lane: it is taken.
        lanes = [
            Cat(octets.word_select(lane, 8), taken[lane]) if lane < _BYTES else Const(0, 9)
            for lane in range(ROW_BYTES)
        ]
        amount = base
        for cycle, levels in enumerate(((0, 1, 2), (3, 4))):
            for level in levels:
                lanes = [
                    Mux(amount[level], lanes[(lane - (1 << level)) % ROW_BYTES], lanes[lane])
                    for lane in range(ROW_BYTES)
                ]
            held = [Signal(9, name=f"lane_{cycle}_{lane}", reset_less=True) for lane in range(ROW_BYTES)]
            m.d.sync += [now.eq(lane) for now, lane in zip(held, lanes, strict=True)]
            lanes, amount = held, delayed(m, amount, 1, f"amount_{cycle}")
        begin_3, end_3 = delayed(m, begin, 1, "begin"), delayed(m, end, END_CYCLES - 2, "end")
        m.d.comb += self.end.eq(end_3)
        below = Signal(ROW_BYTES, reset_less=True)  # lanes below the first byte
        m.d.sync += below.eq(Cat(begin[:PLACE_BITS] > lane for lane in range(ROW_BYTES)))
        closes = delayed(m, part.closes, 3, "closes")
        buffer = delayed(m, part.buffer, 3, "buffer")
        valid = self.valid
        for cycle in range(3):
            before, valid = valid, Signal(name=f"valid_{cycle}")
            m.d.sync += valid.eq(before)

        # 4: the row of the first byte, and the next one.
        kept = [Signal(8, name=f"kept_{lane}", reset_less=True) for lane in range(ROW_BYTES)]
        for now, lane in zip(kept, lanes, strict=True):
            with m.If(valid & lane[8]):
                m.d.sync += now.eq(lane[:8])
        row, next_row = begin_3[PLACE_BITS:], end_3[PLACE_BITS:]
        line, next_line = (one[2:][: shape.line_bits] for one in (row, next_row))
        crosses = Signal()
        m.d.comb += crosses.eq(row != next_row)
        merged = Cat(
            Mux(below[lane], kept[lane], lanes[lane][:8]) for lane in range(ROW_BYTES)
        )  # fmt: skip
        behind = Cat(lane[:8] for lane in lanes)
        for number in range(ROWS):
            here, there = Signal(name=f"here_{number}"), Signal(name=f"there_{number}")
            m.d.comb += [
                here.eq(row[:2] == number),
                there.eq((next_row[:2] == number) & crosses),
            ]
            m.d.sync += [
                self.write[number].eq(valid & ((here & (crosses | closes)) | (there & closes))),
                self.address[number].eq(Cat(Mux(here, line, next_line), buffer)),
                self.data[number].eq(Mux(here, merged, behind)),
            ]
        return m
