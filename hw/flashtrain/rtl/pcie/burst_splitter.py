"""Bursts of the controller to segments of the host's memory."""

from amaranth import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.axi import burst_layout
from flashtrain.spec.geometry import bits_for

from .layouts import ADDRESS_BITS, BURST_BEATS, MOST_BYTES, PORT_BYTES, DataPlace, Segment

_SEGMENT_BYTES = BURST_BEATS * PORT_BYTES
_LONGEST_BURST = 256


class BurstSplitter(wiring.Component):
    """Cuts bursts at multiples of 128 bytes of the host's memory, where requests are whole.

    The address of a burst has the slot of its command above the offset in its data. Offsets and lengths are
    multiples of 8 bytes, addresses of the host those of 4.

    Latency: 8 cycles from a burst to its first segment. Throughput: a segment in 8 cycles.

    Members
    -------
    bursts : In(stream)     of beats of `beat_bytes`
    request : Out(stream(DataPlace)), found : In(1), address : In   see `AddressTable`
    segments : Out(stream(Segment))
    """

    def __init__(self, address_bits: int, beat_bytes: int, slots: int, most_bytes: int = MOST_BYTES):
        self.beat_shift = bits_for(beat_bytes)
        self.offset_bits = bits_for(most_bytes)
        self.most = _LONGEST_BURST * beat_bytes
        super().__init__({
            "bursts": In(stream.Signature(burst_layout(address_bits))),
            "request": Out(stream.Signature(DataPlace(slots, most_bytes))),
            "found": In(1),
            "address": In(ADDRESS_BITS),
            "segments": Out(stream.Signature(Segment(slots))),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        burst, place, segment = self.bursts, self.request.payload, self.segments.payload
        left, start = Signal(range(self.most + 1)), Signal(ADDRESS_BITS)
        room, size, ends = (Signal(range(_SEGMENT_BYTES + 1), name=name) for name in ("room", "size", "ends"))
        low = start[: bits_for(_SEGMENT_BYTES)]
        m.d.comb += [room.eq(_SEGMENT_BYTES - low), ends.eq(low + size)]
        with m.FSM():
            with m.State("wait"):
                m.d.comb += burst.ready.eq(1)
                m.d.sync += [
                    place.offset.eq(burst.payload.address[: self.offset_bits]),
                    place.slot.eq(burst.payload.address[self.offset_bits :]),
                    left.eq((burst.payload.length + 1) << self.beat_shift),
                ]
                with m.If(burst.valid):
                    m.next = "ask"
            with m.State("ask"):
                m.d.comb += self.request.valid.eq(1)
                with m.If(self.request.ready):
                    m.next = "find"
            with m.State("find"):
                m.d.sync += start.eq(self.address)
                with m.If(self.found):
                    m.next = "measure"
            with m.State("measure"):
                m.d.sync += size.eq(Mux(left < room, left, room))
                m.next = "cut"
            with m.State("cut"):
                m.d.sync += [
                    self.segments.valid.eq(1),
                    segment.address.eq(start[3:] << 3),
                    segment.length.eq((ends - 1)[3:] - low[3:]),
                    segment.skips_first.eq(low[2]),
                    segment.skips_last.eq(ends[2]),
                    segment.last.eq(left == size),
                    segment.slot.eq(place.slot),
                    place.offset.eq(place.offset + size),
                    left.eq(left - size),
                ]
                m.next = "offer"
            with m.State("offer"), m.If(self.segments.ready):
                m.d.sync += self.segments.valid.eq(0)
                m.next = "ask"
                with m.If(segment.last):
                    m.next = "wait"
        return m
