"""Writes of the controller to the host's memory."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.lib.axi import WritePort
from flashtrain.rtl.lib.streams import Queue
from flashtrain.spec.pcie import WORD_BYTES

from .burst_splitter import BurstSplitter
from .lanes import DWORD_SHIFT, RowSplit, merged, rotated
from .layouts import ADDRESS_BITS, LENGTH_BITS, MOST_BYTES, ROOM_BITS, DataPlace, HostWrite, Segment

_MOST_ANSWERS = 15
"""Bursts that are written, and whose answers have not been taken."""


class HostWriter(wiring.Component):
    """Takes bursts of the controller, and writes them to the host's memory in segments.

    A row has `port_bytes` of the host's memory, at multiples of its width. Data that are elsewhere in their
    row than in the beat are rotated by dwords, and each segment is one request.

    A burst is answered when its last row has been taken. Rows keep their order from there on, so what is
    written after the answer is behind the data. Later bursts are taken meanwhile.

    Latency: 12 cycles from a burst to its first row. Throughput: a row per cycle, segments as
    `BurstSplitter`.

    Members
    -------
    controller : In(WritePort)   `beat_bytes` wide; no beat is masked
    host : Out(stream(HostWrite))
    request : Out(stream(DataPlace)), found : In(1), address : In, room : In   see `AddressTable`
    """

    def __init__(
        self, address_bits: int, beat_bytes: int, slots: int, most_bytes: int = MOST_BYTES,
        port_bytes: int = WORD_BYTES,
    ):  # fmt: skip
        self.address_bits, self.beat_bytes, self.port_bytes = address_bits, beat_bytes, port_bytes
        self.slots, self.most_bytes = slots, most_bytes
        super().__init__({
            "controller": In(WritePort(address_bits=address_bits, data_bits=8 * beat_bytes)),
            "host": Out(stream.Signature(HostWrite(port_bytes))),
            "request": Out(stream.Signature(DataPlace(slots, most_bytes))),
            "found": In(1),
            "address": In(ADDRESS_BITS),
            "room": In(ROOM_BITS),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.splitter = splitter = BurstSplitter(
            self.address_bits, self.beat_bytes, self.slots, self.most_bytes
        )
        connect(m, flipped(self.controller.aw), splitter.bursts)
        connect(m, splitter.request, flipped(self.request))
        m.d.comb += [splitter.found.eq(self.found), splitter.address.eq(self.address)]
        m.d.comb += splitter.room.eq(self.room)
        m.submodules.asked = asked = Queue(Segment(self.slots), 4)
        connect(m, splitter.segments, asked.input)
        word, there, taken = Signal(8 * self.port_bytes), Signal(), Signal()
        self._divide(m, word, there, taken)
        self._place(m, asked.output, word, there, taken)
        return m

    def _divide(self, m: Module, word, there, taken):
        """The beats as words of `port_bytes`."""
        beat = self.controller.w
        if self.beat_bytes < self.port_bytes:
            count = self.port_bytes // self.beat_bytes
            number, bits = Signal(range(count)), 8 * self.beat_bytes
            before = [Signal(bits, name=f"before_{one}") for one in range(count - 1)]
            complete = number == count - 1
            m.d.comb += [
                word.eq(Cat(*before, beat.payload.data)),
                there.eq(beat.valid & complete),
                beat.ready.eq(~complete | taken),
            ]
            with m.If(beat.valid & beat.ready):
                m.d.sync += number.eq(number + 1)
                for one, kept in enumerate(before):
                    with m.If(number == one):
                        m.d.sync += kept.eq(beat.payload.data)
            return
        words = self.beat_bytes // self.port_bytes
        count = Signal(range(words))
        m.d.comb += [
            word.eq(beat.payload.data.word_select(count, len(word))),
            there.eq(beat.valid),
            beat.ready.eq(taken & (count == words - 1)),
        ]
        with m.If(taken):
            m.d.sync += count.eq(Mux(count == words - 1, 0, count + 1))

    def _place(self, m: Module, segment, word, there, taken):
        """Words to rows: the dwords of a row are in the word at hand and in the next one."""
        item, dwords = segment.payload, self.port_bytes // 4
        lane = item.address[DWORD_SHIFT:][: len(Signal(range(dwords)))]
        begins = Signal()
        split = RowSplit(m, lane, item.length, begins, self.port_bytes)
        hand, holds, place = Signal.like(word), Signal(), Signal(range(dwords))
        end, free, used = Signal(range(2 * dwords + 1)), Signal(), Signal()
        m.d.comb += [
            end.eq(place + split.count),
            begins.eq(segment.valid & free & holds & (there | (end <= dwords))),
            segment.ready.eq(begins & split.ends),
            used.eq(begins & (end >= dwords)),
            taken.eq(there & (used | ~holds)),
        ]
        with m.If(used | ~holds):
            m.d.sync += [hand.eq(word), holds.eq(there)]
        with m.If(begins):
            m.d.sync += place.eq(end)
        # The dwords of the row, and then their lanes.
        first = data.StructLayout({
            "address": ADDRESS_BITS, "length": LENGTH_BITS, "data": len(word), "last": 1, "ends": 1,
        })  # fmt: skip
        row, valid, turn, ends = Signal(first), Signal(), Signal(range(dwords)), Signal()
        out, moves = self.host, Signal()
        m.d.comb += [free.eq(~valid | moves), moves.eq(valid & (~out.valid | out.ready))]
        with m.If(moves):
            m.d.sync += valid.eq(0)
        with m.If(begins):
            m.d.sync += [
                valid.eq(1),
                row.address.eq(item.address),
                row.length.eq(item.length),
                row.data.eq(merged(word, hand, place)),
                row.last.eq(split.ends),
                row.ends.eq(split.ends & item.last),
                turn.eq(split.lane - place),
            ]
        with m.If(out.ready):
            m.d.sync += out.valid.eq(0)
        with m.If(moves):
            m.d.sync += [
                out.valid.eq(1),
                out.payload.address.eq(row.address),
                out.payload.length.eq(row.length),
                out.payload.data.eq(rotated(row.data, turn)),
                out.payload.last.eq(row.last),
                ends.eq(row.ends),
            ]
        answer, owed = self.controller.b, Signal(range(_MOST_ANSWERS + 1))
        m.d.comb += answer.valid.eq(owed != 0)
        m.d.sync += owed.eq(owed + (out.valid & out.ready & ends) - (answer.valid & answer.ready))
