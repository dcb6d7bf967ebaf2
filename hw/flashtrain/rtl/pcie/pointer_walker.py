"""PRPs and SGLs of commands to pieces of the host's memory (NVM Express Base 2.0, section 4.1)."""

from amaranth import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.axi import ReadPort
from flashtrain.rtl.lib.memories import NEVER_COLLIDES
from flashtrain.rtl.lib.streams import Queue
from flashtrain.spec import Completion, Status
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.pcie import (
    INVALID_PRP_OFFSET,
    MAX_PAGE_EXPONENT,
    PAGE_BITS,
    PRP_BYTES,
    SGL_ALIGNMENT,
    WORD_BYTES,
    SglDescriptor,
    SglStatus,
    SglType,
    most_blocks,
    most_descriptors,
)

from .lanes import DWORD_SHIFT
from .layouts import (
    ADDRESS_BITS,
    BURST_BEATS,
    MOST_BYTES,
    PAGE_EXPONENT_BITS,
    PAGE_LENGTH_BITS,
    PIECE_BITS,
    REQUEST_BITS,
    DataPointer,
    Piece,
    bits_of,
)

_EXPONENTS = range(MAX_PAGE_EXPONENT + 1)
_ENTRY_SHIFT, _DESCRIPTOR_SHIFT = bits_for(PRP_BYTES), bits_for(SglDescriptor.BYTES)
_STATUS_BITS = Completion.status.width


