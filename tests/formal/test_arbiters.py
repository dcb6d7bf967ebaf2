"""Theorem: arbiters starve nobody.

Whoever keeps requesting is served after each of the others has been served at most once: the arbiter never
takes `count` others while the same one waits. Stated for any one requester, without assumptions: one that
gives up and comes back begins to wait anew.

- `RoundRobin` (4 requesters): the claim itself; also the choice is one of the requesters, and somebody is
  chosen whenever anybody requests.
- `StreamMerge` (3 inputs): items of others.
- `BusArbiter` (3 dies): grants of others in the same class, while the die is eligible at each of them. The
  grant goes to a die that a clock before had a request, was not blocked, and had room for its page; and a
  request that is eligible is granted a clock later when no short one has the right to go before it. Assumes
  that nothing is granted in the clock after a grant. Nothing is said of how often
  short operations come: that pages pass them is for the agents, whose polls a timer paces.
- `UnitScheduler` (3 units, runs of 2, 1 and 1): owners of the die other than the unit, while it requests the
  die. An owner begins `run` times at most while others wait from its first cycle on. One unit is the owner,
  and stays it while it is busy. Assumes that a unit begins only as the owner with a grant and a request, and
  4 cycles or more after its last beginning. The end of its work is the unit's responsibility.

Unbounded, by induction; the lemmas say how far off the requester's turn is.
"""

import pytest
from amaranth.hdl import Cat, Module, Mux, Signal, Value

from flashtrain.rtl.channel.bus.bus_arbiter import BusArbiter
from flashtrain.rtl.channel.die_agent.unit_scheduler import UnitScheduler
from flashtrain.rtl.lib.streams import RoundRobin, StreamMerge
from flashtrain.sim.formal.inside import Inside
from flashtrain.sim.formal.planted import planted
from flashtrain.sim.formal.prove import prove, reach, refute
from flashtrain.sim.formal.theorem import Theorem

BEGINNINGS_APART = 4  # cycles


def ones(bits: Value) -> Value:
    """How many bits are set."""
    return sum(bits[index] for index in range(len(bits)))


def ahead_of(who: Value, above: Value) -> Value:
    """Whom an arbiter prefers to `who` when those `above` come first."""
    count = len(above)
    below_who = Cat(who > index for index in range(count))
    return Mux(above.bit_select(who, 1), above & below_who, above | below_who)


def thermometer(above: Value) -> Value:
    """Whether `above` has the form it always has: all bits from one on."""
    count = len(above)
    return above.matches(*(((1 << count) - 1) >> low << low for low in range(1, count + 1)))


class NobodyStarves(Theorem):
    """Counts how often others were taken while one waits."""

    def someone(self, m: Module, count: int) -> Signal:
        """Any one of them."""
        who = self.some(m, range(count), "who")
        self.assume(m, who < count)
        return who

    def passes(self, m: Module, count: int, waits, taken, own) -> Signal:
        """How many others were taken while `who` waits: the claim is about this."""
        others = Signal(range(count + 1))
        with m.If(~waits | (taken & own)):
            m.d.sync += others.eq(0)
        with m.Elif(taken):
            m.d.sync += others.eq(others + 1)
        self.claim(m, others < count)
        served_last = Signal()
        m.d.sync += served_last.eq((others == count - 1) & taken & own & waits)
        self.witness(m, served_last)
        return others


class RoundRobinFair(NobodyStarves):
    def state(self, m: Module, inside: Inside) -> None:
        design, count = self.design, self.design.count
        who = self.someone(m, count)
        own = design.chosen.bit_select(who, 1)
        self.claim(m, (design.chosen & ~design.requests) == 0)
        self.claim(m, ones(design.chosen) == design.requests.any())
        self.claim(m, ~design.requests.any() | (design.chosen == 1 << design.index))
        others = self.passes(m, count, design.requests.bit_select(who, 1), design.advance, own)
        self.lemma(m, thermometer(inside["above"]))
        self.lemma(m, others + ones(ahead_of(who, inside["above"])) < count)


