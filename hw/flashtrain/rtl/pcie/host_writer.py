"""Writes of the controller to the host's memory."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.lib.axi import WritePort
from flashtrain.rtl.lib.streams import Queue

from .burst_splitter import BurstSplitter
from .layouts import ADDRESS_BITS, MOST_BYTES, PORT_BYTES, DataPlace, Message, Segment

_WORD_BITS = 8 * PORT_BYTES
_MOST = 31
"""Bursts without an answer."""


class HostWriter(wiring.Component):
    """Takes bursts of the controller, one after the other, and writes them to the host's memory in segments.

    Data that begin at an odd dword are shifted by 4 bytes. Both ends of such a burst are dwords, which are
    written each by itself.

    A burst is answered when all its writes are, and its dwords have been taken. So what is written after the
    answer is behind its data.

    Latency: 9 cycles from a burst to its first request. Throughput: 16 chunks in 17 cycles.

    Members
    -------
    controller : In(WritePort)   `beat_bytes` wide; no beat is masked
    host : Out(WritePort)        bursts within 128 bytes
    dwords : Out(stream(Message))   single dwords
    request : Out(stream(DataPlace)), found : In(1), address : In   see `AddressTable`
    """

    def __init__(self, address_bits: int, beat_bytes: int, slots: int, most_bytes: int = MOST_BYTES):
        self.address_bits, self.beat_bytes = address_bits, beat_bytes
        self.slots, self.most_bytes = slots, most_bytes
        super().__init__({
            "controller": In(WritePort(address_bits=address_bits, data_bits=8 * beat_bytes)),
            "host": Out(WritePort(address_bits=ADDRESS_BITS, data_bits=_WORD_BITS)),
            "dwords": Out(stream.Signature(Message())),
            "request": Out(stream.Signature(DataPlace(slots, most_bytes))),
            "found": In(1),
            "address": In(ADDRESS_BITS),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.splitter = splitter = BurstSplitter(
            self.address_bits, self.beat_bytes, self.slots, self.most_bytes
        )
        connect(m, flipped(self.controller.aw), splitter.bursts)
        connect(m, splitter.request, flipped(self.request))
        m.d.comb += [splitter.found.eq(self.found), splitter.address.eq(self.address)]
        word, there, taken = Signal(_WORD_BITS), Signal(), Signal()
        self._divide(m, word, there, taken)
        m.submodules.asked = asked = Queue(Segment(self.slots), 3)
        self._unanswered, self._opens, self._begun = Signal(range(_MOST + 1)), Signal(), Signal()
        answer = self.controller.b
        self._ask(m, splitter.segments, asked.input, answer.valid & answer.ready)
        self._write(m, asked.output, word, there, taken)
        return m

    def _divide(self, m: Module, word, there, taken):
        """The beats as words of 8 bytes."""
        beat = self.controller.w
        if self.beat_bytes < PORT_BYTES:
            low, second = Signal(8 * self.beat_bytes), Signal()
            m.d.comb += [
                word.eq(Cat(low, beat.payload.data)),
                there.eq(beat.valid & second),
                beat.ready.eq(~second | taken),
            ]
            with m.If(beat.valid & beat.ready):
                m.d.sync += [second.eq(~second), low.eq(beat.payload.data)]
            return
        words = self.beat_bytes // PORT_BYTES
        count = Signal(range(words))
        m.d.comb += [
            word.eq(beat.payload.data.word_select(count, _WORD_BITS)),
            there.eq(beat.valid),
            beat.ready.eq(taken & (count == words - 1)),
        ]
        with m.If(taken):
            m.d.sync += count.eq(Mux(count == words - 1, 0, count + 1))

    def _ask(self, m: Module, segment, asked, answered):
        """Offer the bursts of the host before their beats, those of one burst of the controller at a time.

        The port takes no dword between a burst and its beats. So a burst behind a dword waits for it.
        """
        item, burst = segment.payload, self.host.aw
        closed, begins, middle = Signal(), Signal(), _middle(item)
        held, may_begin, follows = Signal(), Signal(), Signal()
        m.d.comb += [
            may_begin.eq(asked.ready & ~burst.valid & ~held & ~closed & (self._unanswered != _MOST)),
            begins.eq(segment.valid & may_begin),
            segment.ready.eq(begins),
            asked.valid.eq(begins),
            asked.payload.eq(item),
            self._opens.eq(begins & (middle != 0)),
        ]
        with m.If(burst.ready):
            m.d.sync += burst.valid.eq(0)
        with m.If(begins):
            m.d.sync += [
                burst.valid.eq((middle != 0) & ~item.skips_first),
                # Also where nothing but the dword is within 128 bytes: the next burst is behind it.
                held.eq(item.skips_first),
                follows.eq(middle != 0),
                burst.payload.address.eq(item.address + (item.skips_first << 3)),
                burst.payload.length.eq(middle - 1),
                closed.eq(item.last),
            ]
        with m.If(held & self._begun):
            m.d.sync += [burst.valid.eq(follows), held.eq(0)]
        with m.If(answered):
            m.d.sync += closed.eq(0)

    def _write(self, m: Module, segment, word, there, taken):
        item, beat, done = segment.payload, self.host.w, self.host.b
        dword, answer, half = self.dwords, self.controller.b, _WORD_BITS // 2
        odd, carry = Signal(), Signal(half)
        middle, failed, ends = _middle(item), Signal(), Signal()
        left = Signal.like(middle)
        m.d.comb += [
            beat.payload.data.eq(Mux(odd, Cat(carry, word[:half]), word)),
            beat.payload.last.eq(left == 1),
            done.ready.eq(1),
            segment.ready.eq(ends),
            answer.payload.error.eq(failed),
        ]
        m.d.sync += self._unanswered.eq(self._unanswered + self._opens - done.valid)
        m.d.sync += failed.eq(failed | done.valid & done.payload.error)
        with m.If(taken):
            m.d.sync += carry.eq(word[half:])
        with m.FSM():
            with m.State("begin"), m.If(segment.valid):
                m.d.sync += left.eq(middle)
                m.next = "beats"
                with m.If(item.skips_first):
                    m.next = "head"
                with m.Elif(middle == 0):
                    m.next = "tail"
            with m.State("head"):
                m.d.comb += [
                    dword.valid.eq(there),
                    dword.payload.address.eq(item.address + PORT_BYTES // 2),
                    dword.payload.data.eq(word[:half]),
                    taken.eq(there & dword.ready),
                ]
                with m.If(taken):
                    m.d.comb += self._begun.eq(1)
                    m.d.sync += odd.eq(1)
                    with m.If(middle != 0):
                        m.next = "beats"
                    with m.Elif(item.skips_last):
                        m.next = "tail"
                    with m.Else():
                        m.d.comb += ends.eq(1)
                        m.next = "begin"
            with m.State("beats"):
                m.d.comb += [beat.valid.eq(there), taken.eq(there & beat.ready)]
                with m.If(taken):
                    m.d.sync += left.eq(left - 1)
                    with m.If(left == 1):
                        m.next = "begin"
                        with m.If(item.skips_last):
                            m.next = "tail"
                        with m.Else():
                            m.d.comb += ends.eq(1)
                            with m.If(item.last):
                                m.next = "settle"
            with m.State("tail"):
                m.d.comb += [
                    dword.valid.eq(1),
                    dword.payload.address.eq(item.address + (item.length << 3)),
                    dword.payload.data.eq(carry),
                ]
                with m.If(dword.ready):
                    m.d.comb += ends.eq(1)
                    m.d.sync += odd.eq(0)
                    m.next = "settle"
            with m.State("settle"), m.If(self._unanswered == 0):
                m.next = "answer"
            with m.State("answer"):
                m.d.comb += answer.valid.eq(1)
                with m.If(answer.ready):
                    m.d.sync += failed.eq(0)
                    m.next = "begin"


def _middle(segment):
    """Chunks of a segment that are written whole."""
    return (segment.length + 1 - segment.skips_first - segment.skips_last)[: len(segment.length) + 1]
