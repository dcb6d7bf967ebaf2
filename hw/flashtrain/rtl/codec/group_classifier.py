"""A group of slices to classes and lengths, and a store of them."""

from amaranth import Cat, Const, Module, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.memories import IN_BLOCKS
from flashtrain.spec.codec import SLICE_BYTES, Mode

from .byte_network import delayed
from .classes import CLASSES_CYCLES, SliceClassifier, plane_stride, valid_bytes
from .counting import QUAD, count_of_quad
from .group_ring import GROUP_CYCLES
from .layouts import STRIDE_BITS, ChoiceLayout, EncoderShape

_SUM_CYCLES = 5
CLASSIFIER_CYCLES = GROUP_CYCLES + CLASSES_CYCLES + _SUM_CYCLES + 1
"""From the pointer of a group until its sizes can be read from the store."""

COST_BITS = 8


def ranges(slices: int) -> list[tuple[int, int]]:
    """First and last slice of each part that a group of so many may have."""
    return [(begin, end) for begin in range(slices) for end in range(begin, slices)]


class SizesLayout(data.StructLayout):
    """For each of `ranges` of a group the bytes of planes and payload of these slices."""

    def __init__(self, slices: int):
        super().__init__({"costs": data.ArrayLayout(COST_BITS, len(ranges(slices))), "last": 1})


class GroupClassifier(wiring.Component):
    """Classifies groups for a mode and base, and keeps the results by the groups' indices in the ring.

    Latency: `CLASSIFIER_CYCLES`. Throughput: a group per cycle.

    Members
    -------
    valid : In(1)              there is a group
    at : In                    its pointer in the ring
    group : In(group)          `GROUP_CYCLES` later
    last : In(1)               stored with it
    wide : In(1)               of FP32
    choice : In(ChoiceLayout)
    restart : In(1)            groups under way are dropped; the next ones begin at `restart_at`
    restart_at : In
    done : Out                 groups before this pointer are in the store
    read_at : In, read : Out(SizesLayout)         in the same cycle
    classes_at : In, classes : Out(CLASSES of each slice)   a cycle later
    """

    def __init__(self, shape: EncoderShape):
        self.shape = shape
        super().__init__({
            "valid": In(1),
            "at": In(shape.index_bits + 1),
            "group": In(8 * shape.group_bytes),
            "last": In(1),
            "wide": In(1),
            "choice": In(ChoiceLayout()),
            "restart": In(1),
            "restart_at": In(shape.index_bits + 1),
            "done": Out(shape.index_bits + 1),
            "read_at": In(shape.index_bits),
            "read": Out(SizesLayout(shape.slices)),
            "classes_at": In(shape.index_bits),
            "classes": Out(shape.classes),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        shape = self.shape
        parts_of_group = ranges(shape.slices)
        m.submodules.sizes = sizes = memory.Memory(
            shape=SizesLayout(shape.slices), depth=shape.groups, init=[]
        )  # fmt: skip
        m.submodules.store = store = memory.Memory(
            shape=shape.classes, depth=shape.groups, init=[], attrs=IN_BLOCKS
        )  # fmt: skip
        write, read = sizes.write_port(), sizes.read_port(domain="comb")
        write_classes, read_classes = store.write_port(), store.read_port()

        # Mode, base and format are the same for all groups under way.
        stride, without_zero, wide = Signal(STRIDE_BITS), Signal(), Signal()
        m.d.sync += [
            wide.eq(self.wide),
            stride.eq(plane_stride(self.choice.mode, self.wide)),
            without_zero.eq(self.choice.mode == Mode.WINDOW7),
        ]

        classes, costs = [], []
        for number in range(shape.slices):
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
        for begin in range(shape.slices - 1):
            pairs[begin] = Signal(COST_BITS, name=f"pair_{begin}", reset_less=True)
            m.d.sync += pairs[begin].eq(costs[begin] + costs[begin + 1])
        ones = [delayed(m, cost, 1, f"one_{number}") for number, cost in enumerate(costs)]
        sums = Signal(data.ArrayLayout(COST_BITS, len(parts_of_group)), reset_less=True)
        for number, (begin, end) in enumerate(parts_of_group):
            parts = {
                1: [ones[begin]],
                2: [pairs.get(begin, Const(0))],
                3: [pairs.get(begin, Const(0)), ones[end]],
                4: [pairs.get(0, Const(0)), pairs.get(2, Const(0))],
            }[end - begin + 1]
            m.d.sync += sums[number].eq(sum(parts, start=Const(0)))

        m.d.comb += [
            write_classes.data.eq(delayed(m, Cat(classes), _SUM_CYCLES, "classes")),
            read_classes.addr.eq(self.classes_at),
            self.classes.eq(read_classes.data),
            write.data.costs.eq(sums),
            read.addr.eq(self.read_at),
            self.read.eq(read.data),
        ]
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
