"""Random changes of a catalogue beside a dictionary that says what must be found."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import Catalog, CatalogFull

from .lost import Lost
from .survival import Survival

NAMES = tuple(f"{run}/{tensor}" for run in ("run1", "run2", "über") for tensor in ("w", "b", "steps", "m"))
DTYPES = ("<f4", "<f8", ">i2", "?", "<f2", "u1", [("a", "<i4"), ("b", "<f8", (2,))])

Contents = Mapping[str, NDArray[Any]]


class CatalogOracle:
    """Changes a catalogue, one random operation at a time.

    - most_bytes: of an array.
    - states: the contents of which one must be found, the latest last; two while a change is under way.
    - steps: operations so far.
    - refused: changes that found no room.
    - on_append: called before each change.
    """

    def __init__(self, random: Random, most_bytes: int, on_append: Callable[[], None] = lambda: None) -> None:
        self.states: list[Contents] = [{}]
        self.steps = self.refused = 0
        self.on_append = on_append
        self._random = random
        self._most_bytes = most_bytes

    def step(self, catalog: Catalog) -> None:
        """Carry out one operation."""
        known, random = sorted(self.states[-1]), self._random
        kinds = [self._assign, self._assign, self._assign_several]
        kinds += [self._delete, self._rename, self._compare_part] if known else []
        random.choice(kinds)(catalog)
        self.steps += 1

    def check(self, catalog: Catalog, survival: Survival) -> None:
        """:class:`Lost` unless the catalogue has one of the states, which it must have from now on."""
        found = {name: catalog[name] for name in catalog}
        matching = [state for state in self.states if _same(found, state)]
        if not matching:
            raise Lost(f"the catalogue has {_shown(found)}; expected {' or '.join(map(_shown, self.states))}")
        survival.tensors += len(found)
        survival.bytes += sum(array.nbytes for array in found.values())
        survival.after += matching[0] is self.states[-1]
        survival.before += matching[0] is not self.states[-1]
        self.states = matching[:1]

    # Operations.

    def _assign(self, catalog: Catalog) -> None:
        name, array = self._random.choice(NAMES), self._array(self._most_bytes)
        self._change(lambda: catalog.__setitem__(name, array), {name: array})

    def _assign_several(self, catalog: Catalog) -> None:
        names = self._random.sample(NAMES, self._random.randint(1, 5))
        arrays = {name: self._array(self._most_bytes // 8) for name in names}
        self._change(lambda: catalog.update(arrays), arrays)

    def _delete(self, catalog: Catalog) -> None:
        known = sorted(self.states[-1])
        names = self._random.sample(known, self._random.randint(1, min(2, len(known))))
        self._change(lambda: catalog.delete(names), dict.fromkeys(names))

    def _rename(self, catalog: Catalog) -> None:
        old, new = self._random.choice(sorted(self.states[-1])), self._random.choice(NAMES)
        if new not in self.states[-1]:
            self._change(lambda: catalog.rename(old, new), {old: None, new: self.states[-1][old]})

    def _compare_part(self, catalog: Catalog) -> None:
        name = self._random.choice(sorted(self.states[-1]))
        expected = self.states[-1][name]
        key = tuple(self._part(count) for count in expected.shape)
        if catalog.view(name)[key].tobytes() != expected[key].tobytes():
            raise Lost(f"part {key} of array {name!r} is wrong")

    def _part(self, count: int) -> slice:
        begin, end = sorted(self._random.choices(range(count + 1), k=2))
        return slice(begin, end, self._random.choice([1, 1, 2, 5]))

    def _change(self, change: Callable[[], None], changes: Mapping[str, NDArray[Any] | None]) -> None:
        before = self.states[-1]
        after = {**before, **changes}
        self.states = [before, {name: array for name, array in after.items() if array is not None}]
        self.on_append()
        try:
            change()
        except CatalogFull:
            self.refused += 1
            self.states = [before]
        else:
            self.states = self.states[-1:]

    def _array(self, most_bytes: int) -> NDArray[Any]:
        """Of a random dtype and shape, some empty, some without dimensions, some not contiguous."""
        dtype = np.dtype(self._random.choice(DTYPES))
        most = max(1, most_bytes // dtype.itemsize)
        count = self._random.choice([0, 1, self._random.randint(1, most), self._random.randint(1, most)])
        raw = np.frombuffer(self._random.randbytes(count * dtype.itemsize), np.uint8)
        if dtype == np.bool_:
            raw = raw & 1
        array = raw.view(dtype)
        shapes = [(count,), (count, 1), (1, count)] + [()] * (count == 1)
        array = array.reshape(self._random.choice(shapes))
        return array[::-1] if array.ndim and self._random.random() < 0.2 else array


def _same(found: Contents, expected: Contents) -> bool:
    return found.keys() == expected.keys() and all(
        (array.dtype, array.shape, array.tobytes())
        == (expected[name].dtype, expected[name].shape, expected[name].tobytes())
        for name, array in found.items()
    )


def _shown(contents: Contents) -> str:
    return str({name: f"{array.dtype}{list(array.shape)}" for name, array in sorted(contents.items())})