class StreamMergeFair(NobodyStarves):
    def state(self, m: Module, inside: Inside) -> None:
        inputs, count = self.design.inputs, self.design.count
        who = self.someone(m, count)
        waits = Cat(source.valid for source in inputs).bit_select(who, 1)
        taken = Cat(source.valid & source.ready for source in inputs)
        others = self.passes(m, count, waits, taken.any(), taken.bit_select(who, 1))
        self.lemma(m, thermometer(inside.part("turn")["above"]))
        self.lemma(m, others + ones(ahead_of(who, inside.part("turn")["above"])) < count)


class BusArbiterFair(NobodyStarves):
    def state(self, m: Module, inside: Inside) -> None:
        design, count = self.design, self.design.dies
        who = self.someone(m, count)
        for kind in design.kinds:
            self.assume(m, ~kind.gives_page | kind.moves_page)
            self.assume(m, ~(kind.selects & kind.moves_page))
        # All that a grant is for was so a clock ago.
        valid, moves_page, eligible, blocked_select = (
            Signal(count, name=name) for name in ("valid", "moves_page", "eligible", "blocked_select")
        )
        no_room = Cat(kind.gives_page & ~design.room for kind in design.kinds)
        m.d.sync += [
            valid.eq(design.valid),
            moves_page.eq(Cat(kind.moves_page for kind in design.kinds)),
            eligible.eq(design.valid & ~design.blocked & ~no_room),
            blocked_select.eq(Cat(kind.selects for kind in design.kinds) & design.blocked),
        ]
        goes_first = (valid & ~moves_page & ~blocked_select).any()
        one_hot, granted_before = Signal(count), Signal()
        m.d.comb += one_hot.eq(1 << design.die)
        m.d.sync += granted_before.eq(design.granted)
        self.assume(m, ~design.granted | (design.grant & ~granted_before))

        self.claim(m, ~design.grant | (one_hot & eligible).any())
        self.claim(m, ~design.grant | ~goes_first | ~(one_hot & moves_page).any())
        self.claim(m, design.grant | goes_first | ~eligible.any())
        self.claim(m, design.grant | ~(eligible & ~moves_page).any())
        self.lemma(m, ~design.grant | (inside["winner"] == one_hot))
        self.lemma(m, inside["is_short"] == goes_first)

        own = design.granted & one_hot.bit_select(who, 1)
        for name, kind in (("short", ~moves_page), ("page", moves_page)):
            candidates = Signal(count, name=f"{name}_candidates")
            m.d.comb += candidates.eq(eligible & kind)
            granted = design.granted & (one_hot & kind).any()
            waits = (valid & kind).bit_select(who, 1) & (~granted | candidates.bit_select(who, 1))
            above = inside[f"{name}_above"]
            others = self.passes(m, count, waits, granted, own)
            ahead = ahead_of(who, above)
            chosen = design.grant & (one_hot & kind).any() & ~granted_before
            self.lemma(m, thermometer(above))
            self.lemma(m, others + ones(ahead) < count)
            self.lemma(
                m,
                ~chosen | ~candidates.bit_select(who, 1) | (one_hot & (ahead | (1 << who))).any(),
            )


