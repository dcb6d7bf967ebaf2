"""Components on streams: queue, register slice, merges, and an arbiter."""

from functools import reduce
from operator import or_

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.hdl import Shape
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.geometry import bits_for


class Queue(wiring.Component):
    """A first-in first-out queue of a typed payload: up to `depth` items.

    The depth is at least 3, since a shorter FIFO does not run at full rate.

    Latency: 1 cycle. Throughput: one item per cycle.

    Members
    -------
    input : In(stream)
    output : Out(stream)
    level : Out   number of items
    """

    def __init__(self, layout, depth: int):
        self.layout = layout
        self.depth = max(depth, 3)
        super().__init__({
            "input": In(stream.Signature(layout)),
            "output": Out(stream.Signature(layout)),
            "level": Out(range(self.depth + 1)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        width = Shape.cast(self.layout).width
        m.submodules.fifo = store = fifo.SyncFIFOBuffered(width=width, depth=self.depth)
        m.d.comb += [
            store.w_data.eq(Value.cast(self.input.payload)),
            store.w_en.eq(self.input.valid),
            self.input.ready.eq(store.w_rdy),
            Value.cast(self.output.payload).eq(store.r_data),
            self.output.valid.eq(store.r_rdy),
            store.r_en.eq(self.output.ready),
            self.level.eq(store.level),
        ]
        return m


class RegisterSlice(wiring.Component):
    """Cuts every combinational path between its two sides: `valid`, payload and `ready` come from registers.

    It stands where a stream crosses the chip.

    Latency: 1 cycle. Throughput: one item per cycle. Cost: two registers of the payload.

    Members
    -------
    input : In(stream)
    output : Out(stream)
    """

    def __init__(self, layout):
        self.layout = layout
        super().__init__({"input": In(stream.Signature(layout)), "output": Out(stream.Signature(layout))})

    def elaborate(self, platform):
        m = Module()
        waiting, spare = Signal(), Signal(self.layout)
        m.d.comb += self.input.ready.eq(~waiting)
        with m.If(~waiting):
            m.d.sync += spare.eq(self.input.payload)  # valid or not, so that `valid` enables no payload
        with m.If(self.output.ready | ~self.output.valid):
            m.d.sync += [
                self.output.valid.eq(waiting | self.input.valid),
                waiting.eq(0),
            ]
            with m.If(waiting):
                m.d.sync += self.output.payload.eq(spare)
            with m.Else():
                m.d.sync += self.output.payload.eq(self.input.payload)
        with m.Elif(self.input.valid):
            m.d.sync += waiting.eq(1)
        return m


class HalfRateSlice(wiring.Component):
    """A `RegisterSlice` for items that come seldom: one place, and no multiplexer in front of it.

    Latency: 1 cycle. Throughput: one item in 2 cycles. Cost: a register of the payload.

    Members
    -------
    input : In(stream)
    output : Out(stream)
    """

    def __init__(self, layout):
        super().__init__({"input": In(stream.Signature(layout)), "output": Out(stream.Signature(layout))})

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.input.ready.eq(~self.output.valid)
        with m.If(self.output.valid):
            m.d.sync += self.output.valid.eq(~self.output.ready)
        with m.Else():
            m.d.sync += [self.output.valid.eq(self.input.valid), self.output.payload.eq(self.input.payload)]
        return m


class RegisterSlices(wiring.Component):
    """A slice on each of several streams, of one `kind`.

    Members
    -------
    inputs : In(stream).array(count)
    outputs : Out(stream).array(count)
    """

    def __init__(self, layout, count: int, kind: type[RegisterSlice] | type[HalfRateSlice] = RegisterSlice):
        self.layout = layout
        self.count = count
        self.kind = kind
        one = stream.Signature(layout)
        super().__init__({"inputs": In(one).array(count), "outputs": Out(one).array(count)})

    def elaborate(self, platform):
        m = Module()
        for number in range(self.count):
            m.submodules[f"slice_{number}"] = one = self.kind(self.layout)
            wiring.connect(m, wiring.flipped(self.inputs[number]), one.input)
            wiring.connect(m, one.output, wiring.flipped(self.outputs[number]))
        return m


def lowest(requests):
    """One-hot: the lowest set bit of `requests`. Few of them: no carry chain."""
    return Cat(bit & ~requests[:index].any() for index, bit in enumerate(requests))


def in_turn(requests, above):
    """One-hot: the lowest of `requests` that is `above` the last winner, or else the lowest."""
    favoured = requests & above
    return Mux(favoured.any(), lowest(favoured), lowest(requests))


def behind(winner):
    """The requests above a one-hot `winner`: they come first in the next turn."""
    return Cat(winner[:index].any() for index in range(len(winner)))


def encode(one_hot, width: int):
    """The number, `width` bits, of the set bit of `one_hot`; 0 if there is none."""
    number = Const(0, width)
    for index in range(len(one_hot)):
        number = number | Mux(one_hot[index], Const(index, width), 0)
    return number


def select(one_hot, values):
    """The value of the set bit of `one_hot`, of several of one layout; 0 if there is none."""
    values = [Value.cast(value) for value in values]
    masked = (bit.replicate(len(value)) & value for bit, value in zip(one_hot, values, strict=True))
    return reduce(or_, masked)


class RoundRobin(wiring.Component):
    """Chooses among requests round-robin: the winner becomes the last in the order.

    The choice is combinational. The order changes when `advance` is high.

    Members
    -------
    requests : In(count)
    advance : In(1)   the present choice is granted
    chosen : Out(count)   one-hot; 0 without a request
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
    """Merges `count` streams into one, round-robin.

    More than `WIDEST` streams are merged in groups first, and so each group has a turn.

    Latency: 1 cycle, with groups 2. Throughput: one item per cycle. Cost: one register of the payload, a
    multiplexer; with groups as much for each.

    Members
    -------
    inputs : In(stream).array(count)
    output : Out(stream)
    """

    WIDEST = 8

    def __init__(self, layout, count: int):
        self.layout = layout
        self.count = count
        super().__init__(
            {"inputs": In(stream.Signature(layout)).array(count), "output": Out(stream.Signature(layout))}
        )

    def elaborate(self, platform):
        m = Module()
        if self.count > self.WIDEST:
            self._merge_groups(m)
        else:
            self._merge(m)
        return m

    def _merge_groups(self, m: Module) -> None:
        size = -(-self.count // self.WIDEST)
        groups = [range(first, min(first + size, self.count)) for first in range(0, self.count, size)]
        m.submodules.merge = merge = StreamMerge(self.layout, len(groups))
        for number, members in enumerate(groups):
            m.submodules[f"group_{number}"] = group = StreamMerge(self.layout, len(members))
            for place, member in enumerate(members):
                wiring.connect(m, wiring.flipped(self.inputs[member]), group.inputs[place])
            wiring.connect(m, group.output, merge.inputs[number])
        wiring.connect(m, merge.output, wiring.flipped(self.output))

    def _merge(self, m: Module) -> None:
        m.submodules.turn = turn = RoundRobin(self.count)
        free = Signal()
        m.d.comb += [
            free.eq(~self.output.valid | self.output.ready),
            turn.requests.eq(Cat(item.valid for item in self.inputs)),
            turn.advance.eq(free & turn.requests.any()),
        ]
        with m.If(free):
            m.d.sync += self.output.valid.eq(turn.requests.any())
            m.d.sync += Value.cast(self.output.payload).eq(
                select(turn.chosen, [item.payload for item in self.inputs])
            )
        for number, item in enumerate(self.inputs):
            m.d.comb += item.ready.eq(free & turn.chosen[number])
