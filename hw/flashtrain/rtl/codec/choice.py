"""Chooses mode and base of pages from sums of counters (`flashtrain.spec.codec.Tracker`)."""

from collections.abc import Sequence
from itertools import combinations

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed
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
from .layouts import FIRST

BASE_CYCLES = 4
"""From the sums to the base."""
MODE_CYCLES = 7
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
    """Holds the base of the window, and moves it.

    Latency: `BASE_CYCLES`. Throughput: a choice per cycle.

    Members
    -------
    sums : In(CountersLayout)
    wide : In(1)      of FP32; holds
    wide_out : Out(1) the same a cycle later, for a reader that is far from its register
    moves : In(1)     the base moves: `BASE_CYCLES` - 1 after its sums
    clears : In(1)    the base is the first one again
    recent : In(8)    a recent exponent; holds
    jumps : Out(1)    most elements are elsewhere: the window jumps
    down, up : Out(1) the base is lower, or higher, by one
    base : Out(8)     holds until `moves`
    """

    def __init__(self):
        super().__init__({
            "sums": In(CountersLayout(SUM_BITS)),
            "wide": In(1),
            "wide_out": Out(1),
            "moves": In(1),
            "clears": In(1),
            "recent": In(8),
            "jumps": Out(1),
            "down": Out(1),
            "up": Out(1),
            "base": Out(8, init=FIRST["base"]),  # pyright: ignore[reportCallIssue]
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        at, wide = self.sums.at, self.wide_out
        m.d.sync += wide.eq(self.wide)
        place = {distance: index for index, distance in enumerate(DISTANCES)}
        window = Mode.WINDOW.exponents
        # 1 and 2: what a lower and a higher base gain and need to gain, and what both are better by; elements
        # that are near, and that could be.
        gains_down, loses_down = at[place[window]], at[place[0]]
        gains_up, loses_up = at[place[-1]], at[place[window - 1]]
        threshold = _of(wide, lambda elements: elements // 64)
        needs_down, needs_up, for_up, for_down = (
            Signal(SUM_BITS + 1, name=name, reset_less=True)
            for name in ("needs_down", "needs_up", "for_up", "for_down")
        )
        full = Signal(SUM_BITS, reset_less=True)
        full_less = Signal(signed(SUM_BITS + 1), reset_less=True)
        m.d.sync += [
            needs_down.eq(loses_down + threshold),
            needs_up.eq(loses_up + threshold),
            for_up.eq(gains_up + loses_down),
            for_down.eq(gains_down + loses_up),
            full.eq(_of(wide, lambda elements: elements) - self.sums.zeros),
            full_less.eq(full - _of(wide, lambda elements: elements // 32)),
        ]
        near = _sum(m, "near", [at[index] for index in range(len(DISTANCES))])
        gains_down, gains_up = delayed(m, gains_down, 2, "gains_down"), delayed(m, gains_up, 2, "gains_up")
        # 3: comparisons.
        down, up, up_better, lost, many = (
            Signal(name=name) for name in ("down", "up", "up_better", "lost", "many")
        )
        higher, lower, jump = Signal(8), Signal(8), Signal(8)
        m.d.sync += [
            down.eq(gains_down > delayed(m, needs_down, 1, "needs_down")),
            up.eq(gains_up > delayed(m, needs_up, 1, "needs_up")),
            up_better.eq(delayed(m, for_up, 1, "for_up") > delayed(m, for_down, 1, "for_down")),
            lost.eq(delayed(m, full, 1, "full") > near << 1),
            many.eq(full_less > near),
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
        ]
        with m.If(self.moves):
            m.d.sync += self.base.eq(
                Mux(jumps, jump, Mux(goes_up, higher, Mux(goes_down, lower, self.base)))
            )  # fmt: skip
        with m.If(self.clears):
            m.d.sync += self.base.eq(FIRST["base"])
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
        at, wide = self.sums.at, Signal(reset_less=True)
        m.d.sync += wide.eq(self.wide)
        first = -DISTANCES.start
        # 1 and 2: the bits of planes are taken off already.
        planes = {
            mode: _of(wide, lambda elements, mode=mode: mode.plane_bits * elements // EXPONENT_BITS)
            for mode in Mode
        }
        limit = 1 << SUM_BITS + 2

        def savings(name: str) -> Signal:
            return Signal(range(-limit, limit), name=name, reset_less=True)

        inside = _sum(m, "inside", [at[first + index] for index in range(Mode.WINDOW.exponents)])
        zeros = delayed(m, self.sums.zeros, 1, "zeros")
        seventh = delayed(m, at[first + Mode.WINDOW.exponents], 1, "seventh")
        of_zeros = Mux(wide, zeros << 2, zeros << 1)
        less = {mode: savings(f"less_{mode.name}") for mode in (Mode.MASK, Mode.WINDOW, Mode.WINDOW7)}
        m.d.sync += [
            less[Mode.MASK].eq(of_zeros - planes[Mode.MASK]),
            less[Mode.WINDOW].eq(of_zeros - planes[Mode.WINDOW]),
            less[Mode.WINDOW7].eq(seventh - planes[Mode.WINDOW7]),
        ]
        # 3
        saves = {mode: savings(f"saves_{mode.name}") for mode in Mode}
        m.d.sync += [
            saves[Mode.MASK].eq(less[Mode.MASK]),
            saves[Mode.WINDOW].eq(less[Mode.WINDOW] + inside),
            saves[Mode.WINDOW7].eq(less[Mode.WINDOW7] + inside),
        ]
        # 4: each mode against those that come behind it.
        kept = {mode: savings(f"kept_{mode.name}") for mode in Mode}
        now_saves = savings("now_saves")
        wins = {
            (mode, other): Signal(name=f"{mode.name}_before_{other.name}", reset_less=True)
            for mode, other in combinations(_PREFERRED, 2)
        }
        m.d.sync += [
            *(kept[mode].eq(saves[mode]) for mode in Mode),
            *(one.eq(saves[mode] >= saves[other]) for (mode, other), one in wins.items()),
        ]
        for mode in Mode:
            with m.If(self.mode == mode):
                m.d.sync += now_saves.eq(saves[mode])
        # 5
        best_mode, best_saves, needed = Signal(Mode), savings("best_saves"), savings("needed")
        m.d.sync += needed.eq(now_saves + _of(wide, lambda elements: elements // 32 // EXPONENT_BITS))
        for mode in Mode:
            is_best = Cat(
                won if first_mode == mode else ~won
                for (first_mode, second_mode), won in wins.items()
                if mode in (first_mode, second_mode)
            ).all()
            with m.If(is_best):
                m.d.sync += [best_mode.eq(mode), best_saves.eq(kept[mode])]
        # 6 and 7
        saves_more = Signal(reset_less=True)
        m.d.sync += [
            saves_more.eq(best_saves > needed),
            self.next_mode.eq(Mux(saves_more, delayed(m, best_mode, 1, "best_mode"), self.mode)),
        ]
        return m
