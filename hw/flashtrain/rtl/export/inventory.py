"""The memories of a design, counted in the design itself."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from amaranth.hdl import Fragment, Shape
from amaranth.hdl._mem import MemoryInstance
from amaranth.lib import wiring

from flashtrain.rtl.lib.shared import SharedModule


@dataclass(frozen=True)
class MemoryUse:
    """`copies` memories of `rows` rows of `bits` bits, at `path` in the hierarchy (of one of them)."""

    path: tuple[str, ...]
    copies: int
    rows: int
    bits: int

    @property
    def bytes(self) -> float:
        """Of all copies."""
        return self.copies * self.rows * self.bits / 8


def memories(top: wiring.Component) -> list[MemoryUse]:
    """All memories below `top`, largest first; those of a module used many times as one line."""
    found: Counter[tuple[tuple[str, ...], int, int]] = Counter()
    for path, rows, bits in _walk(Fragment.get(top, None), (), {}):
        found[path, rows, bits] += 1
    uses = [MemoryUse(path, copies, rows, bits) for (path, rows, bits), copies in found.items()]
    return sorted(uses, key=lambda use: (-use.bytes, use.path))


def _walk(
    fragment: Fragment, path: tuple[str, ...], shared: dict[str, list[tuple[tuple[str, ...], int, int]]]
) -> Iterator[tuple[tuple[str, ...], int, int]]:
    if isinstance(fragment, MemoryInstance):
        memory = fragment._data
        yield path, memory.depth, Shape.cast(memory.shape).width
    for origin in fragment.origins or ():
        if isinstance(origin, SharedModule):
            # Below a shared module paths start with its name, so that equal ones fall together.
            name = origin.module_name
            if name not in shared:
                shared[name] = list(_walk(Fragment.get(origin.component, None), (name,), shared))
            yield from shared[name]
    for number, (child, name, _src_loc) in enumerate(fragment.subfragments):
        yield from _walk(child, (*path, name or f"part{number}"), shared)
