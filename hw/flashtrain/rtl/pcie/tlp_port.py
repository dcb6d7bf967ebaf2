"""The port on the host's memory as requests of TLPs, for a hard block of PCI Express."""

from amaranth import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.lib.axi import ReadPort
from flashtrain.rtl.lib.memories import NEVER_COLLIDES
from flashtrain.rtl.lib.streams import HalfRateSlice, Queue, RoundRobin
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.pcie import REQUEST_BYTES, WORD_BYTES, TlpSizes

from .host_writes import WordWriter, WriteMerge, WriteWidener, part_of_burst
from .lanes import DWORD_SHIFT
from .layouts import (
    ADDRESS_BITS,
    BURST_BEATS,
    HALF_BYTES,
    LENGTH_BITS,
    REQUEST_BITS,
    HostWrite,
    Message,
    TlpCompletion,
    TlpData,
    TlpRequest,
    WordPort,
)

_ROWS = 8
"""Of writes whose requests have left, or wait to."""


class TlpPort(wiring.Component):
    """Turns bursts and messages to memory requests, and puts completions in the order of the bursts.

    There are two sides. Queues, lists and firmware have bursts of up to 16 words of 8 bytes. One that crosses
    a multiple of 128 bytes is two requests. Data have bursts within 128 bytes, of any dwords, in rows of
    `port_bytes` at multiples of their width. Each of these is one request.

    Reads have the tags in turn, and wait while a tag is in use. Completions of different tags come in any
    order, whole or in pieces. A completion that fails ends its request: the beats that are missing have
    `error`. A beat for a tag that is not in use is dropped. Both sides have their beats in the order of the
    requests. So data wait while the words of a row are taken, one in a cycle.

    Writes and messages leave in the order in which they are taken, and the data of each follow its request.
    They are posted: a write of words is answered when its last word has been taken, and has no error. So a
    message that comes after the answer is behind the data. Reads, writes and messages take turns.

    Latency: 1 cycle from a burst of data to its request, 2 from one of words, 3 from the first row of writes;
    2 from a completion to the beat. Throughput: a row per cycle in each direction, and a request per cycle. A
    burst of words takes 2.

    Members
    -------
    read : In(ReadPort), write : In(WordPort)   of words
    data_read : In(ReadPort)                `length`: dwords - 1
    data_write : In(stream(HostWrite))
    messages : In(stream(Message))
    requests : Out(stream(TlpRequest))
    data : Out(stream(TlpData))             of writes and messages, in the order of their requests
    completions : In(stream(TlpCompletion))   always ready
    idle : Out(1)                           no tag is in use, and no request or data are to leave
    """

    def __init__(self, sizes: TlpSizes):
        self.sizes = sizes
        self.tags, self.rows = sizes.tags, REQUEST_BYTES // sizes.port_bytes
        words = {"address_bits": ADDRESS_BITS, "data_bits": 8 * WORD_BYTES}
        rows = {"address_bits": ADDRESS_BITS, "data_bits": 8 * sizes.port_bytes}
        super().__init__({
            "read": In(ReadPort(**words)),
            "write": In(WordPort()),
            "data_read": In(ReadPort(**rows)),
            "data_write": In(stream.Signature(HostWrite(sizes.port_bytes))),
            "messages": In(stream.Signature(Message())),
            "requests": Out(stream.Signature(TlpRequest(sizes))),
            "data": Out(stream.Signature(TlpData(sizes))),
            "completions": In(stream.Signature(TlpCompletion(sizes), always_ready=True)),
            "idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        tag, used, room = Signal(range(self.tags)), Signal(self.tags), Signal()
        self._begins, self._quiet = Signal(), Signal()
        m.d.comb += room.eq(~used.bit_select(tag, 1))
        self._request(m, tag, room)
        ends, ended = self._order(m, used)
        for number in range(self.tags):
            m.d.sync += used[number].eq(
                used[number] & ~(ends & (ended == number)) | self._begins & (tag == number)
            )
        with m.If(self._begins):
            m.d.sync += tag.eq(Mux(tag == self.tags - 1, 0, tag + 1))
        m.d.comb += self.idle.eq(~used.any() & ~self.requests.valid & self._quiet)
        return m

    def _request(self, m: Module, tag, room):
        """Requests and the data of writes; what the order of reads has to know of the one that begins."""
        width = self.sizes.port_bytes
        m.submodules.words = words = WordWriter()
        m.submodules.widener = widener = WriteWidener(width)
        m.submodules.merge = merge = WriteMerge(width, 3)
        m.submodules.turn = turn = RoundRobin(3)
        m.submodules.posted = posted = Queue(TlpData(self.sizes), _ROWS)
        place = data.StructLayout({"address": ADDRESS_BITS, "length": LENGTH_BITS})
        m.submodules.places = places = Queue(place, _ROWS)
        connect(m, flipped(self.write), words.words)
        connect(m, words.rows, widener.words)
        connect(m, widener.rows, merge.inputs[0])
        connect(m, flipped(self.data_write), merge.inputs[1])
        message, text = self.messages, merge.inputs[2]
        m.d.comb += [
            text.valid.eq(message.valid),
            text.payload.address.eq(message.payload.address),
            text.payload.length.eq(1),
            text.payload.data.eq(message.payload.data.replicate(width // 4)),
            text.payload.last.eq(1),
            message.ready.eq(text.ready),
        ]
        rows, request = self.data_read.ar, self.requests
        self._post(m, merge, posted.input, places.input)
        second, free = Signal(), Signal()
        read = self._words_to_read(m)
        address, count, _ = part_of_burst(read.payload.address, read.payload.words, second)
        last_part = second | ~read.payload.crosses
        m.d.comb += [
            free.eq(~request.valid | request.ready),
            turn.requests.eq(
                Cat(read.valid & room, rows.valid & room, places.output.valid) & free.replicate(3)
            ),
            turn.advance.eq(turn.chosen.any()),
            read.ready.eq(turn.chosen[0] & last_part),
            rows.ready.eq(turn.chosen[1]),
            places.output.ready.eq(turn.chosen[2]),
            self._begins.eq(turn.chosen[:2].any()),
        ]
        self._of_words, self._part_ends = Signal(), Signal()
        m.d.sync += [self._of_words.eq(turn.chosen[0]), self._part_ends.eq(last_part | ~turn.chosen[0])]
        with m.If(turn.chosen[0]):
            m.d.sync += second.eq(~last_part)
        with m.If(request.ready):
            m.d.sync += request.valid.eq(0)
        with m.Switch(turn.chosen):
            with m.Case(1):
                m.d.sync += [request.payload.address.eq(address), request.payload.length.eq(count << 1)]
            with m.Case(2):
                m.d.sync += [
                    request.payload.address.eq(rows.payload.address),
                    request.payload.length.eq(rows.payload.length + 1),
                ]
            with m.Case(4):
                m.d.sync += [
                    request.payload.address.eq(places.output.payload.address),
                    request.payload.length.eq(places.output.payload.length),
                ]
        with m.If(turn.advance):
            m.d.sync += [
                request.valid.eq(1),
                request.payload.write.eq(turn.chosen[2]),
                request.payload.tag.eq(tag),
            ]
        # Requests of writes that have left, and whose last row has not.
        left, ends = Signal(range(_ROWS + 2)), Signal()
        out, item = self.data, posted.output
        m.d.comb += [
            out.valid.eq(item.valid & (left != 0)),
            out.payload.eq(item.payload),
            item.ready.eq(out.ready & (left != 0)),
            ends.eq(out.valid & out.ready & item.payload.last),
            self._quiet.eq((posted.level == 0) & merge.begins & ~read.valid),
        ]
        m.d.sync += left.eq(left + (request.valid & request.ready & request.payload.write) - ends)

    def _words_to_read(self, m: Module):
        """Bursts of words behind a register, with what decides how many requests they are."""
        burst, words = self.read.ar, Signal(range(BURST_BEATS + 1))
        place = data.StructLayout({"address": ADDRESS_BITS, "words": words.shape(), "crosses": 1})
        m.submodules.reads = reads = HalfRateSlice(place)
        _, _, whole = part_of_burst(burst.payload.address, words, Const(0))
        m.d.comb += [
            words.eq(burst.payload.length[: bits_for(BURST_BEATS)] + 1),
            reads.input.payload.address.eq(burst.payload.address),
            reads.input.payload.words.eq(words),
            reads.input.payload.crosses.eq(~whole),
            reads.input.valid.eq(burst.valid),
            burst.ready.eq(reads.input.ready),
        ]
        return reads.output

    @staticmethod
    def _post(m: Module, merge: WriteMerge, posted, places):
        """Rows of writes to their queue, and the place of each request to another one."""
        write = merge.output
        m.d.comb += [
            write.ready.eq(posted.ready & places.ready),
            posted.valid.eq(write.valid & places.ready),
            posted.payload.data.eq(write.payload.data),
            posted.payload.last.eq(write.payload.last),
            places.valid.eq(write.valid & posted.ready & merge.begins),
            places.payload.address.eq(write.payload.address),
            places.payload.length.eq(write.payload.length),
        ]

    def _order(self, m: Module, used):
        """Keep the rows of each tag, and give them in the order of the tags. When a tag ends, and which."""
        width, place_bits, begins = self.sizes.port_bytes, bits_for(self.rows), self._begins
        in_halves = width > HALF_BYTES
        m.submodules.store = store = Memory(
            shape=8 * width, depth=self.tags * self.rows, init=[], attrs=NEVER_COLLIDES
        )
        writer = store.write_port(granularity=8 * HALF_BYTES if in_halves else None)
        reader = store.read_port()
        # Where a request begins and ends: its row, and the words in them.
        row_shift, word_shift = bits_for(width), bits_for(WORD_BYTES)
        # From the register of the request, which has it for a cycle at least.
        begun, request = Signal(), self.requests.payload
        m.d.sync += begun.eq(begins)
        low = request.address[:REQUEST_BITS]
        end = (low[DWORD_SHIFT:] + request.length - 1)[: REQUEST_BITS - DWORD_SHIFT] << DWORD_SHIFT
        words = Signal(range(width // WORD_BYTES)).shape()
        kind = data.StructLayout({
            "of_words": 1, "last_part": 1, "rows": place_bits, "first": words, "final": words,
        })  # fmt: skip
        m.submodules.kinds = kinds = Memory(shape=kind, depth=self.tags, init=[])
        new, kept = kinds.write_port(), kinds.read_port(domain="comb")
        m.d.comb += [
            new.en.eq(begun),
            new.addr.eq(request.tag),
            new.data.of_words.eq(self._of_words),
            new.data.last_part.eq(self._part_ends),
            new.data.rows.eq(end[row_shift:] - low[row_shift:]),
            new.data.first.eq(low[word_shift:row_shift]),
            new.data.final.eq(end[word_shift:row_shift]),
        ]
        stored = Array(Signal(place_bits + 1, name=f"stored{one}") for one in range(self.tags))
        over = Signal(self.tags)
        completion, item = self.completions, self.completions.payload
        known, grows = Signal(), Signal()
        m.d.comb += [
            known.eq(completion.valid & used.bit_select(item.tag, 1) & ~over.bit_select(item.tag, 1)),
            grows.eq(~item.failed & (item.end | item.halves[1]) if in_halves else ~item.failed),
            writer.addr.eq(Cat(stored[item.tag][:place_bits], item.tag)),
            writer.data.eq(item.data),
            writer.en.eq(item.halves & known.replicate(2) if in_halves else known),
        ]
        for number in range(self.tags):
            # With two tags at least, one is empty before it is the head again, which does not ask `used`.
            with m.If(~used[number]):
                m.d.sync += [stored[number].eq(0), over[number].eq(0)]
            with m.Elif(known & (item.tag == number)):
                m.d.sync += [over[number].eq(item.end), stored[number].eq(stored[number] + grows)]

        head, place, front = Signal(range(self.tags)), Signal(place_bits), kept.data
        there, missing, last, advance = Signal(), Signal(), Signal(), Signal()
        valid, error, ended, passes = Signal(), Signal(), Signal(), Signal()
        of_words, ends_burst, at, final = Signal(), Signal(), Signal(words), Signal(words)
        m.d.comb += [
            there.eq(stored[head] > place),
            missing.eq(over.bit_select(head, 1) & ~there),
            last.eq(place == front.rows),
            advance.eq((~valid | passes) & (there | missing)),
            kept.addr.eq(head),
            reader.addr.eq(Cat(place, head)),
            reader.en.eq(advance),
        ]
        word, row = self.read.r, self.data_read.r
        m.d.comb += [
            row.valid.eq(valid & ~of_words),
            row.payload.data.eq(reader.data),
            row.payload.last.eq(ended),
            row.payload.error.eq(error),
            word.valid.eq(valid & of_words),
            word.payload.data.eq(reader.data.word_select(at, 8 * WORD_BYTES)),
            word.payload.last.eq(ends_burst & (at == final)),
            word.payload.error.eq(error),
            passes.eq(Mux(of_words, word.ready & (at == final), row.ready)),
        ]
        with m.If(word.valid & word.ready):
            m.d.sync += at.eq(at + 1)
        with m.If(passes):
            m.d.sync += valid.eq(0)
        with m.If(advance):
            m.d.sync += [
                valid.eq(1),
                error.eq(missing),
                ended.eq(last),
                of_words.eq(front.of_words),
                ends_burst.eq(last & front.last_part),
                at.eq(Mux(place == 0, front.first, 0)),
                final.eq(Mux(last, front.final, width // WORD_BYTES - 1)),
                place.eq(Mux(last, 0, place + 1)),
            ]
            with m.If(last):
                m.d.sync += head.eq(Mux(head == self.tags - 1, 0, head + 1))
        return advance & last, head
