"""Writes of the host's memory from several units, of words and of rows, in one order."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.streams import RoundRobin, select
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.pcie import PAGE_BITS, WORD_BYTES

from .layouts import BURST_BEATS, REQUEST_BITS, HostWrite, WordPort

_WORD_SHIFT = bits_for(WORD_BYTES)
_PLACE_BITS = bits_for(BURST_BEATS)


def part_of_burst(address, words, second):
    """A part of a burst that a multiple of 128 bytes divides: its address, its words, whether it is the last.

    `words` : of the burst, at most 16, so it has at most two parts. `second` : this is the second one.
    """
    room = BURST_BEATS - address[_WORD_SHIFT:REQUEST_BITS]
    one = words <= room
    behind = Cat(
        Const(0, REQUEST_BITS), (address[REQUEST_BITS:PAGE_BITS] + 1)[: PAGE_BITS - REQUEST_BITS],
        address[PAGE_BITS:],
    )  # fmt: skip
    count = Mux(second, words - room, Mux(one, words, room))[: _PLACE_BITS + 1]
    return Mux(second, behind, address), count, second | one


class WordWriter(wiring.Component):
    """Bursts of words as writes within 128 bytes: one that crosses a multiple of them is two.

    A burst is answered when its last word has been taken, and has no error: writes are posted. A burst of one
    word may have a masked dword, and is a write of the other one.

    Latency: none. Throughput: a word per cycle.

    Members
    -------
    words : In(WordPort)   at multiples of 8
    rows : Out(stream(HostWrite))   of words
    """

    def __init__(self):
        super().__init__({"words": In(WordPort()), "rows": Out(stream.Signature(HostWrite(WORD_BYTES)))})

    def elaborate(self, platform):
        m = Module()
        burst, beat, answer, out = self.words.aw, self.words.w, self.words.b, self.rows
        # Words of the burst that are gone; the place of this one within 128 bytes.
        second, gone, place, owed = Signal(), Signal(_PLACE_BITS), Signal(_PLACE_BITS), Signal(range(4))
        words = burst.payload.length[:_PLACE_BITS] + 1
        address, count, _ = part_of_burst(burst.payload.address, words, second)
        m.d.comb += [
            place.eq(burst.payload.address[_WORD_SHIFT:REQUEST_BITS] + gone),
            out.valid.eq(burst.valid & beat.valid & ~owed[1]),
            out.payload.address.eq(Cat(address[:2], address[2] | beat.payload.masked[0], address[3:])),
            out.payload.length.eq((count << 1) - beat.payload.masked.any()),
            out.payload.data.eq(beat.payload.data),
            out.payload.last.eq(beat.payload.last | place.all()),
            beat.ready.eq(burst.valid & ~owed[1] & out.ready),
            burst.ready.eq(beat.valid & beat.ready & beat.payload.last),
            answer.valid.eq(owed != 0),
        ]
        with m.If(beat.valid & beat.ready):
            m.d.sync += gone.eq(Mux(beat.payload.last, 0, gone + 1))
            with m.If(out.payload.last):
                m.d.sync += second.eq(~beat.payload.last)
        m.d.sync += owed.eq(owed + burst.ready - (answer.valid & answer.ready))
        return m


class WriteWidener(wiring.Component):
    """Writes of words as writes of rows of `port_bytes`.

    Latency: none, of the last word of a row. Throughput: a word per cycle. Cost: a row without its last word.

    Members
    -------
    words : In(stream(HostWrite)), rows : Out(stream(HostWrite))
    """

    def __init__(self, port_bytes: int):
        self.port_bytes = port_bytes
        super().__init__({
            "words": In(stream.Signature(HostWrite(WORD_BYTES))),
            "rows": Out(stream.Signature(HostWrite(port_bytes))),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        word, row, count = self.words, self.rows, self.port_bytes // WORD_BYTES
        data = word.payload.data
        lanes = [Signal.like(data, name=f"lane_{number}") for number in range(count - 1)]
        # Words since the beginning of the request; the first one may be anywhere in its row.
        gone, place, complete = Signal(_PLACE_BITS), Signal(_PLACE_BITS), Signal()
        m.d.comb += [
            place.eq(word.payload.address[_WORD_SHIFT:REQUEST_BITS] + gone),
            complete.eq(word.payload.last | place[: bits_for(count)].all() | (count == 1)),
            row.valid.eq(word.valid & complete),
            word.ready.eq(row.ready | ~complete),
            row.payload.address.eq(word.payload.address),
            row.payload.length.eq(word.payload.length),
            row.payload.last.eq(word.payload.last),
            row.payload.data.eq(
                Cat(
                    *(
                        Mux(place[: bits_for(count)] == number, data, lane)
                        for number, lane in enumerate(lanes)
                    ),
                    data,
                )
            ),
        ]
        with m.If(word.valid & word.ready):
            m.d.sync += gone.eq(Mux(word.payload.last, 0, gone + 1))
            for number, lane in enumerate(lanes):
                with m.If(place[: bits_for(count)] == number):
                    m.d.sync += lane.eq(data)
        return m


class WriteMerge(wiring.Component):
    """Merges writes of `count` units into one stream, in turn; those of a request stay together.

    A write that is taken leaves before all that are taken later.

    Latency: none. Throughput: a row per cycle.

    Members
    -------
    inputs : In(stream(HostWrite)).array(count)
    output : Out(stream(HostWrite))
    begins : Out(1)   the row is the first of its request
    """

    def __init__(self, port_bytes: int, count: int):
        self.count = count
        one = stream.Signature(HostWrite(port_bytes))
        super().__init__({"inputs": In(one).array(count), "output": Out(one), "begins": Out(1)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.turn = turn = RoundRobin(self.count)
        out, kept, chosen, stays = self.output, Signal(self.count), Signal(self.count), Signal()
        moves = Signal()
        m.d.comb += [
            turn.requests.eq(Cat(one.valid for one in self.inputs)),
            # An item that is offered stays, and so do those behind it in its request.
            chosen.eq(Mux(stays, kept, turn.chosen)),
            out.valid.eq((chosen & turn.requests).any()),
            out.payload.as_value().eq(select(chosen, [one.payload for one in self.inputs])),
            moves.eq(out.valid & out.ready),
            turn.advance.eq(moves & self.begins),
        ]
        for number, one in enumerate(self.inputs):
            m.d.comb += one.ready.eq(chosen[number] & out.ready)
        within = Signal()
        m.d.comb += self.begins.eq(~within)
        with m.If(out.valid):
            m.d.sync += [kept.eq(chosen), stays.eq(~(moves & out.payload.last))]
        with m.If(moves):
            m.d.sync += within.eq(~out.payload.last)
        return m
