"""A group of slices to classes and lengths, and a store of them."""

from amaranth import Cat, Const, Module, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.codec import SLICE_BYTES, Mode

from .byte_network import delayed
from .classes import CLASSES_CYCLES, SliceClassifier, plane_stride, valid_bytes
from .counting import QUAD, count_of_quad
from .group_ring import GROUP_CYCLES, INDEX_BITS, RING_GROUPS
from .layouts import CLASSES, GROUP_BYTES, GROUP_SLICES, STRIDE_BITS, ChoiceLayout

_SUM_CYCLES = 5
CLASSIFIER_CYCLES = GROUP_CYCLES + CLASSES_CYCLES + _SUM_CYCLES + 1
"""From the pointer of a group until its sizes can be read from the store."""

COST_BITS = 8
RANGES = [(begin, end) for begin in range(GROUP_SLICES) for end in range(begin, GROUP_SLICES)]
"""First and last slice of a part of a group."""


class SizesLayout(data.StructLayout):
    """For each of `RANGES` of a group the bytes of planes and payload of these slices."""

    def __init__(self):
        super().__init__({"costs": data.ArrayLayout(COST_BITS, len(RANGES)), "last": 1})


class GroupClassifier(wiring.Component):
    """Classifies groups for a mode and base, and keeps the results by the groups' indices in the ring.

    Latency: `CLASSIFIER_CYCLES`. Throughput: a group per cycle.

    Members
    -------
    valid : In(1)              there is a group
    at : In(6)                 its pointer in the ring
    group : In(1024)           `GROUP_CYCLES` later
    last : In(1)               stored with it
    wide : In(1)               of FP32
    choice : In(ChoiceLayout)
    restart : In(1)            groups under way are dropped; the next ones begin at `restart_at`
    restart_at : In(6)
    done : Out(6)              groups before this pointer are in the store
    read_at : In(5), read : Out(SizesLayout)      in the same cycle
    classes_at : In(5), classes : Out(CLASSES).array(4)   a cycle later
    """

    def __init__(self):
        super().__init__({
            "valid": In(1),
            "at": In(INDEX_BITS + 1),
            "group": In(8 * GROUP_BYTES),
            "last": In(1),
            "wide": In(1),
            "choice": In(ChoiceLayout()),
            "restart": In(1),
            "restart_at": In(INDEX_BITS + 1),
            "done": Out(INDEX_BITS + 1),
            "read_at": In(INDEX_BITS),
            "read": Out(SizesLayout()),
            "classes_at": In(INDEX_BITS),
            "classes": Out(data.ArrayLayout(CLASSES, GROUP_SLICES)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.sizes = sizes = memory.Memory(shape=SizesLayout(), depth=RING_GROUPS, init=[])
        m.submodules.store = store = memory.Memory(
            shape=data.ArrayLayout(CLASSES, GROUP_SLICES), depth=RING_GROUPS, init=[]
        )
        write, read = sizes.write_port(), sizes.read_port(domain="comb")
        write_classes, read_classes = store.write_port(), store.read_port(domain="comb")

        # Mode, base and format are the same for all groups under way.
        stride, without_zero, wide = Signal(STRIDE_BITS), Signal(), Signal()
        m.d.sync += [
            wide.eq(self.wide),
            stride.eq(plane_stride(self.choice.mode, self.wide)),
            without_zero.eq(self.choice.mode == Mode.WINDOW7),
        ]

        classes, costs = [], []
        for number in range(GROUP_SLICES):
            m.submodules[f"slice_{number}"] = one = SliceClassifier()
            m.d.comb += [
                one.slice.eq(self.group.word_select(number, 8 * SLICE_BYTES)),
                one.wide.eq(self.wide),
                one.mode.eq(self.choice.mode),
                one.base.eq(self.choice.base),
            ]
            classes.append(Cat(one.classes))
            valid = valid_bytes(m, f"needed_{number}", one.classes.as_value(), wide, without_zero)
            quads = [
                Signal(3, name=f"quad_{number}_{at}", reset_less=True) for at in range(0, SLICE_BYTES, QUAD)
            ]
            m.d.sync += [quad.eq(count_of_quad(valid[QUAD * at :][:QUAD])) for at, quad in enumerate(quads)]
            cost = Signal(COST_BITS, name=f"cost_{number}", reset_less=True)
            halves = [Signal(5, name=f"half_{number}_{half}", reset_less=True) for half in range(2)]
            m.d.sync += [
                *(half.eq(sum(quads[4 * at :][:4], start=Const(0))) for at, half in enumerate(halves)),
                cost.eq(halves[0] + halves[1] + stride),
            ]
            costs.append(cost)

        # Sums of two slices, then of all.
        pairs = {}
        for begin in range(GROUP_SLICES - 1):
            pairs[begin] = Signal(COST_BITS, name=f"pair_{begin}", reset_less=True)
            m.d.sync += pairs[begin].eq(costs[begin] + costs[begin + 1])
        ones = [delayed(m, cost, 1, f"one_{number}") for number, cost in enumerate(costs)]
        sums = Signal(data.ArrayLayout(COST_BITS, len(RANGES)), reset_less=True)
        for number, (begin, end) in enumerate(RANGES):
            parts = {
                1: [ones[begin]],
                2: [pairs.get(begin, Const(0))],
                3: [pairs.get(begin, Const(0)), ones[end]],
                4: [pairs[0], pairs[2]],
            }[end - begin + 1]
            m.d.sync += sums[number].eq(sum(parts, start=Const(0)))

        m.d.comb += [
            write_classes.data.eq(delayed(m, Cat(classes), _SUM_CYCLES, "classes")),
            read_classes.addr.eq(self.classes_at),
            write.data.costs.eq(sums),
            read.addr.eq(self.read_at),
            self.read.eq(read.data),
        ]
        classes_read = Signal.like(self.classes, reset_less=True)
        m.d.sync += classes_read.eq(read_classes.data)
        m.d.comb += self.classes.eq(classes_read)
        valid, at, last = self.valid, self.at, self.last
        for cycle in range(CLASSIFIER_CYCLES - 1):
            before = valid, at, last
            valid = Signal(name=f"valid_{cycle}")
            at, last = Signal.like(at, name=f"at_{cycle}"), Signal(name=f"last_{cycle}")
            m.d.sync += [valid.eq(before[0] & ~self.restart), at.eq(before[1]), last.eq(before[2])]
        m.d.comb += [
            write.addr.eq(at), write.en.eq(valid), write.data.last.eq(last),
            write_classes.addr.eq(at), write_classes.en.eq(valid),
        ]  # fmt: skip
        with m.If(self.restart):
            m.d.sync += self.done.eq(self.restart_at)
        with m.Elif(valid):
            m.d.sync += self.done.eq(at + 1)
        return m
