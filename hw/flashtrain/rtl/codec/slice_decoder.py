"""Planes of slices and payload of their page to slices."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.memories import IN_BLOCKS
from flashtrain.spec.codec import CHECK_BYTES, ESCAPE, SLICE_BYTES, Mode
from flashtrain.spec.geometry import bits_for

from .byte_network import NETWORK_CYCLES, PLACE_BITS, PLACES_CYCLES, BytePlaces, SliceExpander, delayed
from .classes import restored, valid_bytes
from .counting import QUAD, count_of_quad
from .layouts import GROUP_BYTES, LANES, ChoiceLayout, PageShape
from .plane_reader import PLANES_BITS

_ROWS = 4
_MASK_CYCLE = 4
_PLACES_CYCLE = _MASK_CYCLE + PLACES_CYCLES
_BYTES_CYCLE = _PLACES_CYCLE + 2 * NETWORK_CYCLES
SLICE_CYCLES = _BYTES_CYCLE + 2
"""From the planes of a slice to the slice."""


class SliceDecoder(wiring.Component):
    """Decodes a slice: classes, their lengths, and a run of payload whose bytes go to their elements.

    The memory of payload has a bank for each row of a line. It outputs the row of the slice's first byte and
    those before it.

    Latency: `SLICE_CYCLES`. Throughput: a slice per cycle. Cost: docs/area.md.

    Members
    -------
    write : In(1), write_buffer : In, line : In, data : In(1024)   a line of a page
    valid : In(1)        the planes of a slice
    planes : In(48)
    first : In(1)        it is the first of a page
    buffer : In          of the page, as all that follows
    wide : In(1)         of FP32
    choice : In(ChoiceLayout)
    slice : Out(256)     `SLICE_CYCLES` later
    """

    def __init__(self, page_bytes: int, buffers: int):
        self.shape = PageShape(page_bytes)
        self.buffers = buffers
        super().__init__({
            "write": In(1),
            "write_buffer": In(bits_for(buffers)),
            "line": In(self.shape.line_bits),
            "data": In(8 * GROUP_BYTES),
            "valid": In(1),
            "planes": In(PLANES_BITS),
            "first": In(1),
            "buffer": In(bits_for(buffers)),
            "wide": In(1),
            "choice": In(ChoiceLayout()),
            "slice": Out(8 * SLICE_BYTES),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        shape = self.shape

        # 1: classes.
        classes, wide, choice = Signal(3 * LANES), Signal(), Signal(ChoiceLayout())
        first, valid, buffer = Signal(), Signal(), Signal.like(self.buffer)
        m.d.sync += [wide.eq(self.wide), choice.eq(self.choice), first.eq(self.first)]
        m.d.sync += [valid.eq(self.valid), buffer.eq(self.buffer)]
        for lane in range(LANES):
            bits = [self.planes[plane * LANES + lane] for plane in range(3)]
            if lane % 2:
                wide_bits = [self.planes[plane * LANES // 2 + lane // 2] for plane in range(3)]
                bits = [Mux(self.wide, ours, bit) for ours, bit in zip(wide_bits, bits, strict=True)]
            with m.Switch(self.choice.mode):
                with m.Case(Mode.RAW):
                    m.d.sync += classes.word_select(lane, 3).eq(ESCAPE)
                with m.Case(Mode.MASK):
                    m.d.sync += classes.word_select(lane, 3).eq(bits[0].replicate(3))
                with m.Default():
                    m.d.sync += classes.word_select(lane, 3).eq(Cat(bits))

        # 2 to 5: lengths.
        mask = Signal(SLICE_BYTES, reset_less=True)
        m.d.sync += mask.eq(valid_bytes(classes, wide, choice.mode == Mode.WINDOW7))
        quads = [Signal(3, name=f"quad_{quad}", reset_less=True) for quad in range(SLICE_BYTES // QUAD)]
        m.d.sync += [
            quad.eq(count_of_quad(mask[QUAD * number :][:QUAD])) for number, quad in enumerate(quads)
        ]
        length = Signal(range(SLICE_BYTES + 1), reset_less=True)
        halves = [Signal(5, name=f"half_{half}", reset_less=True) for half in range(2)]
        m.d.sync += [
            *(half.eq(sum(quads[4 * at :][:4], start=Const(0))) for at, half in enumerate(halves)),
            length.eq(halves[0] + halves[1]),
        ]

        # 6: where the payload of the slice begins.
        start, following = Signal(shape.offset_bits, reset_less=True), Signal(shape.offset_bits)
        begins = Mux(delayed(m, first, 4, "first"), shape.page_bytes - CHECK_BYTES - 1, following)
        m.d.sync += start.eq(begins)
        with m.If(delayed(m, valid, 4, "valid")):
            m.d.sync += following.eq(begins - length)

        # The places of the bytes.
        m.submodules.places = places = BytePlaces()
        m.submodules.expander = expander = SliceExpander()
        m.d.comb += [
            places.valid.eq(delayed(m, mask, _MASK_CYCLE - 2, "mask")),
            places.start.eq(start),
            expander.valid.eq(places.placed),
            expander.places.eq(places.places),
        ]

        # 7 to 9: the row of the first byte, and the rows below it in the other banks.
        row = start[PLACE_BITS:][: shape.line_bits + 2]
        line_at, bank_at = row[2:], row[:2]
        buffer_6 = delayed(m, buffer, 5, "buffer")
        fetched = []
        for bank in range(_ROWS):
            m.submodules[f"payload_{bank}"] = rows = memory.Memory(
                shape=8 * SLICE_BYTES, depth=shape.lines * self.buffers, init=[], attrs=IN_BLOCKS
            )
            write, read = rows.write_port(), rows.read_port()
            address = Signal(shape.line_bits + len(self.buffer), name=f"address_{bank}", reset_less=True)
            m.d.sync += address.eq(Cat((line_at - (bank_at < bank))[: shape.line_bits], buffer_6))
            m.d.comb += [
                write.en.eq(self.write),
                write.addr.eq(Cat(self.line, self.write_buffer)),
                write.data.eq(self.data.word_select(bank, 8 * SLICE_BYTES)),
                read.addr.eq(address),
            ]
            held = Signal(8 * SLICE_BYTES, name=f"fetched_{bank}", reset_less=True)
            m.d.sync += held.eq(read.data)
            fetched.append(held)

        # 10 and 11: each lane from its row.
        start_8 = delayed(m, start, 2, "start")
        run = Signal(8 * SLICE_BYTES, reset_less=True)
        for lane in range(SLICE_BYTES):
            bank = Signal(2, name=f"bank_{lane}", reset_less=True)
            m.d.sync += bank.eq(start_8[PLACE_BITS:][:2] - (start_8[:PLACE_BITS] < lane))
            octets = [one.word_select(lane, 8) for one in fetched]
            m.d.sync += run.word_select(lane, 8).eq(
                Mux(bank[1], Mux(bank[0], octets[3], octets[2]), Mux(bank[0], octets[1], octets[0]))
            )
        m.d.comb += expander.run.eq(delayed(m, run, 1, "run"))

        # 15: exponents of classes, zeros where nothing was stored. 16: elements.
        cycles = _BYTES_CYCLE - 1
        classes_14, wide_14 = delayed(m, classes, cycles, "classes"), delayed(m, wide, cycles, "wide")
        without_zero = delayed(m, choice.mode == Mode.WINDOW7, cycles, "without_zero")
        # The exponent of class 0, if it had one.
        base = delayed(m, (choice.base + (choice.mode == Mode.WINDOW))[:8], cycles, "base")
        needed = valid_bytes(classes_14, wide_14, without_zero)
        elements = Signal(8 * SLICE_BYTES, reset_less=True)
        for octet in range(SLICE_BYTES):
            lane, upper = divmod(octet, 2)
            stored = expander.bytes.word_select(octet, 8) & needed[octet].replicate(8)
            if upper:
                named = classes_14.word_select(lane, 3)
                has = named.any() | without_zero
                inside = has & ~named.all() & ~(wide_14 & (lane % 2 == 0))
                stored = Mux(inside, (base - named)[:8], stored)
            m.d.sync += elements.word_select(octet, 8).eq(stored)
        wide_15 = delayed(m, wide_14, 1, "wide_last")
        m.d.sync += self.slice.eq(
            restored([elements.word_select(lane, 16) for lane in range(LANES)], wide_15)
        )
        return m
