"""Chooses the submission queue whose command is next (NVM Express Base 2.0, section 3.4.4)."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.geometry import bits_for
from flashtrain.spec.pcie import MailboxArbitration, Priority

from .layouts import DWORD_BITS, bits_of
from .turn_search import TurnSearch

_WEIGHTS = {
    Priority.HIGH: MailboxArbitration.high,
    Priority.MEDIUM: MailboxArbitration.medium,
    Priority.LOW: MailboxArbitration.low,
}
"""In the order of their turns in a round."""


class QueueTurns(wiring.Component):
    """Offers the number of an I/O queue that has commands: round robin, or weighted by the classes of queues.

    Queues of a class take turns in both. With `weighted`, urgent ones come first. Of the other classes, high,
    medium and low, each has as many turns in a round as its weight says, in this order. A class without
    requests leaves its turns out. A round ends when none of the classes with requests has a turn left. A turn
    that is taken counts, also if its queue turns out to have nothing.

    A queue has its class from `sets` on, with the value that `weighted` has then.

    Latency: that of `TurnSearch`. Another round begins 4 cycles after the last turn of one.

    Members
    -------
    requests : In(queues)
    weighted : In(1), weights : In(32)   the second as `spec.pcie.MailboxArbitration`
    sets : In(1), queue : In, priority : In(2)   pulse: the class of a queue
    valid : Out(1), index : Out, take : In(1)    as of `TurnSearch`
    """

    def __init__(self, queues: int):
        self.queues = queues
        super().__init__({
            "requests": In(queues),
            "weighted": In(1),
            "weights": In(DWORD_BITS),
            "sets": In(1),
            "queue": In(bits_for(queues)),
            "priority": In(2),
            "valid": Out(1),
            "index": Out(bits_for(queues)),
            "take": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        classes = [Signal(2, name=f"class{queue}") for queue in range(self.queues)]
        for queue, mine in enumerate(classes):
            with m.If(self.sets & (self.queue == queue)):
                m.d.sync += mine.eq(Mux(self.weighted, self.priority, Priority.URGENT))
        searches = {}
        for priority in Priority:
            m.submodules[priority.name.lower()] = search = TurnSearch(self.queues)
            m.d.comb += search.requests.eq(self.requests & Cat(mine == priority for mine in classes))
            searches[priority] = search

        # Turns that are left; whether any is, a cycle later.
        first, spent, asks, may = searches[Priority.URGENT], Signal(), Signal(3), Signal(3)
        m.d.sync += spent.eq(asks.any() & ~(asks & may).any())
        chosen, before = {Priority.URGENT: first.valid}, first.valid
        for place, (priority, weight) in enumerate(_WEIGHTS.items()):
            search, left = searches[priority], Signal(weight.width + 1, name=f"left_{priority.name}".lower())
            mine = Signal(name=f"chooses_{priority.name}".lower())
            m.d.comb += mine.eq(search.valid & may[place] & ~before)
            chosen[priority], before = mine, before | search.valid & may[place]
            m.d.sync += [may[place].eq(left != 0), asks[place].eq(search.requests.any())]
            with m.If(self.take & mine):
                m.d.sync += [left.eq(left - 1), may[place].eq(left != 1)]
            with m.Elif(spent & ~self.take):
                m.d.sync += left.eq(bits_of(self.weights, weight) + 1)
        m.d.comb += self.valid.eq(before)
        for priority, search in searches.items():
            m.d.comb += search.take.eq(self.take & chosen[priority])
            with m.If(chosen[priority]):
                m.d.comb += self.index.eq(search.index)
        return m
