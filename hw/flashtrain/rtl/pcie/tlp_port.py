"""The port on the host's memory as requests of TLPs, for a hard block of PCI Express."""

from amaranth import Array, Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.axi import ReadPort, WritePort
from flashtrain.rtl.lib.memories import NEVER_COLLIDES
from flashtrain.rtl.lib.streams import RoundRobin
from flashtrain.spec.geometry import bits_for

from .layouts import (
    ADDRESS_BITS,
    BURST_BEATS,
    DWORD_BITS,
    PORT_BYTES,
    Message,
    TlpCompletion,
    TlpData,
    TlpRequest,
)

_POSTED = 2
"""Writes and messages with data that have not left: those of one leave while the next one is requested."""


class TlpPort(wiring.Component):
    """Turns bursts and messages to memory requests, and puts completions in the order of the bursts.

    Bursts have at most `BURST_BEATS` beats, and each is one request. Reads have the tags in turn, and wait
    while a tag is in use. Completions of different tags come in any order, whole or in pieces of whole
    beats. A completion that fails ends its request: the beats that are missing have `error`. A beat for a tag
    that is not in use is dropped.

    Writes and messages leave in the order in which they are taken, and the data of each follow its request.
    They are posted: a write is answered when its data have left, and has no error. So a message that comes
    after the answer is behind the data. Reads, writes and messages take turns.

    Latency: 1 cycle from a burst to its request; 2 from a completion to the beat. Throughput: a beat per
    cycle in each direction, a request in 2 cycles; writes of 128 bytes in 16.

    Members
    -------
    read : In(ReadPort), write : In(WritePort)
    messages : In(stream(Message))
    requests : Out(stream(TlpRequest))
    data : Out(stream(TlpData))             of writes and messages, in the order of their requests
    completions : In(stream(TlpCompletion))   always ready
    idle : Out(1)                           no tag is in use, and no request or data are to leave
    """

    def __init__(self, tags: int = 16):
        self.tags = tags
        sizes = {"address_bits": ADDRESS_BITS, "data_bits": 8 * PORT_BYTES}
        super().__init__({
            "read": In(ReadPort(**sizes)),
            "write": In(WritePort(**sizes)),
            "messages": In(stream.Signature(Message())),
            "requests": Out(stream.Signature(TlpRequest(tags))),
            "data": Out(stream.Signature(TlpData())),
            "completions": In(stream.Signature(TlpCompletion(tags), always_ready=True)),
            "idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        tag, used, room = Signal(range(self.tags)), Signal(self.tags), Signal()
        begins, self._quiet = Signal(), Signal()
        m.d.comb += room.eq(~used.bit_select(tag, 1))
        beats = self._request(m, begins, tag, room)
        ends, ended = self._order(m, begins, tag, used, beats)
        for number in range(self.tags):
            m.d.sync += used[number].eq(used[number] & ~(ends & (ended == number)) | begins & (tag == number))
        with m.If(begins):
            m.d.sync += tag.eq(Mux(tag == self.tags - 1, 0, tag + 1))
        m.d.comb += self.idle.eq(~used.any() & ~self.requests.valid & self._quiet)
        return m

    def _request(self, m: Module, begins, tag, room):
        """Requests and the data of writes; beats - 1 of the read that begins."""
        m.submodules.turn = turn = RoundRobin(3)
        read, write, message = self.read.ar, self.write.aw, self.messages
        request, free = self.requests, Signal()
        # Writes and messages with data that have not left; writes without an answer, and those that are due.
        posted, owed, done = (Signal(range(_POSTED + 1), name=name) for name in ("posted", "owed", "done"))
        tells = Signal(_POSTED)  # a bit for each of them: it is a message
        left = Signal.like(posted)  # requests of them that have left
        telling, text = Signal(), Signal(DWORD_BITS)
        m.d.comb += [
            free.eq(~request.valid),
            turn.requests.eq(
                Cat(
                    read.valid & room,
                    write.valid & (posted != _POSTED) & (owed != _POSTED),
                    message.valid & (posted != _POSTED) & ~telling,
                )
                & free.replicate(3)
            ),
            turn.advance.eq(turn.chosen.any()),
            Cat(read.ready, write.ready, message.ready).eq(turn.chosen),
            begins.eq(turn.chosen[0]),
        ]
        with m.If(request.ready):
            m.d.sync += request.valid.eq(0)
        with m.If(turn.advance):
            m.d.sync += [
                request.valid.eq(1),
                request.payload.write.eq(~turn.chosen[0]),
                request.payload.tag.eq(tag),
            ]
        with m.Switch(turn.chosen):
            for number, burst in ((0, read), (1, write)):
                with m.Case(1 << number):
                    m.d.sync += [
                        request.payload.address.eq(burst.payload.address),
                        request.payload.length.eq((burst.payload.length[: bits_for(BURST_BEATS)] + 1) << 1),
                    ]
            with m.Case(1 << 2):
                m.d.sync += [
                    request.payload.address.eq(message.payload.address),
                    request.payload.length.eq(1),
                    text.eq(message.payload.data),
                ]
        beat, answer, ends = self.write.w, self.write.b, Signal()
        m.d.comb += [
            self.data.valid.eq((left != 0) & (tells[0] | beat.valid)),
            self.data.payload.data.eq(Mux(tells[0], text, beat.payload.data)),
            self.data.payload.last.eq(tells[0] | beat.payload.last),
            beat.ready.eq((left != 0) & ~tells[0] & self.data.ready),
            ends.eq(self.data.valid & self.data.ready & self.data.payload.last),
            answer.valid.eq(done != 0),
            self._quiet.eq(posted == 0),
        ]
        m.d.sync += [
            posted.eq(posted + turn.chosen[1:].any() - ends),
            left.eq(left + (request.valid & request.ready & request.payload.write) - ends),
            owed.eq(owed + turn.chosen[1] - (answer.valid & answer.ready)),
            done.eq(done + (ends & ~tells[0]) - (answer.valid & answer.ready)),
            telling.eq(telling & ~(ends & tells[0]) | turn.chosen[2]),
            tells.eq(Mux(ends, tells >> 1, tells) | (turn.chosen[2] << (posted - ends)[: len(posted)])),
        ]
        return read.payload.length

    def _order(self, m: Module, begins, tag, used, beats):
        """Keep the beats of each tag, and give them in the order of the tags. When a tag ends, and which."""
        m.submodules.store = store = Memory(
            shape=8 * PORT_BYTES, depth=self.tags * BURST_BEATS, init=[], attrs=NEVER_COLLIDES
        )
        writer, reader = store.write_port(), store.read_port()
        place_bits = bits_for(BURST_BEATS)
        stored = Array(Signal(place_bits + 1, name=f"stored{one}") for one in range(self.tags))
        lasts = Array(Signal(place_bits, name=f"last{one}") for one in range(self.tags))
        over = Signal(self.tags)

        completion, item = self.completions, self.completions.payload
        known = Signal()
        m.d.comb += [
            known.eq(completion.valid & used.bit_select(item.tag, 1) & ~over.bit_select(item.tag, 1)),
            writer.addr.eq(Cat(stored[item.tag][:place_bits], item.tag)),
            writer.data.eq(item.data),
            writer.en.eq(known),
        ]
        for number in range(self.tags):
            with m.If(begins & (tag == number)):
                m.d.sync += [stored[number].eq(0), lasts[number].eq(beats), over[number].eq(0)]
            with m.Elif(known & (item.tag == number)):
                m.d.sync += over[number].eq(item.end)
                with m.If(~item.failed):
                    m.d.sync += stored[number].eq(stored[number] + 1)

        head, place = Signal(range(self.tags)), Signal(place_bits)
        beat, advance, there, missing, last = self.read.r, Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            there.eq(stored[head] > place),
            missing.eq(over.bit_select(head, 1) & ~there),
            last.eq(place == lasts[head]),
            advance.eq((~beat.valid | beat.ready) & used.bit_select(head, 1) & (there | missing)),
            reader.addr.eq(Cat(place, head)),
            reader.en.eq(advance),
            beat.payload.data.eq(reader.data),
        ]
        with m.If(beat.ready):
            m.d.sync += beat.valid.eq(0)
        with m.If(advance):
            m.d.sync += [
                beat.valid.eq(1),
                beat.payload.last.eq(last),
                beat.payload.error.eq(missing),
                place.eq(Mux(last, 0, place + 1)),
            ]
            with m.If(last):
                m.d.sync += head.eq(Mux(head == self.tags - 1, 0, head + 1))
        return advance & last, head