class SchedulerFair(NobodyStarves):
    def state(self, m: Module, inside: Inside) -> None:
        design, count = self.design, len(self.design.runs)
        who = self.someone(m, count)
        rotation = inside.part("rotation")
        requests, others_want = inside["requests"], inside["others"]
        before, changes = Signal(count, init=1), Signal()
        m.d.sync += before.eq(design.owner)
        m.d.comb += changes.eq(inside["switch"])

        # What the units promise.
        begins = Signal()
        since = Signal(range(BEGINNINGS_APART), init=BEGINNINGS_APART - 1)
        for number, unit in enumerate(design.units):
            self.assume(m, ~unit.started | (design.owner[number] & unit.grant & unit.request))
            with m.If(unit.started):
                m.d.comb += begins.eq(1)
        self.assume(m, ~begins | (since == BEGINNINGS_APART - 1))
        with m.If(begins):
            m.d.sync += since.eq(0)
        with m.Elif(since != BEGINNINGS_APART - 1):
            m.d.sync += since.eq(since + 1)

        working, current = Signal(), Signal(count)
        m.d.sync += [
            working.eq((design.owner & Cat(unit.busy for unit in design.units)).any()),
            current.eq(design.owner),
        ]
        self.claim(m, ~working | (design.owner == current))
        self.claim(m, ones(design.owner) == 1)
        self.claim(m, (Cat(unit.grant for unit in design.units) & ~design.owner) == 0)

        own = rotation.unit.chosen.bit_select(who, 1)
        others = self.passes(m, count - 1, (requests & ~design.owner).bit_select(who, 1), changes, own)
        self.lemma(m, thermometer(rotation["above"]))
        # After a change of owner the requests are a cycle old: then no owner stops.
        self.lemma(m, ~inside["stop"] | ((requests & design.owner) == 0))
        is_owner = design.owner.bit_select(who, 1)
        self.lemma(
            m,
            Mux(
                is_owner,
                others == 0,
                others + ones(ahead_of(who, rotation["above"]) & ~design.owner) < count - 1,
            ),
        )
        after_owner = Cat(design.owner[:number].any() for number in range(count))
        self.lemma(m, (rotation["above"] == after_owner) | (design.owner == 1) & (rotation["above"] == 0))

        run = sum(Mux(design.owner[number], length, 0) for number, length in enumerate(design.runs))
        begun, pressed = Signal(range(max(design.runs) + 3)), Signal()
        m.d.sync += pressed.eq((pressed & others_want) | changes)
        with m.If(changes):
            m.d.sync += begun.eq(0)
        with m.Elif(begins & pressed):
            m.d.sync += begun.eq(begun + 1)
        self.claim(m, ~pressed | (begun <= run))
        self.lemma(m, ~pressed | (inside["count"] + inside["started"] >= begun))
        self.lemma(m, ~inside["started"] | (since == 0))
        self.lemma(m, ~pressed | (since < 2) | (inside["count"] < run) | inside["stop"])


CASES = {
    "round_robin": lambda: RoundRobinFair(RoundRobin(4)),
    "merge": lambda: StreamMergeFair(StreamMerge(1, 3)),
    "bus": lambda: BusArbiterFair(BusArbiter(3)),
    "scheduler": lambda: SchedulerFair(UnitScheduler((2, 1, 1))),
}


@pytest.mark.parametrize("unit", CASES)
def test_holds(unit: str) -> None:
    prove(CASES[unit](), depth=4)


@pytest.mark.parametrize("unit", CASES)
def test_is_served_after_all_others(unit: str) -> None:
    reach(CASES[unit](), depth=20)


def test_lowest_always_first() -> None:
    faulty = planted(RoundRobin, ("favoured = requests & above", "favoured = requests"))
    refute(RoundRobinFair(faulty(4)), depth=12)


def test_turn_moves_without_an_item() -> None:
    """The turn moves on although the output is not free: an input that was passed over waits again."""
    faulty = planted(StreamMerge, ("turn.advance.eq(free & turn.requests.any())", "turn.advance.eq(1)"))
    refute(StreamMergeFair(faulty(1, 3)), depth=12)


def test_page_turn_moves_with_short_ones() -> None:
    faulty = planted(BusArbiter, ("self.granted & ~is_short", "self.granted"))
    refute(BusArbiterFair(faulty(3)), depth=12)


def test_owner_begins_too_often() -> None:
    """The owner begins once more than its run."""
    faulty = planted(UnitScheduler, ("Cat(count >= run for", "Cat(count > run for"))
    refute(SchedulerFair(faulty((2, 1, 1))), depth=24)
