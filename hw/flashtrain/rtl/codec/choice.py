"""Chooses mode and base of pages from sums of counters (`flashtrain.spec.codec.Tracker`)."""

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.codec import (
    DISTANCES,
    EXPONENT_BITS,
    FRACTION,
    MEMORY,
    MIDDLE,
    SAMPLED,
    Mode,
    Tracker,
    slice_elements,
)
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.streams import Codec

from .byte_network import delayed

BASE_CYCLES = 4
"""From the sums to the base."""
MODE_CYCLES = 6
"""From then on to the mode."""

SUM_BITS = bits_for((len(SAMPLED) * slice_elements(Codec.WINDOW16) << MEMORY + FRACTION) + 1)
_PREFERRED = sorted(Mode, reverse=True)


class CountersLayout(data.StructLayout):
    """`flashtrain.spec.codec.Counters`."""

    def __init__(self, bits: int):
        super().__init__({"zeros": bits, "at": data.ArrayLayout(bits, len(DISTANCES))})


def _of(wide, function):
    """A constant that depends on the number of elements."""
    elements = [Tracker(codec).elements for codec in (Codec.WINDOW16, Codec.WINDOW32)]
    return Mux(wide, function(elements[1]), function(elements[0]))


def _sum(m: Module, name: str, terms: Sequence[Value]) -> Value:
    """The sum of some counters, in groups of three and then of all: two cycles."""
    groups = []
    for at in range(0, len(terms), 3):
        group = Signal(SUM_BITS, name=f"{name}_{at}", reset_less=True)
        m.d.sync += group.eq(sum(terms[at : at + 3], start=Const(0)))
        groups.append(group)
    total = Signal(SUM_BITS, name=name, reset_less=True)
    m.d.sync += total.eq(sum(groups, start=Const(0)))
    return total


class BaseChoice(wiring.Component):
    """Moves the window to a base, or keeps it.

    Latency: `BASE_CYCLES`. Throughput: a choice per cycle.

    Members
    -------
    sums : In(CountersLayout)
    wide : In(1)      of FP32; holds
    base : In(8)      the base before; holds
    recent : In(8)    a recent exponent; holds
    jumps : Out(1)    most elements are elsewhere: the window jumps
    down, up : Out(1) the base is lower, or higher, by one
    next_base : Out(8)
    """

    def __init__(self):
        super().__init__({
            "sums": In(CountersLayout(SUM_BITS)),
            "wide": In(1),
            "base": In(8),
            "recent": In(8),
            "jumps": Out(1),
            "down": Out(1),
            "up": Out(1),
            "next_base": Out(8),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        at, wide = self.sums.at, self.wide
        place = {distance: index for index, distance in enumerate(DISTANCES)}
        window = Mode.WINDOW.exponents
        # 1 and 2: gains and losses of a lower and a higher base; elements that are near, and that could be.
        gains_down, loses_down, gains_up, loses_up, full = (
            delayed(m, value, 2, name)
            for name, value in (
                ("gains_down", at[place[window]]),
                ("loses_down", at[place[0]]),
                ("gains_up", at[place[-1]]),
                ("loses_up", at[place[window - 1]]),
                ("full", (_of(wide, lambda elements: elements) - self.sums.zeros)[:SUM_BITS]),
            )
        )
        near = _sum(m, "near", [at[index] for index in range(len(DISTANCES))])
        # 3: comparisons.
        threshold = _of(wide, lambda elements: elements // 64)
        down, up, up_better, lost, many = (
            Signal(name=name) for name in ("down", "up", "up_better", "lost", "many")
        )
        higher, lower, jump = Signal(8), Signal(8), Signal(8)
        m.d.sync += [
            down.eq(gains_down > loses_down + threshold),
            up.eq(gains_up > loses_up + threshold),
            up_better.eq(gains_up + loses_down > gains_down + loses_up),
            lost.eq(full > near << 1),
            many.eq(full > near + _of(wide, lambda elements: elements // 32)),
            higher.eq(self.base + 1),
            lower.eq(self.base - 1),
            jump.eq(self.recent + MIDDLE),
        ]
        # 4
        jumps, goes_up, goes_down = Signal(), Signal(), Signal()
        m.d.comb += [
            jumps.eq(lost & many),
            goes_up.eq(~jumps & up & (up_better | ~down)),
            goes_down.eq(~jumps & down & ~(up & up_better)),
        ]
        m.d.sync += [
            self.jumps.eq(jumps),
            self.up.eq(goes_up),
            self.down.eq(goes_down),
            self.next_base.eq(
                Mux(jumps, jump, Mux(goes_up, higher, Mux(goes_down, lower, self.base)))
            ),
        ]  # fmt: skip
        return m


class ModeChoice(wiring.Component):
    """Changes the mode if another one saves more.

    Savings are in units of the bits of an exponent. All of them are compared at once.

    Latency: `MODE_CYCLES`. Throughput: a choice per cycle.

    Members
    -------
    sums : In(CountersLayout)   relative to the new base
    wide : In(1)                of FP32; holds
    mode : In(Mode)             the mode before; holds
    next_mode : Out(Mode)
    """

    def __init__(self):
        super().__init__({
            "sums": In(CountersLayout(SUM_BITS)), "wide": In(1), "mode": In(Mode), "next_mode": Out(Mode),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        at, wide = self.sums.at, self.wide
        first = -DISTANCES.start
        # 1 and 2
        inside = _sum(m, "inside", [at[first + index] for index in range(Mode.WINDOW.exponents)])
        seventh = delayed(m, at[first + Mode.WINDOW.exponents], 2, "seventh")
        zeros = delayed(m, self.sums.zeros, 2, "zeros")
        # 3
        of_zeros = Mux(wide, zeros << 2, zeros << 1)
        planes = {
            mode: _of(wide, lambda elements, mode=mode: mode.plane_bits * elements // EXPONENT_BITS)
            for mode in Mode
        }
        limit = 1 << SUM_BITS + 2
        saves = {mode: Signal(range(-limit, limit), name=f"saves_{mode.name}") for mode in Mode}
        m.d.sync += [
            saves[Mode.MASK].eq(of_zeros - planes[Mode.MASK]),
            saves[Mode.WINDOW].eq(of_zeros + inside - planes[Mode.WINDOW]),
            saves[Mode.WINDOW7].eq(inside + seventh - planes[Mode.WINDOW7]),
        ]
        # 4
        best = Signal(len(Mode))
        for number, mode in enumerate(_PREFERRED):
            wins = [saves[mode] >= saves[other] for other in _PREFERRED[number + 1 :]]
            wins += [saves[mode] > saves[other] for other in _PREFERRED[:number]]
            m.d.sync += best[number].eq(Cat(wins).all())
        kept = {mode: Signal.like(saves[mode], name=f"kept_{mode.name}") for mode in Mode}
        now_saves = Signal.like(saves[Mode.RAW])
        for mode in Mode:
            m.d.sync += kept[mode].eq(saves[mode])
            with m.If(self.mode == mode):
                m.d.sync += now_saves.eq(
                    saves[mode] + _of(wide, lambda elements: elements // 32 // EXPONENT_BITS)
                )
        # 5
        best_mode, best_saves, now_saves_4 = Signal(Mode), Signal.like(now_saves), Signal.like(now_saves)
        m.d.sync += now_saves_4.eq(now_saves)
        for number, mode in enumerate(_PREFERRED):
            with m.If(best[number]):
                m.d.sync += [best_mode.eq(mode), best_saves.eq(kept[mode])]
        # 6
        m.d.sync += self.next_mode.eq(Mux(best_saves > now_saves_4, best_mode, self.mode))
        return m