class PointerWalker(wiring.Component):
    """Reads the whole list of a command, and then gives the pieces of its data: pages, or blocks of an SGL.

    So a list with a fault moves no byte: the command has one piece with the status, as the function in
    software answers it. A list of PRPs that cannot be read, DATA_TRANSFER_ERROR, comes before a wrong offset
    in it. Descriptors of an SGL are judged in their order, up to the end of the data.

    Pages and blocks stand in a memory with room for two of the largest commands. So lists are read ahead
    while pieces of earlier commands are given. No more PRPs are read than the length needs, and no segment
    behind the end of the data. The lengths of the pieces add up to that of the command.

    Latency: 9 cycles from a command without a list to its first piece, as from one whose SGL is a data block.
    A list of PRPs adds 7 cycles, the latency of the memory, and a cycle for each entry. Each further page of
    it adds 8 cycles and the latency of the memory. A segment adds 7 cycles, the latency, and 2 cycles for
    each descriptor. Throughput: a piece in 3 cycles.

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
        entries_of_page = (1 << PAGE_BITS + MAX_PAGE_EXPONENT) // PRP_BYTES
        self.most_due = max(entries_of_page, 2 * most_descriptors(most_bytes))
        super().__init__({
            "page_exponent": In(PAGE_EXPONENT_BITS),
            "pointers": In(stream.Signature(DataPointer(most_bytes))),
            "read": Out(ReadPort(address_bits=ADDRESS_BITS, data_bits=8 * WORD_BYTES)),
            "pieces": Out(stream.Signature(Piece())),
            "idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        page, mask = Signal(PAGE_LENGTH_BITS), Signal(PAGE_LENGTH_BITS - 1)
        exponents = Array(1 << PAGE_BITS + exponent for exponent in _EXPONENTS)
        m.d.sync += [page.eq(exponents[self.page_exponent]), mask.eq(exponents[self.page_exponent] - 1)]
        self._page, self._mask = page, mask

        depth = 1 << bits_for(max(2 * self.most_entries, most_blocks(self.most_bytes) + 1))
        length = self.pointers.payload.length.shape()
        # In dwords; a PRP has no length.
        row = data.StructLayout({
            "address": ADDRESS_BITS - DWORD_SHIFT, "length": bits_for((self.most_bytes >> DWORD_SHIFT) + 1),
        })  # fmt: skip
        rows = Memory(shape=row, depth=depth, init=[], attrs=NEVER_COLLIDES)
        m.submodules.rows = rows
        self._walked = data.StructLayout({
            "address": ADDRESS_BITS, "room": PAGE_LENGTH_BITS, "length": length, "status": _STATUS_BITS,
            "sgl": 1,
        })  # fmt: skip
        m.submodules.walked = walked = Queue(self._walked, self.ahead)
        # Rows that are kept: the writer takes back those of a command with a fault.
        taken, given = Signal(range(depth)), Signal(range(depth))
        walking, giving = Signal(), Signal()
        self._walk(m, rows.write_port(), taken, given, walked.input, walking)
        self._give(m, rows.read_port(), given, walked.output, giving)
        m.d.comb += self.idle.eq(~walking & ~giving & (walked.level == 0))
        return m

    def _walk(self, m: Module, writer, taken, given, walked, walking):
        """Take a command, split its length, and read its list."""
        pointer, length = Signal(DataPointer(self.most_bytes)), self.pointers.payload.length.shape()
        room, left, single = Signal(PAGE_LENGTH_BITS), Signal(length), Signal()
        missing, begin = Signal(range(self.most_entries + 1)), Signal.like(taken)
        place, there = Signal(ADDRESS_BITS), Signal.like(taken)
        status, misplaced, unreadable = Signal(_STATUS_BITS), Signal(), Signal()
        due = Signal(range(self.most_due + 1))
        low = self._mask
        m.d.comb += [
            walked.payload.address.eq(pointer.first),
            walked.payload.room.eq(room),
            walked.payload.length.eq(pointer.length),
            walked.payload.status.eq(status),
            walked.payload.sgl.eq(pointer.sgl),
            writer.addr.eq(taken),
        ]
        m.d.sync += there.eq(given - taken - 1)  # free places; `taken` stays from WAIT to CHECK
        with m.If(self.read.ar.ready):
            m.d.sync += self.read.ar.valid.eq(0)
        self._judge(m, writer, taken, pointer, place, left, due, status, unreadable)
        with m.FSM(name="walk") as steps:
            with m.State("WAIT"):
                m.d.comb += self.pointers.ready.eq(1)
                m.d.sync += [pointer.eq(self.pointers.payload), begin.eq(taken)]
                m.d.sync += [misplaced.eq(0), unreadable.eq(0), status.eq(Status.SUCCESS)]
                m.d.sync += left.eq(self.pointers.payload.length)
                with m.If(self.pointers.valid):
                    m.next = "ROOM"
                    with m.If(self.pointers.payload.sgl):
                        m.next = "SGL"
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
                        m.d.comb += [writer.data.address.eq(place[DWORD_SHIFT:]), writer.en.eq(1)]
                        m.d.sync += taken.eq(taken + 1)
                        m.next = "END"
            self._read_sgl(m, there, left, status)
            self._read_list(m, writer, taken, place, missing, due, status, misplaced, unreadable, pointer)
            with m.State("END"):
                m.d.comb += walked.valid.eq(1)
                with m.If(status != Status.SUCCESS):
                    m.d.sync += taken.eq(begin)
                with m.If(walked.ready):
                    m.next = "WAIT"
        m.d.comb += walking.eq(~steps.ongoing("WAIT"))

    def _read_list(
        self, m: Module, writer, taken, place, missing, due, status, misplaced, unreadable, pointer
    ):
        """Entries of a page of the list. If it has too few, the last one is the place of the next page.

        Words of a segment of an SGL come the same way: two for each of its descriptors.
        """
        beat, burst = self.read.r, self.read.ar
        room = Signal(range((1 << PAGE_BITS + MAX_PAGE_EXPONENT) // PRP_BYTES + 1))
        asked = Signal.like(due)  # words not asked for; `due` are to come
        chained, low = Signal(), self._mask
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
        with m.State("SEGMENT"):
            m.d.sync += [chained.eq(0), asked.eq(self._count << 1), due.eq(self._count << 1)]
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
                with m.If(pointer.sgl):
                    m.d.sync += [pointer.second.eq(entry)]
                    with m.If(~self._half):
                        m.d.sync += pointer.first.eq(entry)
                    m.d.sync += [self._half.eq(~self._half), self._weighs.eq(self._half)]
                with m.Elif(is_chain):
                    m.d.sync += place.eq(entry)
                with m.Else():
                    m.d.comb += [writer.data.address.eq(entry[DWORD_SHIFT:]), writer.en.eq(1)]
                    m.d.sync += [taken.eq(taken + 1), misplaced.eq(misplaced | (entry & low).any())]
            with m.If(due == 0):
                m.next = "JUDGE"
                with m.If(pointer.sgl):
                    m.next = "FOLLOW"
        with m.State("JUDGE"):
            m.next = "END"
            with m.If(unreadable):
                m.d.sync += status.eq(Status.DATA_TRANSFER_ERROR)
            with m.Elif(chained & (place & low).any() | ~chained & misplaced):
                m.d.sync += status.eq(INVALID_PRP_OFFSET)
            with m.Elif(chained):
                m.next = "LIST"

    def _read_sgl(self, m: Module, there, left, status):
        """The segments of an SGL, whose first descriptor is the data pointer itself."""
        most = most_blocks(self.most_bytes)
        with m.State("SGL"):
            m.d.sync += [
                self._blocks.eq(most),
                self._spare.eq(most_descriptors(self.most_bytes)),
                Cat(self._is_last, self._follows).eq(0),
            ]
            # There is room for all blocks that there can be.
            with m.If(there >= most):
                m.d.sync += self._weighs.eq(1)
                m.next = "FOLLOW"
        with m.State("FOLLOW"), m.If(~self._weighs & ~self._weighed):
            m.next = "END"
            with m.If((status == Status.SUCCESS) & left.any()):
                m.d.sync += self._follows.eq(0)
                with m.If(self._follows):
                    m.next = "SEGMENT"
                with m.Else():
                    m.d.sync += status.eq(SglStatus.INVALID_LENGTH)

    def _judge(self, m: Module, writer, taken, pointer, place, left, due, status, unreadable):
        """Judge descriptors of an SGL, which stand in `pointer`.

        Each has two cycles, as many as its words: one for its faults, one for their effect.
        """
        self._half, self._weighs, self._weighed = Signal(), Signal(), Signal()
        # Blocks and descriptors that there may still be; and of the next segment.
        self._blocks = blocks = Signal(range(most_blocks(self.most_bytes) + 1))
        self._spare = spare = Signal(range(most_descriptors(self.most_bytes) + 1))
        self._follows, self._is_last, self._count = Signal(), Signal(), Signal.like(spare)
        # The first cycle.
        words = Cat(pointer.first, pointer.second)
        d = SglDescriptor
        address, length, kind = (bits_of(words, one) for one in (d.address, d.length, d.type))
        dwords = length[DWORD_SHIFT:]
        end = Signal(33)
        m.d.comb += end.eq(address[:32] + length)
        segment = (kind == SglType.SEGMENT) | (kind == SglType.LAST_SEGMENT)
        unread, unknown, is_segment, ends, partial, beyond, wrong, many, over, some = (
            Signal(name=name)
            for name in ("unread", "unknown", "is_segment", "ends", "partial", "beyond", "wrong", "many",
                         "over", "some")
        )  # fmt: skip
        row = Signal(writer.data.shape())
        m.d.sync += [
            self._weighs.eq(0),
            self._weighed.eq(self._weighs),
            unread.eq(unreadable),
            unknown.eq(bits_of(words, d.subtype).any() | ~segment & (kind != SglType.DATA_BLOCK)),
            is_segment.eq(segment),
            ends.eq(due == 0),
            partial.eq(address[:DWORD_SHIFT].any() | length[:DWORD_SHIFT].any()),
            beyond.eq(address[32:].all() & end[32] & end[:32].any()),
            wrong.eq((address & SGL_ALIGNMENT - 1).any() | (length & d.BYTES - 1).any() | (length == 0)),
            many.eq(length[_DESCRIPTOR_SHIFT:] > spare),
            over.eq(length >= left),
            some.eq(length.any()),
            row.address.eq(address[DWORD_SHIFT:]),
            row.length.eq(dwords),
        ]
        # The second one.
        fails = (
            (unread, Status.DATA_TRANSFER_ERROR),
            (unknown, SglStatus.INVALID_TYPE),
            (is_segment & self._is_last, SglStatus.INVALID_SEGMENT),
            (is_segment & ~ends, SglStatus.INVALID_COUNT),
            (is_segment & wrong, SglStatus.INVALID_SEGMENT),
            (~is_segment & partial, SglStatus.INVALID_GRANULARITY),
            (beyond, SglStatus.INVALID_LENGTH),
            (Mux(is_segment, many, some & (blocks == 0)), SglStatus.INVALID_COUNT),
        )
        # Behind the end of the data, and behind a fault, nothing counts.
        counts = self._weighed & (status == Status.SUCCESS) & left.any()
        fine = ~Cat(failed for failed, _ in fails).any()
        m.d.comb += [writer.data.address.eq(row.address), writer.data.length.eq(row.length)]
        with m.If(counts):
            for failed, value in reversed(fails):
                with m.If(failed):
                    m.d.sync += status.eq(value)
            with m.If(fine & is_segment):
                m.d.sync += [
                    self._follows.eq(1),
                    self._is_last.eq(bits_of(words, d.type)[0]),
                    self._count.eq(bits_of(words, d.length)[_DESCRIPTOR_SHIFT:]),
                    spare.eq(spare - bits_of(words, d.length)[_DESCRIPTOR_SHIFT:]),
                    place.eq(pointer.first),
                ]
            with m.If(fine & ~is_segment & some):
                m.d.comb += writer.en.eq(1)
                m.d.sync += [
                    taken.eq(taken + 1),
                    blocks.eq(blocks - 1),
                    left.eq(Mux(over, 0, left - (row.length << DWORD_SHIFT))),
                ]
                # A longer block ends with the data; the length may have more bits than the row.
                with m.If(over):
                    m.d.comb += writer.data.length.eq(left >> DWORD_SHIFT)

    def _give(self, m: Module, reader, given, walked, giving):
        """The pieces of a command: the first page by its address, all others by the rows that are kept."""
        left = Signal.like(walked.payload.length)
        piece, size, first = self.pieces, Signal(PIECE_BITS), Signal()
        of_sgl = walked.payload.sgl
        block = reader.data.length << DWORD_SHIFT
        m.d.comb += [
            reader.addr.eq(given),
            first.eq(~giving & ~of_sgl),
            size.eq(Mux(first, walked.payload.room, Mux(of_sgl, block, self._page))),
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
                    piece.payload.sgl.eq(of_sgl),
                    piece.payload.last.eq(last),
                    piece.payload.length.eq(Mux(left <= size, left, size)),
                    left.eq(left - size),
                    giving.eq(1),
                ]
                with m.If(first):
                    m.d.sync += piece.payload.address.eq(walked.payload.address)
                with m.Else():
                    m.d.sync += piece.payload.address.eq(reader.data.address << DWORD_SHIFT)
                    m.d.sync += given.eq(given + ~faulty)
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
