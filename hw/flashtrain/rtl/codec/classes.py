"""Classes of elements, the bytes that they need, and their planes."""

from collections.abc import Callable

from amaranth import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.codec import ESCAPE, SLICE_BYTES, Mode, plane_bytes
from flashtrain.spec.streams import Codec

from .layouts import CLASSES, LANES

CLASSES_CYCLES = 2
"""From a slice to its classes."""


def by_stride(mode: Value, wide: Value, function: Callable[[int], int]) -> Value:
    """A constant that depends on the bytes of planes of a slice, of FP32 (`wide`) or BF16."""
    strides = [plane_bytes(codec, each) for codec in (Codec.WINDOW16, Codec.WINDOW32) for each in Mode]
    return Array([Const(function(stride)) for stride in strides])[Cat(mode, wide)]


def plane_stride(mode: Value, wide: Value) -> Value:
    """Bytes of planes of a slice."""
    return by_stride(mode, wide, lambda stride: stride)


def exponent(lane: Value) -> Value:
    """The exponent of an element whose highest halfword this is."""
    return lane[7:15]


def rearranged(lanes: list[Value], wide: Value) -> Value:
    """Elements in these halfwords as exponent, sign and mantissa from high to low."""

    def rotated(element: Value) -> Value:
        sign, mantissa = element[-1], element[:-9]
        return Cat(mantissa, sign, element[-9:-1])

    words = [Cat(*lanes[at : at + 2]) for at in range(0, len(lanes), 2)]
    return Mux(wide, Cat(rotated(word) for word in words), Cat(rotated(lane) for lane in lanes))


def restored(payload: list[Value], wide: Value) -> Value:
    """The inverse of `rearranged`, of 16 halfwords."""

    def rotated(element: Value) -> Value:
        sign, mantissa = element[-9], element[:-9]
        return Cat(mantissa, element[-8:], sign)

    words = [Cat(*payload[at : at + 2]) for at in range(0, LANES, 2)]
    return Mux(wide, Cat(rotated(word) for word in words), Cat(rotated(lane) for lane in payload))


def has_payload(classes: Value, without_zero: Value) -> Value:
    """The elements of a slice with payload, and those that are whole.

    `without_zero`: no class is that of +0.0.
    """
    lanes = [classes.word_select(lane, 3) for lane in range(LANES)]
    return Cat([lane.any() | without_zero for lane in lanes], [lane.all() for lane in lanes])


def needed_bytes(has: Value, whole: Value, wide: Value) -> Value:
    """The bytes of a rearranged slice that are payload, from what `has_payload` finds."""
    bits = []
    for low in range(0, LANES, 2):
        high = low + 1
        bits += [
            Mux(wide, has[high], has[low]),
            Mux(wide, has[high], whole[low]),
            has[high],
            whole[high],
        ]
    return Cat(bits)


def valid_bytes(m: Module, name: str, classes: Value, wide: Value, without_zero: Value) -> Signal:
    """The bytes of a rearranged slice that are payload, as a signal `name`.

    `without_zero`: no class is that of +0.0.
    """
    has, whole = Signal(LANES, name=f"{name}_has"), Signal(LANES, name=f"{name}_whole")
    valid = Signal(SLICE_BYTES, name=name)
    m.d.comb += [
        Cat(has, whole).eq(has_payload(classes, without_zero)),
        valid.eq(needed_bytes(has, whole, wide)),
    ]
    return valid


def planes(classes: Value, wide: Value) -> list[Value]:
    """The three bit planes of a slice: 16 bits each, of which FP32 uses the low 8."""
    lanes = [classes.word_select(lane, 3) for lane in range(LANES)]
    return [
        Mux(wide, Cat(lane[bit] for lane in lanes[1::2]), Cat(lane[bit] for lane in lanes))
        for bit in range(3)
    ]


class SliceClassifier(wiring.Component):
    """The class of each element of a slice.

    `ESCAPE` also stands for any element of RAW, and for one of MASK that is not +0.0: it is whole.

    Latency: `CLASSES_CYCLES`. Throughput: a slice per cycle. Cost: a subtractor of 8 bits per halfword.

    Members
    -------
    slice : In(256)
    wide : In(1)              of FP32; a cycle before the slice; holds
    mode : In(Mode)           likewise
    base : In(8)              likewise
    classes : Out(CLASSES)
    """

    def __init__(self):
        super().__init__({
            "slice": In(8 * SLICE_BYTES),
            "wide": In(1),
            "mode": In(Mode),
            "base": In(8),
            "classes": Out(CLASSES),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        lanes = [self.slice.word_select(lane, 16) for lane in range(LANES)]
        # The exponent of class 0, if it had one; modes with a class for +0.0; modes with a window.
        top, with_zero, with_window, wide = Signal(8), Signal(), Signal(), Signal()
        m.d.sync += [
            wide.eq(self.wide),
            top.eq(self.base + (self.mode == Mode.WINDOW)),
            with_zero.eq((self.mode == Mode.MASK) | (self.mode == Mode.WINDOW)),
            with_window.eq((self.mode == Mode.WINDOW) | (self.mode == Mode.WINDOW7)),
        ]
        some = Signal(LANES, reset_less=True)  # halfwords with some bit
        m.d.sync += some.eq(Cat(lane.any() for lane in lanes))
        for number, lane in enumerate(lanes):
            distance = Signal(8, name=f"distance_{number}", reset_less=True)
            m.d.sync += distance.eq(top - exponent(lane))
            below = some[number - 1] if number % 2 else Const(0)
            zero = with_zero & ~some[number] & ~(wide & below)
            named = distance[:3]
            inside = with_window & ~distance[3:].any() & (named.any() | ~with_zero)
            m.d.sync += self.classes[number].eq(Mux(zero, 0, Mux(inside, named, ESCAPE)))
        return m
