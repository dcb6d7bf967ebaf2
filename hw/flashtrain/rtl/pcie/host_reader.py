"""Reads of the controller from the host's memory."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.lib.axi import ReadPort
from flashtrain.rtl.lib.streams import Queue
from flashtrain.spec.geometry import bits_for

from .burst_splitter import BurstSplitter
from .layouts import ADDRESS_BITS, BURST_BEATS, MOST_BYTES, PORT_BYTES, DataPlace

_WORD_BITS = 8 * PORT_BYTES
_SEGMENTS = 32
"""Under way. Those of few bytes are at the beginning and the end of a page."""


class HostReader(wiring.Component):
    """Takes bursts of the controller, reads the host's memory in segments, and joins their chunks to beats.

    Data that begin at an odd dword are shifted by 4 bytes: a burst then reads a chunk more.

    A segment is asked for when there is room for all its chunks, so they are taken at once. Later bursts are
    asked for while the beats of earlier ones come. A beat has an error if the host's memory has refused a
    chunk of it.

    Latency: 9 cycles from a burst to its first request. Throughput: a chunk per cycle, a segment in 8 cycles;
    up to `chunks` chunks and 32 segments are under way.

    Members
    -------
    controller : In(ReadPort)   `beat_bytes` wide
    host : Out(ReadPort)        bursts within 128 bytes
    request : Out(stream(DataPlace)), found : In(1), address : In   see `AddressTable`
    refused : Out(stream(slot))   pulse: the host's memory has refused data of this slot
    """

    def __init__(
        self, address_bits: int, beat_bytes: int, slots: int, most_bytes: int = MOST_BYTES, chunks: int = 256
    ):
        self.address_bits, self.beat_bytes = address_bits, beat_bytes
        self.slots, self.most_bytes, self.chunks = slots, most_bytes, chunks
        super().__init__({
            "controller": In(ReadPort(address_bits=address_bits, data_bits=8 * beat_bytes)),
            "host": Out(ReadPort(address_bits=ADDRESS_BITS, data_bits=_WORD_BITS)),
            "request": Out(stream.Signature(DataPlace(slots, most_bytes))),
            "found": In(1),
            "address": In(ADDRESS_BITS),
            "refused": Out(stream.Signature(bits_for(slots), always_ready=True)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.splitter = splitter = BurstSplitter(
            self.address_bits, self.beat_bytes, self.slots, self.most_bytes
        )
        connect(m, flipped(self.controller.ar), splitter.bursts)
        connect(m, splitter.request, flipped(self.request))
        m.d.comb += [splitter.found.eq(self.found), splitter.address.eq(self.address)]
        kept = data.StructLayout({
            "length": bits_for(BURST_BEATS), "skips_first": 1, "last": 1, "slot": bits_for(self.slots),
        })  # fmt: skip
        m.submodules.asked = asked = Queue(kept, _SEGMENTS)
        m.submodules.store = store = Queue(data.StructLayout({"data": _WORD_BITS, "error": 1}), self.chunks)
        reserved, takes = Signal(range(self.chunks + 1)), Signal()
        segment, burst = splitter.segments, self.host.ar
        room, begins = Signal(), Signal()
        # Of the cycle before: a segment is offered at most in every other one.
        m.d.sync += room.eq(reserved + BURST_BEATS <= self.chunks)
        m.d.comb += [
            begins.eq(segment.valid & room & asked.input.ready & ~burst.valid),
            segment.ready.eq(begins),
            asked.input.valid.eq(begins),
            store.input.valid.eq(self.host.r.valid),
            store.input.payload.data.eq(self.host.r.payload.data),
            store.input.payload.error.eq(self.host.r.payload.error),
            self.host.r.ready.eq(1),
            *(
                asked.input.payload[name].eq(segment.payload[name])
                for name in ("length", "skips_first", "last", "slot")
            ),
        ]
        m.d.sync += reserved.eq(reserved + Mux(begins, segment.payload.length + 1, 0) - takes)
        with m.If(burst.ready):
            m.d.sync += burst.valid.eq(0)
        with m.If(begins):
            m.d.sync += [
                burst.valid.eq(1),
                burst.payload.address.eq(segment.payload.address),
                burst.payload.length.eq(segment.payload.length),
            ]
        self._join(m, asked.output, store.output, takes)
        return m

    def _join(self, m: Module, segment, chunk, takes):
        """Chunks to words, in which no dword is missing, and words to beats."""
        number, odd, carry = Signal.like(segment.payload.length), Signal(), Signal(_WORD_BITS // 2)
        ends, skips, room = Signal(), Signal(), Signal()
        word, valid, last, error, spoiled = Signal(_WORD_BITS), Signal(), Signal(), Signal(), Signal()
        item, half = chunk.payload, _WORD_BITS // 2
        m.d.comb += [
            takes.eq(segment.valid & chunk.valid & (room | ~valid)),
            chunk.ready.eq(takes),
            ends.eq(number == segment.payload.length),
            skips.eq(segment.payload.skips_first & (number == 0)),
            segment.ready.eq(takes & ends),
        ]
        m.d.sync += [
            self.refused.valid.eq(takes & item.error),
            self.refused.payload.eq(segment.payload.slot),
        ]
        with m.If(room):
            m.d.sync += valid.eq(0)
        with m.If(takes):
            m.d.sync += [
                number.eq(Mux(ends, 0, number + 1)),
                odd.eq((odd | skips) & ~(ends & segment.payload.last)),
                carry.eq(item.data[half:]),
                valid.eq(~skips),
                word.eq(Mux(odd, Cat(carry, item.data[:half]), item.data)),
                last.eq(ends & segment.payload.last),
                error.eq(item.error | odd & spoiled),
                spoiled.eq(item.error),
            ]
        beat = self.controller.r
        if self.beat_bytes < PORT_BYTES:
            second = Signal()
            m.d.comb += [
                beat.valid.eq(valid),
                beat.payload.data.eq(Mux(second, word[half:], word[:half])),
                beat.payload.last.eq(last & second),
                beat.payload.error.eq(error),
                room.eq(beat.ready & second),
            ]
            with m.If(valid & beat.ready):
                m.d.sync += second.eq(~second)
            return
        words = self.beat_bytes // PORT_BYTES
        count, wrong = Signal(range(words)), Signal()
        m.d.comb += room.eq(~beat.valid | beat.ready)
        with m.If(beat.ready):
            m.d.sync += beat.valid.eq(0)
        with m.If(valid & room):
            m.d.sync += [
                beat.valid.eq(count == words - 1),
                beat.payload.data.eq(Cat(beat.payload.data, word)[_WORD_BITS:]),
                beat.payload.last.eq(last),
                beat.payload.error.eq(wrong | error),
                wrong.eq((wrong | error) & (count != words - 1)),
                count.eq(Mux(count == words - 1, 0, count + 1)),
            ]
