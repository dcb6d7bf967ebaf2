"""Registers at chosen places of a computation that is written down once."""

from collections.abc import Collection, Mapping
from itertools import combinations

from amaranth import Module, Signal, Value


class Pipeline:
    """Values on their way through a unit, each registered as often as the stage that reads it asks for.

        pipe = Pipeline(m, enable, stages=2, steps={"products": 3, "sum": 2, "result": 4})
        pipe.sign = a.sign ^ b.sign
        ...
        pipe.cut("products")  # here a register, or nothing
        ... pipe.sign         # the value of the operands that are now here

    Writing an attribute names a value. Reading it after cuts delivers it, delayed by the registers placed
    there. A register may stand at the end of each of the `steps`, which are in order. Each has the name of
    the place at its end, and a delay in any unit.

    The pipeline places `stages` registers so that the longest path between two of them is as short as
    possible. The last place always has one; the first stage begins at the ports.

    At the places `own` the unit has registers itself, which `stages` does not count. No value that was named
    before such a place can be read behind it.

    Registers hold while `enable` is low, and have no reset: the outputs of the first `stages` cycles are
    undefined.

    Raises `ValueError` for a place out of order.
    """

    def __init__(
        self, m: Module, enable: Value, stages: int, steps: Mapping[str, float], own: Collection[str] = ()
    ):
        self._own(m=m, enable=enable, stage=0, values={}, pending=list(steps))
        self._own(registers=_placed(steps, stages, own), own_registers=own)

    def _own(self, **attributes):
        self.__dict__.update({f"_{name}": attribute for name, attribute in attributes.items()})

    def cut(self, place: str):
        """End the step `place`: everything read from here on is behind its register, if it has one."""
        expected = self._pending.pop(0)
        if place != expected:
            raise ValueError(f"the pipeline's next place is {expected!r}, not {place!r}")
        self.__dict__["_stage"] += place in self._registers
        if place in self._own_registers:
            self._values.clear()

    def __setattr__(self, name: str, value):
        signal = Signal(value.shape(), name=name)
        self._m.d.comb += signal.eq(value)
        self._values[name] = [None] * self._stage + [signal]

    def __getattr__(self, name: str):
        if name not in self._values:
            raise AttributeError(f"no value {name!r} has entered the pipeline")
        delayed = self._values[name]
        while len(delayed) <= self._stage:
            register = Signal(delayed[-1].shape(), name=f"{name}_{len(delayed)}", reset_less=True)
            with self._m.If(self._enable):
                self._m.d.sync += register.eq(delayed[-1])
            delayed.append(register)
        return delayed[self._stage]


def _placed(steps: Mapping[str, float], stages: int, own: Collection[str]) -> frozenset[str]:
    """The places of `stages` registers."""
    *inner, last = [place for place in steps if place not in own]

    def longest(chosen: tuple[str, ...]) -> float:
        delay, worst = 0.0, 0.0
        for place, step in steps.items():
            delay += step
            worst = max(worst, delay)
            if place in chosen or place in own:
                delay = 0
        return worst

    return frozenset((*min(combinations(inner, stages - 1), key=longest), last))
