"""Payload of slices to lines of a page buffer."""

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.codec import SLICE_BYTES, Mode
from flashtrain.spec.geometry import bits_for

from .byte_network import COMPACTOR_CYCLES, PLACE_BITS, BytePlaces, SliceCompactor, delayed
from .classes import rearranged, valid_bytes
from .group_ring import GROUP_CYCLES, MARKED_LANES, READ_CYCLES, Marked
from .layouts import EncoderShape
from .page_fitter import END_CYCLES, PartLayout

_MOVED_CYCLE = READ_CYCLES + COMPACTOR_CYCLES
_MERGED_CYCLE = _MOVED_CYCLE + 2
PAYLOAD_CYCLES = _MERGED_CYCLE + 3
"""From a part until its page is in the memory, if it closes it."""


class PayloadPacker(wiring.Component):
    """Compacts the payload of parts, and writes each line when it is complete.

    A slice goes to its places in a row of 32 bytes (`byte_network`), and the slices of a group to the rows
    of a line. The line at work stays in a register. The last line of a page follows its last part.

    Latency: `PAYLOAD_CYCLES`. Throughput: a part per cycle. The part behind one that closes a page must not
    complete a line: it holds slices that the page had no room for.

    Members
    -------
    valid : In(1)
    part : In(PartLayout)
    read_at : Out                        the group of the part
    group : In(Marked)                   from the ring, `READ_CYCLES` after the part
    write : Out(1), address : Out, data : Out   the memory of lines
    end : Out     offset of the last free byte before the payload, `END_CYCLES` after `part`
    """

    def __init__(self, shape: EncoderShape, buffers: int):
        self.shape = shape
        self.buffers = buffers
        super().__init__({
            "valid": In(1),
            "part": In(PartLayout(shape, buffers)),
            "read_at": Out(shape.index_bits),
            "group": In(Marked(shape.group_bytes)),
            "write": Out(1),
            "address": Out(shape.page.line_bits + bits_for(buffers)),
            "data": Out(8 * shape.page.line_bytes),
            "end": Out(shape.page.offset_bits),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        shape, part = self.shape.page, self.part
        slices, line_rows, row_bits = self.shape.slices, self.shape.rows, self.shape.row_bits
        offset, line_bytes, place_bits = shape.offset_bits, shape.line_bytes, PLACE_BITS + row_bits

        # Offsets of the payload of each slice, and behind the last: planes and free bytes are below. Then of
        # the first byte of all, and behind the last.
        above = [Signal(offset, name=f"above_{number}", reset_less=True) for number in range(slices + 1)]
        m.d.sync += [
            one.eq(free + plane_bytes)
            for one, free, plane_bytes in zip(above, part.free, part.plane_bytes, strict=True)
        ]
        first, last, planes_1 = (
            Signal(offset, name=name, reset_less=True) for name in ("first", "last", "planes_1")
        )
        m.d.sync += [
            first.eq(Array(above)[delayed(m, part.begin, 1, "part_begin")]),
            last.eq(Array(above)[delayed(m, part.end, 1, "part_end")]),
            planes_1.eq(part.planes - 1),
        ]
        planes = delayed(m, planes_1, 1, "planes")

        def offset_of(name: str, above_planes: Value) -> Value:
            result = Signal(offset, name=name, reset_less=True)
            m.d.sync += result.eq(planes + above_planes)
            return result

        begin, end = offset_of("begin", first), offset_of("end", last)
        starts = [offset_of(f"start_{number}", delayed(m, above[number], 1, f"above_{number}"))
                  for number in range(slices)]  # fmt: skip
        m.d.comb += self.end.eq(end)

        # Places of a line not above the first byte: by place in the row and by row.
        begin = delayed(m, begin, _MERGED_CYCLE - 2 - END_CYCLES, "begin")
        place, row = begin[:PLACE_BITS], begin[PLACE_BITS:place_bits]
        lanes_below = Signal(SLICE_BYTES, reset_less=True)
        rows_below, rows_above = Signal(line_rows, reset_less=True), Signal(line_rows, reset_less=True)
        m.d.sync += [
            lanes_below.eq(Cat(place >= lane for lane in range(SLICE_BYTES))),
            rows_below.eq(Cat(row > number for number in range(line_rows))),
            rows_above.eq(Cat(row < number for number in range(line_rows))),
        ]
        from_here = Signal(line_bytes, reset_less=True)
        m.d.sync += from_here.eq(Cat(
            rows_below[number] | (lanes_below[lane] & ~rows_above[number])
            for number in range(line_rows) for lane in range(SLICE_BYTES)
        ))  # fmt: skip
        begin, end = delayed(m, begin, 2, "begin_last"), delayed(m, end, _MERGED_CYCLE - END_CYCLES, "end")

        # The valid bytes of each slice to their places.
        elements = Signal(8 * slices * SLICE_BYTES, reset_less=True)
        m.d.sync += elements.eq(Cat(
            rearranged([marked.octets.word_select(lane, 16) for lane in range(MARKED_LANES)], marked.wide)
            for marked in self.group
        ))  # fmt: skip
        m.d.comb += self.read_at.eq(delayed(m, part.index, READ_CYCLES - GROUP_CYCLES, "index"))
        moved, moved_valid, rows = [], [], []
        for number in range(slices):
            m.submodules[f"places_{number}"] = places = BytePlaces()
            m.submodules[f"compactor_{number}"] = compactor = SliceCompactor()
            classes, without_zero = part.classes[number].as_value(), part.mode == Mode.WINDOW7
            needed = valid_bytes(m, f"needed_{number}", classes, part.wide, without_zero)
            mask = Signal(SLICE_BYTES, name=f"mask_{number}")
            m.d.sync += mask.eq(needed & (self.valid & part.taken[number]).replicate(SLICE_BYTES))
            m.d.comb += [
                places.valid.eq(mask),
                places.start.eq(starts[number]),
                compactor.valid.eq(places.placed),
                compactor.places.eq(places.places),
                compactor.bytes.eq(elements.word_select(number, 8 * SLICE_BYTES)),
            ]
            moved.append(compactor.moved)
            moved_valid.append(compactor.moved_valid)
            # The row of each place of a row that the slice reaches.
            start = delayed(m, starts[number], _MOVED_CYCLE - END_CYCLES - 1, f"place_{number}")
            rows_of_slice = Signal(
                data.ArrayLayout(row_bits, SLICE_BYTES), name=f"rows_{number}", reset_less=True
            )
            m.d.sync += [
                rows_of_slice[lane].eq(start[PLACE_BITS:place_bits] - (start[:PLACE_BITS] < lane))
                for lane in range(SLICE_BYTES)
            ]
            rows.append(rows_of_slice)

        # To the rows of a line: at each place of a line there is a byte of one slice at most.
        merged = Signal(8 * line_bytes, reset_less=True)
        arrives = Signal(line_bytes)
        late = [delayed(m, one, 1, f"moved_{number}") for number, one in enumerate(moved)]
        inside = Signal(line_bytes)
        m.d.sync += arrives.eq(inside)
        for lane in range(SLICE_BYTES):
            for row in range(line_rows):
                place = row * SLICE_BYTES + lane
                ours = Cat(
                    moved_valid[number][lane] & (rows[number][lane] == row) for number in range(slices)
                )
                source = Signal(self.shape.slice_bits, name=f"source_{place}", reset_less=True)
                m.d.sync += [
                    inside[place].eq(ours.any()),
                    *(
                        source[bit].eq(
                            Cat(ours[number] for number in range(slices) if number >> bit & 1).any()
                        )
                        for bit in range(len(source))
                    ),
                ]
                octets = [one.word_select(lane, 8) for one in late]
                for bit in source:
                    octets = [
                        Mux(bit, high, low) for low, high in zip(octets[::2], octets[1::2], strict=True)
                    ]
                m.d.sync += merged.word_select(place, 8).eq(octets[0])

        # The line at work, from its end downwards.
        kept = Signal(8 * line_bytes, reset_less=True)
        valid, closes = self.valid, part.closes
        for cycle in range(_MERGED_CYCLE):
            before = valid, closes
            valid, closes = Signal(name=f"valid_{cycle}"), Signal(name=f"closes_{cycle}")
            m.d.sync += [valid.eq(before[0]), closes.eq(before[1])]
        line, next_line = (one[place_bits:][: shape.line_bits] for one in (begin, end))
        buffer = delayed(m, part.buffer, _MERGED_CYCLE, "buffer")
        crosses, flushes = Signal(), Signal()
        flush_line, flush_buffer = Signal.like(line), Signal.like(buffer)
        m.d.comb += crosses.eq(line != next_line)
        m.d.sync += [
            flushes.eq(valid & closes & crosses),
            flush_line.eq(next_line),
            flush_buffer.eq(buffer),
            self.write.eq(flushes | (valid & (closes | crosses))),
            self.address.eq(Mux(flushes, Cat(flush_line, flush_buffer), Cat(line, buffer))),
        ]
        for place in range(line_bytes):
            new, old = merged.word_select(place, 8), kept.word_select(place, 8)
            with m.If(arrives[place]):
                m.d.sync += old.eq(new)
            m.d.sync += self.data.word_select(place, 8).eq(Mux(from_here[place] & ~flushes, new, old))
        return m
