"""Which die gets the bus next."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.geometry import bits_for
from flashtrain.spec.nand import BusOp

from ..arbiter import RoundRobin

PAGE_OPS = tuple(op for op in BusOp if op >= BusOp.PROGRAM_MORE)
"""Operations that move a page and so hold the bus for long, and few that are taken for such; the others are
short."""

SELECTS = (BusOp.SELECT, BusOp.SELECT_COPY, BusOp.SELECT_STATISTICS, BusOp.STATUS_PLANE)
"""The selections for which a page does not wait, and one that is taken for such."""

MOVES_PAGE, TAKES_PAGE, TAKES_NAMED_PAGE, GIVES_PAGE = "-11---", "0110--", "01100-", "1-----"
SELECTS_PAGE = "0101--"
"""What the upper bits of an operation tell of it (`BusOp`)."""


class BusArbiter(wiring.Component):
    """Short operations first, round robin among the short ones and among those that move a page.

    A page waits even for a short operation of a die that rests: it is better to lose a few clocks of tRHW
    than to keep a die from sensing while a whole page passes. Only for a SELECT it does not wait: two SELECTs
    after the pages of two dies hide more of each other's tCCS than a SELECT before each page. SELECT_BESIDE
    is so much shorter that the reverse is true.

    Combinational, but for the turns.

    Members
    -------
    valid : In(dies)      a die has a request
    ops : In(BusOp).array(dies)   and this is it
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
            "ops": In(BusOp).array(dies),
            "resting": In(dies),
            "room": In(1),
            "grant": Out(1),
            "die": Out(bits_for(dies)),
            "granted": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.short_turn = short_turn = RoundRobin(self.dies)
        m.submodules.page_turn = page_turn = RoundRobin(self.dies)

        moves_page = Signal(self.dies)
        needs_room = Signal(self.dies)
        selects = Signal(self.dies)
        m.d.comb += [
            selects.eq(Cat(op.matches(SELECTS_PAGE) for op in self.ops)),
            moves_page.eq(Cat(op.matches(MOVES_PAGE) for op in self.ops)),
            needs_room.eq(Cat(op.matches(GIVES_PAGE) for op in self.ops)),
        ]
        short = Signal(self.dies)
        any_short = Signal()
        m.d.comb += [
            short.eq(self.valid & ~moves_page),
            any_short.eq((short & ~(selects & self.resting)).any()),
            short_turn.requests.eq(short & ~self.resting),
            page_turn.requests.eq(self.valid & moves_page & ~self.resting & ~Mux(self.room, 0, needs_room)),
            self.grant.eq(Mux(any_short, short_turn.requests.any(), page_turn.requests.any())),
            self.die.eq(Mux(any_short, short_turn.index, page_turn.index)),
            short_turn.advance.eq(self.granted & any_short),
            page_turn.advance.eq(self.granted & ~any_short),
        ]
        return m
