"""Searches many requests for the one whose turn it is."""

from amaranth import Array, Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.streams import behind, encode, in_turn, lowest
from flashtrain.spec.geometry import bits_for

GROUP = 8


class TurnSearch(wiring.Component):
    """Offers the number of a request, round-robin, among more requests than `RoundRobin` can look at.

    Requests form groups of `GROUP`. First come those behind the last winner in its group, then the next group
    with a request. The offer stays until it is taken, also if the request ends meanwhile: who takes it checks
    the request again. A request waits for one offer of each other one at most.

    Latency: 2 cycles from a request in the group of the last winner to the offer, at most 5 from another one.

    Members
    -------
    requests : In(count)
    valid : Out(1)
    index : Out     number of the request
    take : In(1)    the next one is searched from the next cycle on
    """

    def __init__(self, count: int):
        self.count = count
        super().__init__({
            "requests": In(count), "valid": Out(1), "index": Out(bits_for(count)), "take": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        groups = -(-self.count // GROUP)
        words = Array(self.requests[GROUP * number : GROUP * (number + 1)] for number in range(groups))
        number = Signal(range(groups))
        here, above, waiting = Signal(GROUP), Signal(GROUP, init=(1 << GROUP) - 1), Signal(groups)
        chosen, at = Signal(GROUP), Signal(groups)
        m.d.sync += waiting.eq(Cat(word.any() for word in words))
        m.d.comb += [chosen.eq(lowest(here)), at.eq(Cat(number == one for one in range(groups)))]

        with m.FSM():
            with m.State("LOOK"):
                m.d.sync += here.eq(words[number] & above)
                m.next = "CHOOSE"
            with m.State("CHOOSE"):
                m.d.sync += self.index.eq(Cat(encode(chosen, bits_for(GROUP)), number))
                with m.If(here.any()):
                    m.d.sync += [self.valid.eq(1), above.eq(behind(chosen))]
                    m.next = "OFFER"
                with m.Else():
                    following = in_turn(waiting, behind(at))
                    m.d.sync += number.eq(Mux(waiting.any(), encode(following, len(number)), number))
                    m.d.sync += above.eq(~0)
                    m.next = "LOOK"
            with m.State("OFFER"), m.If(self.take):
                m.d.sync += self.valid.eq(0)
                m.next = "LOOK"
        return m
