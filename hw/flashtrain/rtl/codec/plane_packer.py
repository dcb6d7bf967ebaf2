"""Planes of slices to rows of a page buffer."""

from amaranth import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.codec import SLICE_BYTES, Mode
from flashtrain.spec.geometry import bits_for

from .byte_network import PLACE_BITS, delayed
from .classes import planes
from .layouts import EncoderShape
from .page_fitter import END_CYCLES, PartLayout

ROW_BYTES = SLICE_BYTES
_BYTES = 6
"""Of the planes of a slice at most."""


class PlanePacker(wiring.Component):
    """Moves the planes of parts to their places, and writes each row of 32 bytes when it is complete.

    The last row of a page is written with its last part. Bytes that are not planes have no meaning.

    Latency: 4 cycles. Throughput: a part per cycle.

    Members
    -------
    valid : In(1)
    part : In(PartLayout)
    write : Out(rows)                    write a row of each of these memories, one for each row of a line
    address : Out(lines * buffers).array(rows)
    data : Out(256).array(rows)
    end : Out     offset behind the planes, `END_CYCLES` after `part`
    """

    def __init__(self, shape: EncoderShape, buffers: int):
        self.shape = shape
        self.buffers = buffers
        super().__init__({
            "valid": In(1),
            "part": In(PartLayout(shape, buffers)),
            "write": Out(shape.rows),
            "address": Out(shape.page.line_bits + bits_for(buffers)).array(shape.rows),
            "data": Out(8 * ROW_BYTES).array(shape.rows),
            "end": Out(shape.page.offset_bits),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        shape, part = self.shape.page, self.part
        slices, row_bits = self.shape.slices, self.shape.row_bits
        offset, most = shape.offset_bits, slices * _BYTES

        # 1: the planes of the group, one slice after the other, and which bytes the page takes.
        per_slice = [planes(part.classes[number].as_value(), part.wide) for number in range(slices)]
        octets = Signal(8 * most, reset_less=True)
        taken = Signal(most, reset_less=True)
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
            Cat(octets.word_select(lane, 8), taken[lane]) if lane < most else Const(0, 9)
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
        line, next_line = (one[row_bits:][: shape.line_bits] for one in (row, next_row))
        crosses = Signal()
        m.d.comb += crosses.eq(row != next_row)
        merged = Cat(
            Mux(below[lane], kept[lane], lanes[lane][:8]) for lane in range(ROW_BYTES)
        )  # fmt: skip
        behind = Cat(lane[:8] for lane in lanes)
        for number in range(self.shape.rows):
            here, there = Signal(name=f"here_{number}"), Signal(name=f"there_{number}")
            m.d.comb += [
                here.eq(row[:row_bits] == number),
                there.eq((next_row[:row_bits] == number) & crosses),
            ]
            m.d.sync += [
                self.write[number].eq(valid & ((here & (crosses | closes)) | (there & closes))),
                self.address[number].eq(Cat(Mux(here, line, next_line), buffer)),
                self.data[number].eq(Mux(here, merged, behind)),
            ]
        return m
