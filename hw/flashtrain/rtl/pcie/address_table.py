"""Where the data of commands are in the host's memory: the pieces of each, and a look-up by offset."""

from amaranth import Array, Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import STATUS_BITS
from flashtrain.rtl.lib.memories import NEVER_COLLIDES
from flashtrain.rtl.lib.streams import RoundRobin, lowest
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.pcie import MAX_PAGE_EXPONENT, PAGE_BITS

from .lanes import DWORD_SHIFT
from .layouts import ADDRESS_BITS, MOST_BYTES, PAGE_EXPONENT_BITS, ROOM_BITS, DataPlace, Piece

_PAGE_DWORDS = 1 << PAGE_BITS - DWORD_SHIFT
_EXPONENTS = range(MAX_PAGE_EXPONENT + 1)


class AddressTable(wiring.Component):
    """Keeps the pieces of the command in each slot, and gives the address of any byte of its data.

    The first page may begin anywhere in itself. The others begin with theirs, so a page is found by its
    number. Blocks of an SGL have any length: where each of them begins is kept, and the one with the byte is
    searched, in halves. Other requests wait for the end of a search.

    Latency: 2 cycles from the last piece of a command to its status; 4 from a request to its address. A
    search takes 6 cycles with one block, and 2 more for each time that the number of blocks doubles.
    Throughput: a piece per cycle, and a request per cycle without a search.

    Members
    -------
    page_exponent : In   CC.MPS; constant while a command is open
    places : In(stream(slot))
    pieces : In(stream(Piece))      of the slots, in their order
    pointed : Out(stream(status))   of each slot: all its pieces are kept, or its data pointer is wrong
    requests : In(stream(DataPlace)).array(users)   at most one of each user is under way
    found : Out(1).array(users)     pulse: `address` is that of this user's request
    address : Out
    room : Out                      dwords from there on: of the block, and within 4 KiB
    """

    def __init__(self, slots: int, users: int, most_bytes: int = MOST_BYTES):
        self.slots = slots
        self.users = users
        self.most_bytes = most_bytes
        super().__init__({
            "page_exponent": In(PAGE_EXPONENT_BITS),
            "places": In(stream.Signature(bits_for(slots))),
            "pieces": In(stream.Signature(Piece())),
            "pointed": Out(stream.Signature(STATUS_BITS)),
            "requests": In(stream.Signature(DataPlace(slots, most_bytes))).array(users),
            "found": Out(1).array(users),
            "address": Out(ADDRESS_BITS),
            "room": Out(ROOM_BITS),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        index_bits = bits_for(max(2, self.most_bytes >> PAGE_BITS))
        m.submodules.firsts = firsts = Memory(
            shape=ADDRESS_BITS, depth=self.slots, init=[], attrs=NEVER_COLLIDES
        )
        # `start`: of the data before a block of an SGL.
        row = data.StructLayout({
            "low": PAGE_BITS - DWORD_SHIFT, "page": ADDRESS_BITS - PAGE_BITS,
            "start": bits_for(self.most_bytes >> DWORD_SHIFT),
        })  # fmt: skip
        m.submodules.pages = pages = Memory(
            shape=row, depth=self.slots << index_bits, init=[], attrs=NEVER_COLLIDES
        )
        kind = data.StructLayout({"sgl": 1, "last": index_bits + 1})
        m.submodules.kinds = kinds = Memory(shape=kind, depth=self.slots, init=[], attrs=NEVER_COLLIDES)
        self._keep(m, firsts.write_port(), pages.write_port(), kinds.write_port(), index_bits)
        self._find(m, firsts.read_port(), pages.read_port(), kinds.read_port(), index_bits)
        return m

    def _keep(self, m: Module, first, page, kind, index_bits: int):
        slot, number, start = (
            Signal.like(self.places.payload),
            Signal(index_bits + 1),
            Signal(page.data.start.shape()),
        )
        piece, begun = self.pieces, Signal()
        address = piece.payload.address
        m.d.comb += [
            first.addr.eq(slot),
            first.data.eq(address),
            page.addr.eq(Cat((number - 1)[:index_bits], slot)),
            page.data.low.eq(address[DWORD_SHIFT:PAGE_BITS]),
            page.data.page.eq(address[PAGE_BITS:]),
            page.data.start.eq(start),
            kind.addr.eq(slot),
            kind.data.sgl.eq(piece.payload.sgl),
            kind.data.last.eq(number),
            begun.eq(number != 0),
        ]
        with m.FSM(name="keep"):
            with m.State("WAIT"):
                m.d.comb += self.places.ready.eq(1)
                m.d.sync += [slot.eq(self.places.payload), number.eq(0), start.eq(0)]
                with m.If(self.places.valid):
                    m.next = "FILL"
            with m.State("FILL"):
                m.d.comb += [
                    piece.ready.eq(1),
                    first.en.eq(piece.valid & ~begun),
                    page.en.eq(piece.valid & begun),
                    kind.en.eq(piece.valid),
                ]
                with m.If(piece.valid):
                    m.d.sync += [
                        number.eq(number + 1),
                        start.eq(start + (piece.payload.length >> DWORD_SHIFT)),
                        self.pointed.payload.eq(piece.payload.status),
                    ]
                    with m.If(piece.payload.last):
                        m.next = "TELL"
            with m.State("TELL"):
                m.d.comb += self.pointed.valid.eq(1)
                with m.If(self.pointed.ready):
                    m.next = "WAIT"

    def _find(self, m: Module, first, page, kind, index_bits: int):
        """In stages: the first piece, the page by its number, and the address."""
        m.submodules.turn = turn = RoundRobin(self.users)
        masks = Array((1 << PAGE_BITS + exponent) - 1 for exponent in _EXPONENTS)
        mask = Signal(PAGE_BITS + MAX_PAGE_EXPONENT)
        m.d.sync += mask.eq(masks[self.page_exponent])
        request = self.requests[0].payload.shape()
        chosen, begins, searching = Signal(request), Signal(), Signal()
        waits = Cat(one.valid for one in self.requests)
        m.d.comb += [
            turn.requests.eq(Mux(begins | searching, 0, waits)),
            turn.advance.eq(turn.requests.any()),
            first.addr.eq(chosen.slot),
            kind.addr.eq(chosen.slot),
        ]
        for number, one in enumerate(self.requests):
            m.d.comb += one.ready.eq(turn.chosen[number])
            with m.If(turn.chosen[number]):
                m.d.comb += chosen.eq(one.payload)
        whose, item = turn.chosen, Signal(request, name="item_1")
        m.d.sync += item.eq(chosen)
        ages = []
        for age in range(4):
            ages.append(Signal(self.users, name=f"whose_{age + 1}"))
            m.d.sync += ages[-1].eq(Mux(begins, 0, whose) if age == 1 else whose)
            whose = ages[-1]
        m.d.comb += begins.eq(ages[0].any() & kind.data.sgl)
        # The place counted from the beginning of the first page.
        place = Signal(range(self.most_bytes + (1 << len(mask))))
        slot, base = Signal.like(item.slot), Signal(ADDRESS_BITS - PAGE_BITS)
        m.d.sync += [
            place.eq((first.data[: len(mask)] & mask) + item.offset),
            base.eq(Cat(first.data[PAGE_BITS : len(mask)] & ~mask[PAGE_BITS:], first.data[len(mask) :])),
            slot.eq(item.slot),
        ]
        numbers = Array(place >> PAGE_BITS + exponent for exponent in _EXPONENTS)
        number = Signal(index_bits + 1)
        within, first_base, in_first = Signal.like(mask), Signal.like(base), Signal()
        tells = Signal()
        searched = self._search(
            m, ages[0], item, first.data, page, kind.data, begins, searching, tells, index_bits
        )
        m.d.comb += number.eq(numbers[self.page_exponent])
        with m.If(~searching):
            m.d.comb += page.addr.eq(Cat((number - 1)[:index_bits], slot))
        m.d.sync += [within.eq(place & mask), first_base.eq(base), in_first.eq(number == 0)]
        with m.If(tells):
            m.d.sync += [self.address.eq(searched.address << DWORD_SHIFT), self.room.eq(searched.room)]
        with m.Else():
            m.d.sync += [
                self.address.eq(
                    Cat(within[:PAGE_BITS], Mux(in_first, first_base, page.data.page) | within[PAGE_BITS:])
                ),
                self.room.eq(_PAGE_DWORDS - within[DWORD_SHIFT:PAGE_BITS]),
            ]
        for user in range(self.users):
            m.d.comb += self.found[user].eq(ages[-1][user] | searched.whose[user])

    def _search(self, m: Module, whose, item, first, page, kind, begins, searching, tells, index_bits: int):
        """The last block that begins at the byte or before it. Block 0 has the first address, and no row."""
        start_bits = page.data.start.shape()
        found = Signal(data.StructLayout({
            "address": ADDRESS_BITS - DWORD_SHIFT, "room": ROOM_BITS, "whose": self.users,
        }), name="searched")  # fmt: skip
        user, slot = Signal(self.users), Signal.like(item.slot)
        offset, start, end = (
            Signal(start_bits, name=f"searched_{one}") for one in ("offset", "start", "end")
        )
        bounded, last = Signal(), Signal.like(kind.last)
        at, bit, tried = Signal.like(last), Signal.like(last), Signal.like(last)
        base, distance, room = Signal(ADDRESS_BITS - DWORD_SHIFT), Signal(start_bits), Signal(start_bits)
        m.d.comb += tried.eq(at | bit)
        upto = Signal(ROOM_BITS)
        m.d.comb += upto.eq(_PAGE_DWORDS - found.address[: PAGE_BITS - DWORD_SHIFT])
        m.d.sync += found.whose.eq(0)
        with m.FSM(name="search"):
            with m.State("WAIT"):
                m.d.sync += [
                    user.eq(whose),
                    slot.eq(item.slot),
                    offset.eq(item.offset[DWORD_SHIFT:]),
                    base.eq(first[DWORD_SHIFT:]),
                    last.eq(kind.last),
                    bit.eq(Cat(lowest(kind.last[::-1])[::-1])),
                    Cat(start, bounded, at).eq(0),
                ]
                with m.If(begins):
                    m.d.sync += searching.eq(1)
                    m.next = "TRY"
            with m.State("TRY"):
                m.d.comb += page.addr.eq(Cat((tried - 1)[:index_bits], slot))
                m.next = "COMPARE"
                with m.If(bit == 0):
                    m.d.sync += [distance.eq(offset - start), room.eq(end - offset)]
                    m.next = "ADD"
            with m.State("COMPARE"):
                with m.If(tried <= last):
                    with m.If(page.data.start <= offset):
                        m.d.sync += [at.eq(tried), start.eq(page.data.start)]
                        m.d.sync += base.eq(Cat(page.data.low, page.data.page))
                    with m.Else():
                        m.d.sync += [end.eq(page.data.start), bounded.eq(1)]
                m.d.sync += bit.eq(bit >> 1)
                m.next = "TRY"
            with m.State("ADD"):
                m.d.sync += found.address.eq(base + distance)
                m.next = "BOUND"
            with m.State("BOUND"):
                # Bursts end with the data, so the last block needs no bound.
                m.d.sync += found.room.eq(Mux(bounded & (room < upto), room, upto))
                m.next = "TELL"
            with m.State("TELL"):
                m.d.comb += tells.eq(1)
                m.d.sync += [found.whose.eq(user), searching.eq(0)]
                m.next = "WAIT"
        return found
