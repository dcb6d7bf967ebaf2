"""Which die gets the bus next."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.geometry import bits_for

from ..arbiter import behind, encode, in_turn
from ..layouts import BusKind


def kind_of(op: Value) -> dict[str, Value]:
    """The members of `BusKind`: what the upper bits of an operation tell of it (`BusOp`)."""
    return {
        "moves_page": op.matches("-11---"),
        "gives_page": op.matches("1-----"),
        "selects": op.matches("0101--"),
    }


class BusArbiter(wiring.Component):
    """Short operations first, round robin among the short ones and among those that move a page.

    A page waits even for a short operation of a die that rests: it is better to lose a few clocks of tRHW
    than to keep a die from sensing while a whole page passes. Only for a SELECT it does not wait: two SELECTs
    after the pages of two dies hide more of each other's tCCS than a SELECT before each page. SELECT_BESIDE
    is so much shorter that the reverse is true.

    Latency: 1 clock from a request to its grant. Nothing may be granted in the clock after a grant, and what
    has been granted must be gone in the clock before the next one.

    Members
    -------
    valid : In(dies)      a die has a request
    kinds : In(BusKind).array(dies)   of this kind
    resting : In(dies)    dies that may not be addressed now
    room : In(1)          there is room for a page from a die
    grant : Out(1)        somebody may start
    die : Out             who
    granted : In(1)       the grant is taken
    """

    def __init__(self, dies: int):
        self.dies = dies
        super().__init__({
            "valid": In(dies),
            "kinds": In(BusKind()).array(dies),
            "resting": In(dies),
            "room": In(1),
            "grant": Out(1),
            "die": Out(bits_for(dies)),
            "granted": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        moves_page, needs_room, selects = (
            Cat(kind[name] for kind in self.kinds) for name in ("moves_page", "gives_page", "selects")
        )
        short = Signal(self.dies)
        any_short = Signal()
        short_ready, page_ready = Signal(self.dies), Signal(self.dies)
        # Those above the last winner of their class come first.
        short_above, page_above = Signal(self.dies), Signal(self.dies)
        short_choice, page_choice, choice = (
            Signal(self.dies, name=name) for name in ("short_choice", "page_choice", "choice")
        )
        waits_for_room = needs_room & ~self.room.replicate(self.dies)
        m.d.comb += [
            short.eq(self.valid & ~moves_page),
            any_short.eq((short & ~(selects & self.resting)).any()),
            short_ready.eq(short & ~self.resting),
            page_ready.eq(self.valid & moves_page & ~self.resting & ~waits_for_room),
            short_choice.eq(in_turn(short_ready, short_above)),
            page_choice.eq(in_turn(page_ready, page_above)),
            choice.eq(Mux(any_short, short_choice, page_choice)),
        ]
        winner, is_short = Signal(self.dies), Signal()
        m.d.sync += [
            winner.eq(choice),
            is_short.eq(any_short),
            self.grant.eq(Mux(any_short, short_ready.any(), page_ready.any())),
            self.die.eq(encode(choice, len(self.die))),
        ]
        with m.If(self.granted & is_short):
            m.d.sync += short_above.eq(behind(winner))
        with m.If(self.granted & ~is_short):
            m.d.sync += page_above.eq(behind(winner))
        return m
