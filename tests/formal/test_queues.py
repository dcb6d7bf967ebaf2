"""Theorem: queues neither lose, duplicate, change nor reorder items.

The n-th item that leaves is the n-th that entered, nothing leaves that has not entered, an offered item stays
offered until it is taken, and the item at the head is offered within 2 cycles.

Of `Queue` (4 items of 2 bits: its memory wraps at 3), `RegisterSlice` and `HalfRateSlice` (2 bits), and
`StreamMerge` (3 inputs; an item has *entered* when any of them was taken, and never two at once). Nothing is
assumed.
Unbounded, by induction; the lemmas say which registers hold the items.
"""

from functools import reduce
from operator import or_

import pytest
from amaranth.hdl import Cat, Module, Mux, Signal

from flashtrain.rtl.lib.streams import HalfRateSlice, Queue, RegisterSlice, StreamMerge
from flashtrain.sim.formal.places import Place, queue_lemmas, queue_places
from flashtrain.sim.formal.planted import planted
from flashtrain.sim.formal.prove import prove, reach, refute
from flashtrain.sim.formal.theorem import Inside, Theorem

BITS = 2
OFFERED_WITHIN = 2


class InOrder(Theorem):
    """Compares the design with `model`, a plain shift register of `room` items."""

    room: int

    def entering(self, m: Module) -> Place:
        """Whether an item enters now, and which."""
        source = self.design.input
        return source.valid & source.ready, source.payload

    def held(self, m: Module, inside: Inside) -> list[Place]:
        """The places of the design, from the head on."""
        raise NotImplementedError

    def state(self, m: Module, inside: Inside) -> None:
        output = self.design.output
        model = [Signal(BITS, name=f"model{place}") for place in range(self.room + 1)]
        count, left = Signal(range(self.room + 2)), Signal(range(self.room + 2))
        enters, item = self.entering(m)
        leaves = output.valid & output.ready
        m.d.comb += left.eq(count - leaves)
        m.d.sync += count.eq(left + enters)
        for place in range(self.room):
            stays = Mux(leaves, model[place + 1], model[place])
            m.d.sync += model[place].eq(Mux(enters & (left == place), item, stays))

        waited = Signal(range(OFFERED_WITHIN + 1))
        m.d.sync += waited.eq(Mux((count != 0) & ~output.valid, waited + 1, 0))
        refused = Signal()
        m.d.sync += refused.eq(output.valid & ~output.ready)
        self.claim(m, ~output.valid | (count != 0))
        self.claim(m, ~output.valid | (output.payload == model[0]))
        self.claim(m, count <= self.room)
        self.claim(m, ~refused | output.valid)
        self.claim(m, waited < OFFERED_WITHIN)

        held = self.held(m, inside)
        self.lemma(m, count == sum(there for there, _payload in held))
        for place, (there, payload) in enumerate(held):
            self.lemma(m, ~there | (payload == model[place]))

        was_full = Signal()
        m.d.sync += was_full.eq(was_full | (count == self.room))
        self.witness(m, was_full & (count == 0))


class QueueInOrder(InOrder):
    def __init__(self, design: Queue):
        super().__init__(design)
        self.room = design.depth

    def held(self, m: Module, inside: Inside) -> list[Place]:
        queue_lemmas(self, m, inside)
        return queue_places(m, inside)


class SliceInOrder(InOrder):
    """A register at the output, and a spare one."""

    room = 2

    def held(self, m: Module, inside: Inside) -> list[Place]:
        output = self.design.output
        self.lemma(m, ~inside["waiting"] | output.valid)
        return [(output.valid, output.payload), (inside["waiting"], inside["spare"])]


class HalfRateSliceInOrder(InOrder):
    """A register at the output."""

    room = 1

    def held(self, m: Module, inside: Inside) -> list[Place]:
        return [(self.design.output.valid, self.design.output.payload)]


class MergeInOrder(HalfRateSliceInOrder):
    """A register at the output."""

    def entering(self, m: Module) -> Place:
        taken = [source.valid & source.ready for source in self.design.inputs]
        self.claim(m, sum(taken) <= 1)
        item = reduce(
            or_, (Mux(now, source.payload, 0) for now, source in zip(taken, self.design.inputs, strict=True))
        )
        return Cat(taken).any(), item


THEOREMS = {
    "queue": lambda: QueueInOrder(Queue(BITS, 4)),
    "slice": lambda: SliceInOrder(RegisterSlice(BITS)),
    "half-rate slice": lambda: HalfRateSliceInOrder(HalfRateSlice(BITS)),
    "merge": lambda: MergeInOrder(StreamMerge(BITS, 3)),
}


@pytest.mark.parametrize("unit", THEOREMS)
def test_holds(unit: str) -> None:
    prove(THEOREMS[unit](), depth=4)


@pytest.mark.parametrize("unit", THEOREMS)
def test_fills_and_empties(unit: str) -> None:
    reach(THEOREMS[unit](), depth=12)


def test_queue_taken_while_empty() -> None:
    """An item that is taken while no other comes stays, and leaves twice."""
    change = ("store.r_en.eq(self.output.ready)", "store.r_en.eq(self.output.ready & self.input.valid)")
    refute(QueueInOrder(planted(Queue, change)(BITS, 3)), depth=12)


def test_slice_forgets_spare() -> None:
    faulty = planted(RegisterSlice, ("waiting | self.input.valid", "self.input.valid"))
    refute(SliceInOrder(faulty(BITS)), depth=12)


def test_half_rate_slice_takes_while_full() -> None:
    faulty = planted(HalfRateSlice, ("input.ready.eq(~self.output.valid)", "input.ready.eq(1)"))
    refute(HalfRateSliceInOrder(faulty(BITS)), depth=12)


def test_merge_takes_two() -> None:
    faulty = planted(StreamMerge, ("item.ready.eq(free & turn.chosen[number])", "item.ready.eq(free)"))
    refute(MergeInOrder(faulty(BITS, 3)), depth=12)
