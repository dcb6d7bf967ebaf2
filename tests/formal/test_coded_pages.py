"""Theorems: the encoder loses no group of slices, and offers no page before it is whole.

**Groups.** A group that is offered or read is the one that arrived at its pointer, until it is retired. It
comes `GROUP_CYCLES` after its pointer. A restart begins at any group that is not retired. The surroundings
retire groups in order, and none that was not offered. A group arrives at most `AHEAD` cycles after there was
room. Of rings of 4 groups of 2 bits; unbounded, by induction.

**Pages.** The n-th page that closes is offered as the n-th: `delay` cycles and one after its last part, not
before, and until it is taken. No more pages are at work than there are buffers. The surroundings begin pages
in free buffers only. Of 2 buffers and a delay of 3 cycles, in the first 16 cycles.
"""

from amaranth.hdl import Cat, Module, Signal

from flashtrain.rtl.codec.group_ring import AHEAD, GROUP_CYCLES, GroupRing
from flashtrain.rtl.codec.page_counters import PageCounters
from flashtrain.sim.formal.inside import Inside
from flashtrain.sim.formal.planted import planted
from flashtrain.sim.formal.prove import check, prove, reach, refute
from flashtrain.sim.formal.theorem import Theorem

BITS, INDEX_BITS = 2, 2
GROUPS = 1 << INDEX_BITS
BUFFERS, DELAY = 2, 3
WHOLE_AFTER = DELAY + 1
CYCLES = 16


class GroupsStay(Theorem):
    def state(self, m: Module, inside: Inside) -> None:
        ring = self.design
        taken, arrived, at = inside["taken"], inside["arrived"], inside["at"]
        rooms = [ring.room]  # in this cycle and in those before
        for cycle in range(AHEAD):
            rooms.append(Signal(name=f"room_{cycle}"))
            m.d.sync += rooms[-1].eq(rooms[-2])
        self.assume(m, ~ring.valid | Cat(rooms).any())

        def before(pointer):
            """The groups from the oldest one that is not retired to this pointer."""
            return (pointer - oldest)[: INDEX_BITS + 1]

        oldest = Signal(INDEX_BITS + 1)
        m.d.sync += oldest.eq(ring.retired)
        self.assume(m, before(ring.retired) <= before(at))
        self.assume(m, ~ring.restart | ((ring.restart_at - ring.retired)[: INDEX_BITS + 1]
                                        <= (at - ring.retired)[: INDEX_BITS + 1]))  # fmt: skip

        # Any pointer, and the group that has been taken there last.
        pointer = self.some(m, INDEX_BITS + 1, "pointer")
        group, last = Signal(BITS), Signal()
        with m.If(ring.valid & (taken == pointer)):
            m.d.sync += [group.eq(ring.group), last.eq(ring.last)]
        here = before(pointer) < before(arrived)
        self.claim(m, before(taken) <= GROUPS)
        self.claim(m, ~ring.next_valid | (before(ring.next_at) < before(arrived)))
        offered = ring.next_valid & (ring.next_at == pointer)
        self.claim(m, ~offered | (ring.next_last == last))
        read = here & (ring.read_at == pointer[:INDEX_BITS])
        outputs = {"offered": (offered, ring.next_group), "read": (read, ring.read_group)}
        for name, (requested, found) in outputs.items():
            expected = group
            for cycle in range(GROUP_CYCLES):
                ahead = requested, expected
                requested, expected = Signal(name=f"{name}_{cycle}"), Signal(BITS, name=f"of_{name}_{cycle}")
                m.d.sync += [requested.eq(ahead[0]), expected.eq(ahead[1])]
            self.claim(m, ~requested | (found == expected))

        self.lemma(m, before(at) <= before(arrived))
        self.lemma(m, before(arrived) <= before(taken))
        self.lemma(m, taken == (arrived + inside["enters"])[: INDEX_BITS + 1])
        self.lemma(m, inside["level"] == before(taken))
        for cycle, room in enumerate(rooms):
            self.lemma(m, ~room | (inside["level"] < GROUPS - AHEAD + cycle))
        entering = inside["enters"] & (arrived == pointer)
        self.lemma(m, ~entering | ((inside["entering"] == group)
                                   & (inside.word(m, "lasts", pointer[:INDEX_BITS]) == last)))  # fmt: skip
        for copy in ("offered", "stored"):
            self.lemma(m, ~here | (inside.word(m, copy, pointer[:INDEX_BITS]) == group))
        self.lemma(m, ~here | (inside.word(m, "lasts", pointer[:INDEX_BITS]) == last))

        again, full = Signal(), Signal()
        m.d.sync += [
            again.eq(again | (ring.restart & (ring.restart_at != at))),
            full.eq(full | (before(taken) == GROUPS)),
        ]
        self.witness(m, again & full & (at == 0) & ring.next_valid)


