"""Bursts of the controller to segments of the host's memory."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.axi import burst_layout
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.pcie import PAGE_BITS, REQUEST_BYTES

from .lanes import DWORD_SHIFT
from .layouts import ADDRESS_BITS, MOST_BYTES, REQUEST_BITS, ROOM_BITS, DataPlace, Segment

_LONGEST_BURST = 256


class BurstSplitter(wiring.Component):
    """Cuts bursts at multiples of 128 bytes of the host's memory, where requests are whole.

    The address of a burst has the slot of its command above the offset in its data. Offsets and lengths are
    multiples of 8 bytes, addresses of the host those of 4. The address is looked up for each 4 KiB of the
    host's memory, and for each data block of an SGL.

    Latency: 8 cycles from a burst to its first segment. Throughput: a segment per cycle within 4 KiB, and 7
    cycles before the first of them.

    Members
    -------
    bursts : In(stream)     of beats of `beat_bytes`
    request : Out(stream(DataPlace)), found : In(1), address : In, room : In   see `AddressTable`
    segments : Out(stream(Segment))
    """

    def __init__(self, address_bits: int, beat_bytes: int, slots: int, most_bytes: int = MOST_BYTES):
        self.beat_shift = bits_for(beat_bytes)
        self.offset_bits = bits_for(most_bytes)
        self.most = _LONGEST_BURST * beat_bytes >> DWORD_SHIFT
        super().__init__({
            "bursts": In(stream.Signature(burst_layout(address_bits))),
            "request": Out(stream.Signature(DataPlace(slots, most_bytes))),
            "found": In(1),
            "address": In(ADDRESS_BITS),
            "room": In(ROOM_BITS),
            "segments": Out(stream.Signature(Segment(slots))),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        burst, place, segment = self.bursts, self.request.payload, self.segments.payload
        # In dwords: of the burst, up to the end of what was found, and of both the lesser one.
        left, rest = Signal(range(self.most + 1)), Signal(ROOM_BITS)
        upto, here, size = Signal.like(rest), Signal.like(rest), Signal.like(segment.length)
        start, free = Signal(ADDRESS_BITS), Signal()
        low = start[DWORD_SHIFT:REQUEST_BITS]
        room = Signal.like(size)
        m.d.comb += [
            free.eq(~self.segments.valid | self.segments.ready),
            here.eq(Mux(left < upto, left, upto)),
            room.eq((REQUEST_BYTES >> DWORD_SHIFT) - low),
            size.eq(Mux(rest < room, rest, room)),
        ]
        with m.If(self.segments.ready):
            m.d.sync += self.segments.valid.eq(0)
        with m.FSM():
            with m.State("WAIT"):
                m.d.comb += burst.ready.eq(1)
                m.d.sync += [
                    place.offset.eq(burst.payload.address[: self.offset_bits]),
                    place.slot.eq(burst.payload.address[self.offset_bits :]),
                    left.eq(_dwords(burst.payload.length + 1, self.beat_shift)),
                ]
                with m.If(burst.valid):
                    m.next = "ASK"
            with m.State("ASK"):
                m.d.comb += self.request.valid.eq(1)
                with m.If(self.request.ready):
                    m.next = "FIND"
            with m.State("FIND"):
                m.d.sync += [start.eq(self.address), upto.eq(self.room)]
                with m.If(self.found):
                    m.next = "MEASURE"
            with m.State("MEASURE"):
                m.d.sync += [
                    rest.eq(here),
                    left.eq(left - here),
                    place.offset.eq(place.offset + (here << DWORD_SHIFT)),
                ]
                m.next = "CUT"
            with m.State("CUT"), m.If(free):
                ends = Signal()
                m.d.comb += ends.eq(rest == size)
                m.d.sync += [
                    self.segments.valid.eq(1),
                    segment.address.eq(start),
                    segment.length.eq(size),
                    segment.last.eq(ends & (left == 0)),
                    segment.slot.eq(place.slot),
                    rest.eq(rest - size),
                    # Within 4 KiB, the end of which is that of the segments.
                    start[:PAGE_BITS].eq(
                        Cat(Const(0, REQUEST_BITS), start[REQUEST_BITS:PAGE_BITS] + 1)[:PAGE_BITS]
                    ),
                ]
                with m.If(ends):
                    m.next = "ASK"
                    with m.If(left == 0):
                        m.next = "WAIT"
        return m


def _dwords(beats, shift: int):
    """Dwords of so many beats of 1 << `shift` bytes."""
    return beats << shift - DWORD_SHIFT if shift >= DWORD_SHIFT else beats >> DWORD_SHIFT - shift
