"""Physical Region Pages of commands to pieces of the host's memory (NVM Express Base 2.0, section 4.1.1)."""

from amaranth import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.axi import ReadPort
from flashtrain.rtl.lib.memories import NEVER_COLLIDES
from flashtrain.rtl.lib.streams import Queue
from flashtrain.spec import Completion, Status
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.pcie import INVALID_PRP_OFFSET, MAX_PAGE_EXPONENT, PAGE_BITS, PRP_BYTES, WORD_BYTES

from .layouts import (
    ADDRESS_BITS,
    BURST_BEATS,
    MOST_BYTES,
    PAGE_EXPONENT_BITS,
    PIECE_BITS,
    REQUEST_BITS,
    DataPointer,
    Piece,
)

_EXPONENTS = range(MAX_PAGE_EXPONENT + 1)
_ENTRY_SHIFT = bits_for(PRP_BYTES)
_STATUS_BITS = Completion.status.width


class PrpWalker(wiring.Component):
    """Reads the whole list of a command, and then gives the pieces of its data, one for each page.

    So a list with a fault moves no byte: the command has one piece with the status, as the function in
    software answers it. A list that cannot be read, DATA_TRANSFER_ERROR, comes before a wrong offset in it.

    Pages that were read stand in a memory with room for two of the largest commands. So lists are read ahead
    while pieces of earlier commands are given. No more entries are read than the length needs, and the
    lengths of the pieces add up to it.

    Latency: 9 cycles from a command without a list to its first piece. A list adds 7 cycles, the latency of
    the memory, and a cycle for each entry. Each further page of it adds 8 cycles and the latency of the
    memory. Throughput: a piece in 3 cycles.

    Members
    -------
    page_exponent : In   CC.MPS; constant while the walker has a command
    pointers : In(stream(DataPointer))
    read : Out(ReadPort)   bursts within 128 bytes
    pieces : Out(stream(Piece))
    idle : Out(1)
    """

    def __init__(self, most_bytes: int = MOST_BYTES, ahead: int = 4):
        self.most_bytes = most_bytes
        self.ahead = ahead
        self.most_entries = -(-most_bytes >> PAGE_BITS)  # besides the first piece
        super().__init__({
            "page_exponent": In(PAGE_EXPONENT_BITS),
            "pointers": In(stream.Signature(DataPointer(most_bytes))),
            "read": Out(ReadPort(address_bits=ADDRESS_BITS, data_bits=8 * WORD_BYTES)),
            "pieces": Out(stream.Signature(Piece())),
            "idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        page, mask = Signal(PIECE_BITS), Signal(PIECE_BITS - 1)
        exponents = Array(1 << PAGE_BITS + exponent for exponent in _EXPONENTS)
        m.d.sync += [page.eq(exponents[self.page_exponent]), mask.eq(exponents[self.page_exponent] - 1)]
        self._page, self._mask = page, mask

        depth = 1 << bits_for(2 * self.most_entries)
        pages = Memory(shape=ADDRESS_BITS - PAGE_BITS, depth=depth, init=[], attrs=NEVER_COLLIDES)
        m.submodules.pages = pages
        length = self.pointers.payload.length.shape()
        self._walked = data.StructLayout({
            "address": ADDRESS_BITS, "room": PIECE_BITS, "length": length, "status": _STATUS_BITS,
        })  # fmt: skip
        m.submodules.walked = walked = Queue(self._walked, self.ahead)
        # Pages that are kept: the writer takes back those of a command with a fault.
        taken, given = Signal(range(depth)), Signal(range(depth))
        walking, giving = Signal(), Signal()
        self._walk(m, pages.write_port(), taken, given, walked.input, walking)
        self._give(m, pages.read_port(), given, walked.output, giving)
        m.d.comb += self.idle.eq(~walking & ~giving & (walked.level == 0))
        return m

    def _walk(self, m: Module, writer, taken, given, walked, walking):
        """Take a command, split its length, and read its list."""
        pointer, length = Signal(DataPointer(self.most_bytes)), self.pointers.payload.length.shape()
        room, left, single = Signal(PIECE_BITS), Signal(length), Signal()
        missing, begin = Signal(range(self.most_entries + 1)), Signal.like(taken)
        place, there = Signal(ADDRESS_BITS), Signal.like(taken)
        status, misplaced = Signal(_STATUS_BITS), Signal()
        low = self._mask
        m.d.comb += [
            walked.payload.address.eq(pointer.first),
            walked.payload.room.eq(room),
            walked.payload.length.eq(pointer.length),
            walked.payload.status.eq(status),
            writer.addr.eq(taken),
        ]
        m.d.sync += there.eq(given - taken - 1)  # free places; `taken` stays from WAIT to CHECK
        with m.If(self.read.ar.ready):
            m.d.sync += self.read.ar.valid.eq(0)
        with m.FSM(name="walk") as steps:
            with m.State("WAIT"):
                m.d.comb += self.pointers.ready.eq(1)
                m.d.sync += [pointer.eq(self.pointers.payload), begin.eq(taken)]
                m.d.sync += [misplaced.eq(0), status.eq(Status.SUCCESS)]
                with m.If(self.pointers.valid):
                    m.next = "ROOM"
            with m.State("ROOM"):
                m.d.sync += room.eq(self._page - (pointer.first & low))
                m.next = "LEFT"
            with m.State("LEFT"):
                m.d.sync += [left.eq(pointer.length - room), single.eq(pointer.length <= room)]
                m.next = "COUNT"
            with m.State("COUNT"):
                counts = Array((left + low) >> PAGE_BITS + exponent for exponent in _EXPONENTS)
                m.d.sync += [missing.eq(counts[self.page_exponent]), place.eq(pointer.second)]
                m.next = "CHECK"
            with m.State("CHECK"):
                listed = (missing != 1) & ~single
                wrong = pointer.first[:2].any() | listed & (place & PRP_BYTES - 1).any()
                wrong |= ~listed & ~single & (place & low).any()
                with m.If(wrong):
                    m.d.sync += status.eq(INVALID_PRP_OFFSET)
                    m.next = "END"
                with m.Elif(single):
                    m.next = "END"
                with m.Elif(there >= missing):
                    m.next = "LIST"
                    with m.If(~listed):
                        m.d.comb += [writer.data.eq(place[PAGE_BITS:]), writer.en.eq(1)]
                        m.d.sync += taken.eq(taken + 1)
                        m.next = "END"
            self._read_list(m, writer, taken, place, missing, status, misplaced)
            with m.State("END"):
                m.d.comb += walked.valid.eq(1)
                with m.If(status != Status.SUCCESS):
                    m.d.sync += taken.eq(begin)
                with m.If(walked.ready):
                    m.next = "WAIT"
        m.d.comb += walking.eq(~steps.ongoing("WAIT"))

    def _read_list(self, m: Module, writer, taken, place, missing, status, misplaced):
        """Entries of a page of the list. If it has too few, the last one is the place of the next page."""
        beat, burst = self.read.r, self.read.ar
        room = Signal(range((1 << PAGE_BITS + MAX_PAGE_EXPONENT) // PRP_BYTES + 1))
        asked, due = Signal.like(room), Signal.like(room)  # entries not asked for, and those to come
        chained, unreadable, low = Signal(), Signal(), self._mask
        beats, upto = Signal(range(BURST_BEATS + 1)), Signal(range(BURST_BEATS + 1))
        entry, is_chain = beat.payload.data, Signal()
        m.d.comb += [
            beat.ready.eq(1),
            upto.eq(BURST_BEATS - place[_ENTRY_SHIFT : _ENTRY_SHIFT + bits_for(BURST_BEATS)]),
            beats.eq(Mux(asked < upto, asked, upto)),
            is_chain.eq(chained & (due == 1)),
        ]
        with m.State("LIST"):
            m.d.sync += [room.eq((self._page - (place & low)) >> _ENTRY_SHIFT), unreadable.eq(0)]
            m.next = "SHARE"
        with m.State("SHARE"):
            chains = missing > room
            share = Mux(chains, room, missing)
            m.d.sync += [chained.eq(chains), asked.eq(share), due.eq(share)]
            m.d.sync += missing.eq(missing - room + 1)  # behind a chain
            m.next = "READ"
        with m.State("READ"):
            # Its data take longer than the cycle between two bursts.
            with m.If((asked != 0) & ~burst.valid):
                m.d.sync += [
                    burst.valid.eq(1),
                    burst.payload.address.eq(place),
                    burst.payload.length.eq(beats - 1),
                    place.eq(Cat(Const(0, REQUEST_BITS), place[REQUEST_BITS:] + 1)),
                    asked.eq(Mux(asked < upto, 0, asked - upto)),
                ]
            with m.If(beat.valid):
                m.d.sync += [due.eq(due - 1), unreadable.eq(unreadable | beat.payload.error)]
                with m.If(is_chain):
                    m.d.sync += place.eq(entry)
                with m.Else():
                    m.d.comb += [writer.data.eq(entry[PAGE_BITS:]), writer.en.eq(1)]
                    m.d.sync += [taken.eq(taken + 1), misplaced.eq(misplaced | (entry & low).any())]
            with m.If(due == 0):
                m.next = "JUDGE"
        with m.State("JUDGE"):
            m.next = "END"
            with m.If(unreadable):
                m.d.sync += status.eq(Status.DATA_TRANSFER_ERROR)
            with m.Elif(chained & (place & low).any() | ~chained & misplaced):
                m.d.sync += status.eq(INVALID_PRP_OFFSET)
            with m.Elif(chained):
                m.next = "LIST"

    def _give(self, m: Module, reader, given, walked, giving):
        """The pieces of a command: the first one by its address, the others by the pages that are kept."""
        left = Signal.like(walked.payload.length)
        piece, size, first = self.pieces, Signal(PIECE_BITS), Signal()
        m.d.comb += [
            reader.addr.eq(given),
            first.eq(~giving),
            size.eq(Mux(first, walked.payload.room, self._page)),
        ]
        faulty = walked.payload.status != Status.SUCCESS
        with m.FSM(name="give"):
            with m.State("WAIT"):
                m.d.sync += left.eq(walked.payload.length)
                with m.If(walked.valid):
                    m.next = "CUT"
            with m.State("CUT"):
                last = faulty | (left <= size)
                m.d.sync += [
                    piece.valid.eq(1),
                    piece.payload.status.eq(walked.payload.status),
                    piece.payload.last.eq(last),
                    piece.payload.length.eq(Mux(left <= size, left, size)),
                    left.eq(left - size),
                    giving.eq(1),
                ]
                with m.If(first):
                    m.d.sync += piece.payload.address.eq(walked.payload.address)
                with m.Else():
                    m.d.sync += piece.payload.address.eq(reader.data << PAGE_BITS)
                    m.d.sync += given.eq(given + 1)
                m.next = "OFFER"
            with m.State("OFFER"), m.If(piece.ready):
                m.d.sync += piece.valid.eq(0)
                m.next = "TURN"
            with m.State("TURN"):
                m.next = "CUT"
                with m.If(piece.payload.last):
                    m.d.comb += walked.ready.eq(1)
                    m.d.sync += giving.eq(0)
                    m.next = "WAIT"