class PagesAreWhole(Theorem):
    def state(self, m: Module, inside: Inside) -> None:
        pages = self.design
        names = ("begun", "closed", "taken", "released")
        begun, closed, taken, released = (Signal(5, name=name) for name in names)
        m.d.sync += [
            begun.eq(begun + pages.begins),
            closed.eq(closed + pages.closes),
            taken.eq(taken + pages.take),
            released.eq(released + pages.release),
        ]
        self.assume(m, ~pages.begins | pages.free)
        self.assume(m, ~pages.closes | (begun != closed))
        # The next page begins when the one before has closed.
        self.assume(m, ~pages.begins | (begun == closed))
        self.assume(m, ~pages.take | pages.whole)
        self.assume(m, ~pages.release | (taken != released))

        # Any page, and how long ago its last part was.
        page = self.some(m, 3, "page")
        over, age = Signal(), Signal(range(WHOLE_AFTER + 1))
        with m.If(pages.closes & (closed == page)):
            m.d.sync += [over.eq(1), age.eq(1)]
        with m.Elif(over & (age != WHOLE_AFTER)):
            m.d.sync += age.eq(age + 1)
        whole = over & (age == WHOLE_AFTER)
        is_next = taken == page
        self.claim(m, ~(is_next & pages.whole) | whole)
        self.claim(m, ~(is_next & whole) | pages.whole)
        self.claim(m, ~is_next | (pages.offered == page % BUFFERS))
        self.claim(m, (released != page) | (pages.output == page % BUFFERS))
        self.claim(m, (begun - released)[:5] <= BUFFERS)
        self.claim(m, ~pages.free | ((begun - released)[:5] < BUFFERS))
        self.witness(m, (released == BUFFERS) & ((begun - released)[:5] == BUFFERS))


def ring() -> GroupRing:
    return GroupRing(BITS, INDEX_BITS)


def test_groups_stay() -> None:
    prove(GroupsStay(ring()), depth=3)
    reach(GroupsStay(ring()), depth=16)


def test_groups_arrive_too_early() -> None:
    faulty = planted(GroupRing, ("level < size - 1 - AHEAD", "level < size - AHEAD"))
    refute(GroupsStay(faulty(BITS, INDEX_BITS)), depth=12)


def test_restart_forgets_a_group() -> None:
    faulty = planted(GroupRing, ("at.eq(self.restart_at)", "at.eq(self.restart_at + 1)"))
    refute(GroupsStay(faulty(BITS, INDEX_BITS)), depth=12)


def test_pages_are_whole() -> None:
    check(PagesAreWhole(PageCounters(BUFFERS, DELAY)), depth=CYCLES)
    reach(PagesAreWhole(PageCounters(BUFFERS, DELAY)), depth=CYCLES)


def test_page_offered_too_early() -> None:
    faulty = planted(PageCounters, ("under_way << 1 | self.closes", "under_way << 2 | self.closes << 1"))
    refute(PagesAreWhole(faulty(BUFFERS, DELAY)), depth=CYCLES)


def test_buffer_taken_twice() -> None:
    faulty = planted(
        PageCounters, ("self.free.eq(used_next < self.buffers)", "self.free.eq(used < self.buffers)")
    )
    refute(PagesAreWhole(faulty(BUFFERS, DELAY)), depth=CYCLES)
