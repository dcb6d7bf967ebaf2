"""Where the data of commands are in the host's memory: the pieces of each, and a look-up by offset."""

from amaranth import Array, Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import STATUS_BITS
from flashtrain.rtl.lib.memories import NEVER_COLLIDES
from flashtrain.rtl.lib.streams import RoundRobin
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.pcie import MAX_PAGE_EXPONENT, PAGE_BITS

from .layouts import ADDRESS_BITS, MOST_BYTES, PAGE_EXPONENT_BITS, DataPlace, Piece

_EXPONENTS = range(MAX_PAGE_EXPONENT + 1)


class AddressTable(wiring.Component):
    """Keeps the pieces of the command in each slot, and gives the address of any byte of its data.

    The first piece may begin anywhere in its page. The others begin with theirs, so a page has one word.

    Latency: 2 cycles from the last piece of a command to its status; 4 from a request to its address.
    Throughput: a piece and a request per cycle.

    Members
    -------
    page_exponent : In   CC.MPS; constant while a command is open
    places : In(stream(slot))
    pieces : In(stream(Piece))      of the slots, in their order
    pointed : Out(stream(status))   of each slot: all its pieces are kept, or its data pointer is wrong
    requests : In(stream(DataPlace)).array(users)   at most one of each user is under way
    found : Out(1).array(users)     pulse: `address` is that of this user's request
    address : Out
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
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        index_bits = bits_for(max(2, self.most_bytes >> PAGE_BITS))
        m.submodules.firsts = firsts = Memory(
            shape=ADDRESS_BITS, depth=self.slots, init=[], attrs=NEVER_COLLIDES
        )
        m.submodules.pages = pages = Memory(
            shape=ADDRESS_BITS - PAGE_BITS, depth=self.slots << index_bits, init=[], attrs=NEVER_COLLIDES
        )
        self._keep(m, firsts.write_port(), pages.write_port(), index_bits)
        self._find(m, firsts.read_port(), pages.read_port(), index_bits)
        return m

    def _keep(self, m: Module, first, page, index_bits: int):
        slot, index, begun = Signal.like(self.places.payload), Signal(index_bits), Signal()
        piece = self.pieces
        m.d.comb += [
            first.addr.eq(slot),
            first.data.eq(piece.payload.address),
            page.addr.eq(Cat(index, slot)),
            page.data.eq(piece.payload.address[PAGE_BITS:]),
        ]
        with m.FSM(name="keep"):
            with m.State("WAIT"):
                m.d.comb += self.places.ready.eq(1)
                m.d.sync += [slot.eq(self.places.payload), index.eq(0), begun.eq(0)]
                with m.If(self.places.valid):
                    m.next = "FILL"
            with m.State("FILL"):
                m.d.comb += [
                    piece.ready.eq(1),
                    first.en.eq(piece.valid & ~begun),
                    page.en.eq(piece.valid & begun),
                ]
                with m.If(piece.valid):
                    m.d.sync += [begun.eq(1), index.eq(index + begun)]
                    m.d.sync += self.pointed.payload.eq(piece.payload.status)
                    with m.If(piece.payload.last):
                        m.next = "TELL"
            with m.State("TELL"):
                m.d.comb += self.pointed.valid.eq(1)
                with m.If(self.pointed.ready):
                    m.next = "WAIT"

    def _find(self, m: Module, first, page, index_bits: int):
        """In stages: the first piece, the page by its number, and the address."""
        m.submodules.turn = turn = RoundRobin(self.users)
        masks = Array((1 << PAGE_BITS + exponent) - 1 for exponent in _EXPONENTS)
        mask = Signal(PAGE_BITS + MAX_PAGE_EXPONENT)
        m.d.sync += mask.eq(masks[self.page_exponent])
        request = self.requests[0].payload.shape()
        chosen = Signal(request)
        m.d.comb += [
            turn.requests.eq(Cat(one.valid for one in self.requests)),
            turn.advance.eq(turn.requests.any()),
            first.addr.eq(chosen.slot),
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
            m.d.sync += ages[-1].eq(whose)
            whose = ages[-1]
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
        m.d.comb += [
            number.eq(numbers[self.page_exponent]),
            page.addr.eq(Cat((number - 1)[:index_bits], slot)),
        ]
        m.d.sync += [within.eq(place & mask), first_base.eq(base), in_first.eq(number == 0)]
        m.d.sync += self.address.eq(
            Cat(within[:PAGE_BITS], Mux(in_first, first_base, page.data) | within[PAGE_BITS:])
        )
        for user in range(self.users):
            m.d.comb += self.found[user].eq(ages[-1][user])
