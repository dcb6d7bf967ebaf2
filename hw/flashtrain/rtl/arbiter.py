"""Round-robin choice, and a merge of streams made with it."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.geometry import bits_for


def lowest(requests):
    """One-hot: the lowest set bit of `requests`. Few of them: no carry chain."""
    return Cat(bit & ~requests[:index].any() for index, bit in enumerate(requests))


def in_turn(requests, above):
    """One-hot: the lowest of `requests` that is `above` the last winner, or else the lowest."""
    favoured = requests & above
    return Mux(favoured.any(), lowest(favoured), lowest(requests))


def behind(winner):
    """Those above a one-hot `winner`, who come first in the next turn."""
    return Cat(winner[:index].any() for index in range(len(winner)))


def encode(one_hot, width: int):
    """The number, `width` bits, of the set bit of `one_hot`; 0 if there is none."""
    number = Const(0, width)
    for index in range(len(one_hot)):
        number = number | Mux(one_hot[index], Const(index, width), 0)
    return number


class RoundRobin(wiring.Component):
    """Chooses among requests in turn: the winner is next in line last.

    Combinational choice; the turn moves on when `advance` is high.

    Members
    -------
    requests : In(count)
    advance : In(1)   the present choice is taken
    chosen : Out(count)   one-hot; 0 if nobody requests
    index : Out           its number
    """

    def __init__(self, count: int):
        self.count = count
        super().__init__({
            "requests": In(count), "advance": In(1), "chosen": Out(count), "index": Out(bits_for(count)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        above = Signal(self.count)
        m.d.comb += self.chosen.eq(in_turn(self.requests, above))
        m.d.comb += self.index.eq(encode(self.chosen, len(self.index)))
        with m.If(self.advance):
            m.d.sync += above.eq(behind(self.chosen))
        return m


class StreamMerge(wiring.Component):
    """Merges `count` streams into one, fairly.

    Latency 1 clock; throughput one item per clock. Cost: one register of the payload, a multiplexer.

    Members
    -------
    inputs : In(stream).array(count)
    output : Out(stream)
    """

    def __init__(self, layout, count: int):
        self.count = count
        super().__init__(
            {"inputs": In(stream.Signature(layout)).array(count), "output": Out(stream.Signature(layout))}
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.turn = turn = RoundRobin(self.count)
        free = Signal()
        m.d.comb += [
            free.eq(~self.output.valid | self.output.ready),
            turn.requests.eq(Cat(item.valid for item in self.inputs)),
            turn.advance.eq(free & turn.requests.any()),
        ]
        with m.If(free):
            m.d.sync += self.output.valid.eq(turn.requests.any())
            with m.Switch(turn.chosen):
                for number, item in enumerate(self.inputs):
                    with m.Case(1 << number):
                        m.d.sync += self.output.payload.eq(item.payload)
        for number, item in enumerate(self.inputs):
            m.d.comb += item.ready.eq(free & turn.chosen[number])
        return m
