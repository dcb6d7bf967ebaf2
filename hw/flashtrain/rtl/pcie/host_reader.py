"""Reads of the controller from the host's memory."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.lib.axi import ReadPort
from flashtrain.rtl.lib.streams import Queue
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.pcie import REQUEST_BYTES, WORD_BYTES

from .burst_splitter import BurstSplitter
from .lanes import DWORD_SHIFT, RowSplit, merged, rotated
from .layouts import ADDRESS_BITS, LENGTH_BITS, MOST_BYTES, ROOM_BITS, DataPlace

_LEAST_ROWS, _LEAST_BYTES = 64, 2 << 10
"""Under way: a memory that answers in so many cycles does not hold up rows."""
_LEAST_SEGMENTS = 32
"""The same. Those of few bytes are at the beginning and the end of a page."""


class HostReader(wiring.Component):
    """Takes bursts of the controller, reads the host's memory in segments, and joins their rows to beats.

    A row has `port_bytes` of the host's memory, at multiples of its width. Data that are elsewhere in their
    row than in the beat are rotated by dwords: a burst then reads a row more.

    A segment is asked for when there is room for all its rows, so they are taken at once. Later bursts are
    asked for while the beats of earlier ones come. A beat has an error if the host's memory has refused a
    row of it.

    Latency: 9 cycles from a burst to its first request; 4 from a row to a beat of its width. Throughput: a
    row per cycle, segments as `BurstSplitter`; up to `segments` segments and `rows` rows are under way.

    Members
    -------
    controller : In(ReadPort)   `beat_bytes` wide
    host : Out(ReadPort)        see `TlpPort.data_read`
    request : Out(stream(DataPlace)), found : In(1), address : In, room : In   see `AddressTable`
    refused : Out(stream(slot))   pulse: the host's memory has refused data of this slot
    """

    def __init__(
        self, address_bits: int, beat_bytes: int, slots: int, most_bytes: int = MOST_BYTES,
        port_bytes: int = WORD_BYTES,
    ):  # fmt: skip
        self.address_bits, self.beat_bytes, self.port_bytes = address_bits, beat_bytes, port_bytes
        self.slots, self.most_bytes = slots, most_bytes
        self.rows = max(_LEAST_ROWS, _LEAST_BYTES // port_bytes)
        self.segments = max(_LEAST_SEGMENTS, self.rows * port_bytes // REQUEST_BYTES)
        super().__init__({
            "controller": In(ReadPort(address_bits=address_bits, data_bits=8 * beat_bytes)),
            "host": Out(ReadPort(address_bits=ADDRESS_BITS, data_bits=8 * port_bytes)),
            "request": Out(stream.Signature(DataPlace(slots, most_bytes))),
            "found": In(1),
            "address": In(ADDRESS_BITS),
            "room": In(ROOM_BITS),
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
        m.d.comb += splitter.room.eq(self.room)
        row_bits = 8 * self.port_bytes
        kept = data.StructLayout({
            "lane": bits_for(self.port_bytes) - DWORD_SHIFT, "length": LENGTH_BITS, "last": 1,
            "slot": bits_for(self.slots),
        })  # fmt: skip
        m.submodules.asked = asked = Queue(kept, self.segments)
        m.submodules.store = store = Queue(data.StructLayout({"data": row_bits, "error": 1}), self.rows)
        reserved, takes = Signal(range(self.rows + 1)), Signal()
        segment, burst, most = splitter.segments, self.host.ar, REQUEST_BYTES // self.port_bytes
        begins, count = Signal(), Signal(range(most + 1))
        lane_bits = len(asked.input.payload.lane)
        lane = segment.payload.address[DWORD_SHIFT : DWORD_SHIFT + lane_bits]
        m.d.comb += [
            begins.eq(
                segment.valid
                & (reserved + most <= self.rows)
                & asked.input.ready
                & (~burst.valid | burst.ready)
            ),
            count.eq((lane + segment.payload.length + self.port_bytes // 4 - 1) >> lane_bits),
            segment.ready.eq(begins),
            asked.input.valid.eq(begins),
            asked.input.payload.lane.eq(lane),
            store.input.valid.eq(self.host.r.valid),
            store.input.payload.data.eq(self.host.r.payload.data),
            store.input.payload.error.eq(self.host.r.payload.error),
            self.host.r.ready.eq(1),
            *(asked.input.payload[name].eq(segment.payload[name]) for name in ("length", "last", "slot")),
        ]
        m.d.sync += reserved.eq(reserved + Mux(begins, count, 0) - takes)
        with m.If(burst.ready):
            m.d.sync += burst.valid.eq(0)
        with m.If(begins):
            m.d.sync += [
                burst.valid.eq(1),
                burst.payload.address.eq(segment.payload.address),
                burst.payload.length.eq(segment.payload.length - 1),
            ]
        self._join(m, asked.output, store.output, takes)
        return m

    def _join(self, m: Module, segment, row, takes):
        """Rows to words of `port_bytes`, in which no dword is missing, and words to beats."""
        row_bits, dwords = 8 * self.port_bytes, self.port_bytes // 4
        split = RowSplit(m, segment.payload.lane, segment.payload.length, takes, self.port_bytes)
        # The row that is rotated: its first dword is at the place behind those that wait.
        place, there, passes, room = Signal(range(dwords)), Signal(), Signal(), Signal()
        turned, fill, end = Signal(row_bits), Signal(range(dwords)), Signal(range(2 * dwords))
        last, error = Signal(), Signal()
        m.d.comb += [
            takes.eq(segment.valid & row.valid & (~there | passes)),
            row.ready.eq(takes),
            segment.ready.eq(takes & split.ends),
        ]
        m.d.sync += [
            self.refused.valid.eq(takes & row.payload.error),
            self.refused.payload.eq(segment.payload.slot),
        ]
        with m.If(passes):
            m.d.sync += there.eq(0)
        with m.If(takes):
            m.d.sync += [
                there.eq(1),
                turned.eq(rotated(row.payload.data, place - split.lane)),
                fill.eq(place),
                end.eq(place + split.count),
                place.eq(place + split.count),
                last.eq(split.ends & segment.payload.last),
                error.eq(row.payload.error),
            ]
        # Words: dwords that wait, and those of the row behind them.
        waiting, spoiled, whole = Signal(row_bits), Signal(), Signal()
        word, valid, ended, wrong = Signal(row_bits), Signal(), Signal(), Signal()
        full = Signal(row_bits)
        m.d.comb += [
            whole.eq(end[-1]),
            full.eq(merged(waiting, turned, fill)),
            passes.eq(there & (~whole | ~valid | room)),
        ]
        with m.If(room):
            m.d.sync += valid.eq(0)
        with m.If(passes):
            m.d.sync += [
                waiting.eq(Mux(whole, turned, full)),
                spoiled.eq(error & (~whole | end[:-1].any()) | spoiled & ~whole),
            ]
            with m.If(whole):
                m.d.sync += [valid.eq(1), word.eq(full), ended.eq(last), wrong.eq(error | spoiled)]
        self._offer(m, word, valid, ended, wrong, room)

    def _offer(self, m: Module, word, valid, ended, wrong, room):
        """Words to beats."""
        beat = self.controller.r
        if self.beat_bytes < self.port_bytes:
            count, number = (
                self.port_bytes // self.beat_bytes,
                Signal(range(self.port_bytes // self.beat_bytes)),
            )
            m.d.comb += [
                beat.valid.eq(valid),
                beat.payload.data.eq(word.word_select(number, 8 * self.beat_bytes)),
                beat.payload.last.eq(ended & (number == count - 1)),
                beat.payload.error.eq(wrong),
                room.eq(beat.ready & (number == count - 1)),
            ]
            with m.If(valid & beat.ready):
                m.d.sync += number.eq(number + 1)
            return
        words = self.beat_bytes // self.port_bytes
        count, spoiled = Signal(range(words)), Signal()
        m.d.comb += room.eq(~beat.valid | beat.ready)
        with m.If(beat.ready):
            m.d.sync += beat.valid.eq(0)
        with m.If(valid & room):
            m.d.sync += [
                beat.valid.eq(count == words - 1),
                beat.payload.data.eq(Cat(beat.payload.data, word)[len(word) :]),
                beat.payload.last.eq(ended),
                beat.payload.error.eq(spoiled | wrong),
                spoiled.eq((spoiled | wrong) & (count != words - 1)),
                count.eq(Mux(count == words - 1, 0, count + 1)),
            ]
