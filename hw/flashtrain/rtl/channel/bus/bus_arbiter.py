"""The die that gets the bus next: arbitration between requests, and the turnaround after data out."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import BusKind
from flashtrain.rtl.lib.streams import behind, encode, in_turn
from flashtrain.spec import NandTiming
from flashtrain.spec.errors import require
from flashtrain.spec.geometry import bits_for


def kind_of(op: Value) -> dict[str, Value]:
    """The members of `BusKind`, from the upper bits of an operation (`BusOp`)."""
    return {
        "moves_page": op.matches("-11---"),
        "gives_page": op.matches("1-----"),
        "selects": op.matches("0101--"),
    }


class BusArbiter(wiring.Component):
    """Short operations first, round robin among the short ones and among those that move a page.

    A page waits even for a short operation of a blocked die. A few idle cycles of tRHW cost less than a die
    that cannot sense during a whole page. A SELECT of a blocked die does not hold up pages. Two SELECTs after
    the pages of two dies hide more of each other's tCCS than a SELECT before each page. SUSPENDED_READ_SELECT
    is so much shorter that the reverse is true.

    Latency: 1 cycle from a request to its grant. The cycle after a grant must take no grant. A granted
    request must be withdrawn in the cycle before the next grant.

    Members
    -------
    valid : In(dies)      a die has a request
    kinds : In(BusKind).array(dies)   of this kind
    blocked : In(dies)    dies that may not be addressed now (`Turnaround`)
    room : In(1)          there is room for a page from a die
    grant : Out(1)        a request may start
    die : Out             its die
    granted : In(1)       the grant is taken
    """

    def __init__(self, dies: int):
        self.dies = dies
        super().__init__({
            "valid": In(dies),
            "kinds": In(BusKind()).array(dies),
            "blocked": In(dies),
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
        # Dies above the last winner of their class come first.
        short_above, page_above = Signal(self.dies), Signal(self.dies)
        short_choice, page_choice, choice = (
            Signal(self.dies, name=name) for name in ("short_choice", "page_choice", "choice")
        )
        without_room = needs_room & ~self.room.replicate(self.dies)
        m.d.comb += [
            short.eq(self.valid & ~moves_page),
            any_short.eq((short & ~(selects & self.blocked)).any()),
            short_ready.eq(short & ~self.blocked),
            page_ready.eq(self.valid & moves_page & ~self.blocked & ~without_room),
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


class Turnaround(wiring.Component):
    """Blocks the die that has sent data for tRHW, and every other die for tCHZ.

    Other LUNs of its chip enable wait for tRHW as well.

    Members
    -------
    sent : In(1)     pulse: the last beat came `sent_cycles` ago, from `die`
    die : In
    blocked : Out(dies)   dies that may not be granted the bus

    Parameters
    ----------
    sent_cycles : from the last beat on the pins to `sent`
    grant_cycles : from a choice of the arbiter to the first cycle on the pins; the turnaround may overlap
        them
    luns : dies of a chip enable
    """

    def __init__(self, timing: NandTiming, dies: int, *, sent_cycles: int, grant_cycles: int, luns: int = 1):
        self.timing = timing
        self.dies = dies
        self.lun_bits = bits_for(luns)
        self.sent_cycles = sent_cycles
        self.grant_cycles = grant_cycles
        # One sender is stored: its turnaround must end before another die can have sent a status.
        most = sum(map(timing.cycles, ("tchz", "twc", "twhr")))
        require(timing.cycles("trhw") <= most, "timing.trhw", timing.trhw,
                "at most tchz, twc and twhr together")  # fmt: skip
        super().__init__({"sent": In(1), "die": In(bits_for(dies)), "blocked": Out(dies)})

    def elaborate(self, platform):
        m = Module()
        trhw, tchz = self.timing.cycles("trhw"), self.timing.cycles("tchz")
        longest = max(trhw, tchz)

        # The cycles since the last beat and the one that loads `left` count as well.
        start = max(longest - self.sent_cycles - self.grant_cycles - 1, 0)
        left = Signal(range(longest + 1))
        sender = Signal.like(self.die)
        with m.If(self.sent):
            m.d.sync += [left.eq(start), sender.eq(self.die)]
        with m.Elif(left != 0):
            m.d.sync += left.eq(left - 1)

        # A die is blocked while `left` exceeds the part of `longest` that lies behind its own time. The
        # outputs are registers.
        for number in range(self.dies):
            blocked = Signal(name=f"blocked_{number}")
            with m.If(self.sent):
                own = self._is_enabled_with(self.die, number)
                m.d.sync += blocked.eq(Mux(own, start > longest - trhw, start > longest - tchz))
            with m.Elif(
                Mux(
                    self._is_enabled_with(sender, number),
                    left == longest - trhw + 1,
                    left == longest - tchz + 1,
                )
            ):
                m.d.sync += blocked.eq(0)
            m.d.comb += self.blocked[number].eq(blocked)
        return m

    def _is_enabled_with(self, die: Value, number: int) -> Value:
        if self.lun_bits == 0:
            return die == number
        return die[self.lun_bits :] == number >> self.lun_bits
