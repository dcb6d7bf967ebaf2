"""Access to the inside of an elaborated design, for invariants about more than its ports."""

import sys
from collections import defaultdict
from typing import Any

from amaranth.hdl import Const, Elaboratable, Fragment, Module, Signal, Value
from amaranth.utils import ceil_log2


class Inside:
    """A design, or a submodule of it.

    Signals, submodules and states have the names of the unit's source. A name is a local variable of
    `elaborate` or of a method that it calls. It may also be an attribute of an object in such a variable, if
    the object's class is in the unit's module.
    """

    def __init__(self, unit: Any, fragment: Fragment, names: dict[int, dict[str, Any]]):
        self.unit = unit
        self._fragment = fragment
        self._names = names

    @classmethod
    def elaborate(cls, design: Elaboratable) -> "Inside":
        """Elaborates the design and collects all names."""
        names: dict[int, dict[str, Any]] = defaultdict(dict)

        def note(frame, event, _argument) -> None:
            owner = frame.f_locals.get("self")
            if event == "return" and isinstance(owner, Elaboratable) and not isinstance(owner, Module):
                for value in frame.f_locals.values():
                    if type(value).__module__ == type(owner).__module__ and value is not owner:
                        names[id(owner)].update(getattr(value, "__dict__", {}))
                names[id(owner)].update(frame.f_locals)

        before = sys.getprofile()
        sys.setprofile(note)
        try:
            fragment = Fragment.get(design, None)
        finally:
            sys.setprofile(before)
        return cls(design, fragment, names)

    @property
    def fragment(self) -> Fragment:
        """The elaborated design."""
        return self._fragment

    def __getitem__(self, name: str) -> Any:
        """The signal of that name."""
        names = self._names[id(self.unit)]
        if name not in names:
            raise KeyError(
                f"{type(self.unit).__name__} names nothing {name!r}, but {', '.join(sorted(names))}"
            )
        return names[name]

    def part(self, name: str) -> "Inside":
        """The submodule of that name."""
        unit, _where = self["m"]._named_submodules[name]
        return Inside(unit, self._child(name), self._names)

    def ongoing(self, *states: str, fsm: str = "fsm") -> Value:
        """Whether the state machine is in one of these states."""
        machine = self._fragment.generated[fsm]
        return machine.state.matches(*(machine.encoding[state] for state in states))

    def legal(self, fsm: str = "fsm") -> Value:
        """Whether the state machine is in any state: an induction needs this as a lemma."""
        machine = self._fragment.generated[fsm]
        return machine.state < len(machine.encoding)

    def word(self, m: Module, memory: str, address: Any) -> Any:
        """The word at `address` of the memory of that name, through an additional read port."""
        stored = self._child(memory)._data
        place = Signal(ceil_log2(stored.depth), name=f"{memory}_place")
        word = Signal(stored.shape, name=f"{memory}_word")
        m.d.comb += place.eq(address)
        self._child(memory).read_port(
            domain="comb", addr=place, data=Value.cast(word), en=Const(1), transparent_for=()
        )
        return word

    def _child(self, name: str) -> Any:
        for child, child_name, _where in self._fragment.subfragments:
            if child_name == name:
                return child
        raise KeyError(f"{type(self.unit).__name__} has no submodule {name!r}")
