"""Planes of slices and payload of their page to slices."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.delay_line import DelayLine
from flashtrain.spec.codec import CHECK_BYTES, SLICE_BYTES, Mode
from flashtrain.spec.geometry import bits_for

from .byte_network import EXPANDER_CYCLES, PLACE_BITS, SliceExpander, delayed
from .byte_ranks import RANKS_CYCLES, ByteRanks
from .classes import has_payload, needed_bytes, restored
from .layouts import LANES, ChoiceLayout, PageShape
from .line_memory import BUFFERS
from .payload_reader import RUN_CYCLES
from .plane_reader import PLANES_BITS

_CLASSES_CYCLE = 2
_MASK_CYCLE = _CLASSES_CYCLE + 2
_RANKS_CYCLE = _MASK_CYCLE + RANKS_CYCLES
_START_CYCLE = _RANKS_CYCLE + 1
_PLACES_CYCLE = _START_CYCLE + 2
_RUN_CYCLE = _PLACES_CYCLE + EXPANDER_CYCLES
_BYTES_CYCLE = _RUN_CYCLE + EXPANDER_CYCLES
SLICE_CYCLES = _BYTES_CYCLE + 2
"""From the planes of a slice to the slice."""


class SliceDecoder(wiring.Component):
    """Decodes a slice: classes, their lengths, and a run of payload whose bytes go to their elements.

    Latency: `SLICE_CYCLES`. Throughput: a slice per cycle. Cost: docs/area.md.

    Members
    -------
    valid : In(1)        the planes of a slice
    planes : In(48)
    first : In(1)        it is the first of a page
    buffer : In          of the page, as all that follows
    wide : In(1)         of FP32
    choice : In(ChoiceLayout)
    run_valid : Out(1), run_start : Out, run_buffer : Out   the first byte of its payload
    run : In(256)        `RUN_CYCLES` later: the row of it and of those below, see `PayloadReader`
    slice : Out(256)     `SLICE_CYCLES` after `valid`
    """

    def __init__(self, page_bytes: int):
        self.shape = PageShape(page_bytes)
        super().__init__({
            "valid": In(1),
            "planes": In(PLANES_BITS),
            "first": In(1),
            "buffer": In(bits_for(BUFFERS)),
            "wide": In(1),
            "choice": In(ChoiceLayout()),
            "run_valid": Out(1),
            "run_start": Out(self.shape.offset_bits),
            "run_buffer": Out(bits_for(BUFFERS)),
            "run": In(8 * SLICE_BYTES),
            "slice": Out(8 * SLICE_BYTES),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()

        # 1: bits of the elements; what the mode says. 2: classes.
        wide, raw, mask_mode, without_zero, base = Signal(), Signal(), Signal(), Signal(), Signal(8)
        m.d.sync += [
            wide.eq(self.wide),
            raw.eq(self.choice.mode == Mode.RAW),
            mask_mode.eq(self.choice.mode == Mode.MASK),
            without_zero.eq(self.choice.mode == Mode.WINDOW7),
            # The exponent of class 0, if it had one.
            base.eq(self.choice.base + (self.choice.mode == Mode.WINDOW)),
        ]
        classes = Signal(3 * LANES, reset_less=True)
        for lane in range(LANES):
            bits = Signal(3, name=f"bits_{lane}", reset_less=True)
            for plane in range(3):
                bit = self.planes[plane * LANES + lane]
                if lane % 2:
                    bit = Mux(self.wide, self.planes[plane * LANES // 2 + lane // 2], bit)
                m.d.sync += bits[plane].eq(bit)
                m.d.sync += classes[3 * lane + plane].eq(raw | Mux(mask_mode, bits[0], bits[plane]))
        wide_2, without_zero_2 = delayed(m, wide, 1, "wide"), delayed(m, without_zero, 1, "without_zero")
        base_2 = delayed(m, base, 1, "base")

        # 3: elements with payload, and whole ones. 4: bytes with payload.
        has, whole = Signal(LANES, reset_less=True), Signal(LANES, reset_less=True)
        mask = Signal(SLICE_BYTES, reset_less=True)
        wide_3 = delayed(m, wide_2, 1, "wide_2")
        m.d.sync += [
            Cat(has, whole).eq(has_payload(classes, without_zero_2)),
            mask.eq(needed_bytes(has, whole, wide_3)),
        ]

        # 5 to 8: the rank of each byte, and their number. 9: where the payload of the slice begins.
        m.submodules.ranks = ranks = ByteRanks()
        m.d.comb += ranks.valid.eq(mask)
        start, following = Signal(self.shape.offset_bits, reset_less=True), Signal(self.shape.offset_bits)
        last_byte = self.shape.page_bytes - CHECK_BYTES - 1
        first_8, valid_8, buffer_8 = self._late(m, _RANKS_CYCLE)
        begins = Mux(first_8, last_byte, following)
        m.d.sync += start.eq(begins)
        with m.If(valid_8):
            m.d.sync += following.eq(begins - ranks.length)

        # 10, 11: the places of the bytes. The run comes when their controls are through the network.
        firsts = [Signal(PLACE_BITS, name=f"first_{at}", reset_less=True) for at in range(len(ranks.ahead))]
        for first, ahead in zip(firsts, ranks.ahead, strict=True):
            m.d.sync += first.eq(start[:PLACE_BITS] - delayed(m, ahead, 1, f"{first.name}_ahead"))
        m.submodules.expander = expander = SliceExpander()
        ranks_10 = delayed(m, ranks.ranks.as_value(), 2, "ranks")
        for lane in range(SLICE_BYTES):
            place = Signal(PLACE_BITS, name=f"place_{lane}", reset_less=True)
            m.d.sync += place.eq(firsts[lane * len(firsts) // SLICE_BYTES] - ranks_10.word_select(lane, 2))
            m.d.comb += expander.places[lane].eq(place)
        wait = _RUN_CYCLE - RUN_CYCLES - _START_CYCLE
        m.d.comb += [
            expander.valid.eq(delayed(m, mask, _PLACES_CYCLE - _MASK_CYCLE, "mask")),
            self.run_start.eq(delayed(m, start, wait, "start")),
            Cat(self.run_valid, self.run_buffer).eq(
                delayed(m, Cat(valid_8, buffer_8), _RUN_CYCLE - RUN_CYCLES - _RANKS_CYCLE, "run")
            ),
            expander.run.eq(self.run),
        ]
        self._elements(m, expander.bytes, mask, Cat(classes, base_2, wide_2, without_zero_2))
        return m

    def _late(self, m: Module, cycles: int) -> tuple[Value, Value, Value]:
        """`first`, `valid` and `buffer` of so many cycles ago."""
        valid = self.valid
        for cycle in range(cycles):
            before, valid = valid, Signal(name=f"valid_{cycle}")
            m.d.sync += valid.eq(before)
        return delayed(m, self.first, cycles, "first"), valid, delayed(m, self.buffer, cycles, "buffer")

    def _elements(self, m: Module, payload: Value, mask: Value, known: Value) -> None:
        """From the payload in its lanes to the slice.

        The classes with base, width and mode of cycle 2 come beside the payload, and the mask of cycle 4.
        """
        m.submodules.known = line = DelayLine(len(known), _BYTES_CYCLE - 1 - _CLASSES_CYCLE)
        m.submodules.mask = masks = DelayLine(SLICE_BYTES, _BYTES_CYCLE - _MASK_CYCLE)
        m.d.comb += [line.input.eq(known), masks.input.eq(mask)]
        named_at = 3 * LANES
        base, wide, without_zero = line.output[named_at:][:8], line.output[-2], line.output[-1]

        # Beside the bytes: exponents of classes, and where they are. Then elements, then the slice.
        elements = Signal(8 * SLICE_BYTES, reset_less=True)
        for octet in range(SLICE_BYTES):
            lane, upper = divmod(octet, 2)
            stored = payload.word_select(octet, 8) & masks.output[octet].replicate(8)
            if upper:
                named = line.output.word_select(lane, 3)
                exponent = Signal(8, name=f"exponent_{lane}", reset_less=True)
                inside = Signal(name=f"inside_{lane}", reset_less=True)
                of_element = ~wide if lane % 2 == 0 else 1
                m.d.sync += [
                    exponent.eq(base - named),
                    inside.eq((named.any() | without_zero) & ~named.all() & of_element),
                ]
                stored = Mux(inside, exponent, stored)
            m.d.sync += elements.word_select(octet, 8).eq(stored)
        wide_last = delayed(m, wide, 2, "wide_last")
        m.d.sync += self.slice.eq(
            restored([elements.word_select(lane, 16) for lane in range(LANES)], wide_last)
        )
