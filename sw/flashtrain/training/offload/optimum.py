"""The shortest iteration that any schedule reaches, by an integer program: for small profiles.

The program chooses the tensors to offload and all times. Operations keep their order; writes, reads and
operations may begin at any time that data and memory allow, so it has more freedom than a plan. It has
neither shared parts nor a write buffer nor a barrier, and operations take time.

**Variables.** `begin` of each operation; for each tensor whether it is `offloaded`, the begin of its `write`
and its `read`, and the time at which it has left memory. Binaries say which of two events is first.

**Memory** is checked at each allocation: the begin of an operation, and the begin of a read.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import milp
from scipy.sparse import csr_array

from flashtrain.training.errors import OffloadError
from flashtrain.training.offload.drafts import best_codecs
from flashtrain.training.offload.profile import Profile
from flashtrain.training.offload.storage import Storage


@dataclass(frozen=True)
class Optimum:
    """The shortest iteration, and the names of the tensors that it offloads."""

    seconds: float
    offloaded: tuple[str, ...]


def optimum(profile: Profile, storage: Storage, most_seconds: float = 60.0) -> Optimum | None:
    """The optimum; None if no schedule fits the memory.

    `most_seconds`: of the solver. Raises `OffloadError` if it takes longer, if the storage has shared parts
    or a write buffer, or if an operation takes no time.
    """
    for operation in profile.operations:
        if not operation.seconds:
            raise OffloadError(f"operation {operation.name}: 0 s; the integer program expects more")
    if storage.shared:
        raise OffloadError(f"{storage.name}: shared parts; the integer program has none")
    if storage.buffer_bytes:
        raise OffloadError(f"{storage.name}: a write buffer; the integer program has none")
    return _Program(profile, storage).solve(most_seconds)


class _Rows:
    """Linear constraints of named variables."""

    def __init__(self) -> None:
        self.columns: dict[str, int] = {}
        self.binary: list[bool] = []
        self._entries: list[tuple[int, int, float]] = []
        self._most: list[float] = []

    def variable(self, name: str, binary: bool = False) -> str:
        self.columns[name] = len(self.binary)
        self.binary.append(binary)
        return name

    def at_most(self, terms: Mapping[str, float], most: float) -> None:
        row = len(self._most)
        self._entries += [(row, self.columns[name], factor) for name, factor in terms.items()]
        self._most.append(most)

    def constraint(self) -> tuple[csr_array, float, NDArray[np.float64]]:
        rows, columns, values = zip(*self._entries, strict=True)
        shape = (len(self._most), len(self.binary))
        return csr_array((values, (rows, columns)), shape=shape), -inf, np.array(self._most)


class _Program:
    def __init__(self, profile: Profile, storage: Storage) -> None:
        self._profile, self._storage = profile, storage
        self._codecs = best_codecs(profile, storage)
        self._indices = range(len(profile.tensors))
        transfers = sum(self._write(x) + self._read(x) for x in self._indices)
        latencies = len(profile.tensors) * (storage.write_seconds + storage.read_seconds)
        self._horizon = profile.seconds + transfers + latencies
        self._rows = _Rows()

    def solve(self, most_seconds: float) -> Optimum | None:
        self._make_variables()
        self._order_operations()
        for x in self._indices:
            self._tie_tensor(x)
        self._one_at_a_time("write", [self._write(x) for x in self._indices])
        self._one_at_a_time("read", [self._read(x) for x in self._indices])
        for operation in range(self._profile.forward_operations):
            if any(tensor.made == operation for tensor in self._profile.tensors):
                self._fit_at_operation(operation)
        for x in self._indices:
            self._fit_at_read(x)
        return self._solved(most_seconds)

    def _solved(self, most_seconds: float) -> Optimum | None:
        rows, count = self._rows, len(self._rows.binary)
        costs = np.zeros(count)
        last = len(self._profile.operations) - 1
        costs[rows.columns[f"begin {last}"]] = 1
        integrality = np.array(rows.binary, np.int8)
        bounds = (np.zeros(count), np.where(integrality, 1.0, self._horizon))
        options = {"time_limit": most_seconds, "mip_rel_gap": 1e-6}
        result = milp(
            costs, constraints=rows.constraint(), integrality=integrality, bounds=bounds, options=options
        )
        if result.status == 2:
            return None
        if result.status != 0:
            raise OffloadError(
                f"{self._profile.model}: no optimum within {most_seconds:g} s: {result.message}"
            )
        offloaded = tuple(
            tensor.name
            for x, tensor in enumerate(self._profile.tensors)
            if result.x[rows.columns[f"offloaded {x}"]] > 0.5
        )
        return Optimum(float(result.fun) + self._profile.operations[last].seconds, offloaded)

    def _make_variables(self) -> None:
        for operation in range(len(self._profile.operations)):
            self._rows.variable(f"begin {operation}")
        for x in self._indices:
            self._rows.variable(f"offloaded {x}", binary=True)
            for name in ("write", "read", "left"):
                self._rows.variable(f"{name} {x}")

    def _order_operations(self) -> None:
        for number, operation in enumerate(self._profile.operations[:-1]):
            self._rows.at_most({f"begin {number}": 1, f"begin {number + 1}": -1}, -operation.seconds)

    def _tie_tensor(self, x: int) -> None:
        """Written when made, gone when written and released, read when gone, there when needed."""
        tensor, storage = self._profile.tensors[x], self._storage
        self._after(f"write {x}", f"begin {tensor.made}", self._seconds(tensor.made), x)
        self._after(f"left {x}", f"write {x}", self._write(x) + storage.write_seconds, x)
        self._after(f"left {x}", f"begin {tensor.last_forward}", self._seconds(tensor.last_forward), x)
        self._after(f"read {x}", f"left {x}", 0.0, x)
        self._after(f"begin {tensor.uses[0]}", f"read {x}", self._read(x) + storage.read_seconds, x)

    def _one_at_a_time(self, kind: str, seconds: list[float]) -> None:
        for x in self._indices:
            for y in range(x):
                first = self._rows.variable(f"{kind} {x} before {y}", binary=True)
                m = self._horizon
                both = {f"offloaded {x}": m, f"offloaded {y}": m}
                self._rows.at_most(
                    {f"{kind} {x}": 1, f"{kind} {y}": -1, first: m, **both}, 3 * m - seconds[x]
                )
                self._rows.at_most(
                    {f"{kind} {y}": 1, f"{kind} {x}": -1, first: -m, **both}, 2 * m - seconds[y]
                )

    def _fit_at_operation(self, operation: int) -> None:
        """Memory when a forward operation begins."""
        tensors, at = self._profile.tensors, f"begin {operation}"
        terms: dict[str, float] = {}
        made = 0
        for x, tensor in enumerate(tensors):
            if tensor.made <= operation:
                made += tensor.bytes
            if tensor.made < operation:
                terms[self._gone(x, at)] = -tensor.bytes
                terms[self._back(x, at, None)] = tensor.bytes
        self._fit(terms, self._memory - made)

    def _fit_at_read(self, y: int) -> None:
        """Memory when the read of `y` begins, if it is offloaded."""
        tensors, at = self._profile.tensors, f"read {y}"
        everything = float(sum(tensor.bytes for tensor in tensors))
        terms: dict[str, float] = {f"offloaded {y}": everything}
        for x, tensor in enumerate(tensors):
            if x == y:
                continue
            terms[made := self._made(x, at, y)] = tensor.bytes
            terms[self._gone(x, at)] = -tensor.bytes
            terms[self._back(x, at, y)] = tensor.bytes
            if tensors[y].made < tensor.made:
                # Of an operation and a read that begin together one counts for the other.
                back = f"{y} back at begin {tensor.made}"
                self._rows.at_most({made: -1, back: -1, f"offloaded {y}": 1}, 0)
            terms[self._used(x, at)] = -tensor.bytes
        self._fit(terms, self._memory + everything - tensors[y].bytes)

    def _fit(self, terms: Mapping[str, float], most: float) -> None:
        """Bytes in units of the memory, so that they are as large as the other numbers."""
        self._rows.at_most({name: size / self._memory for name, size in terms.items()}, most / self._memory)

    def _gone(self, x: int, at: str) -> str:
        """Whether `x` counts as offloaded and gone at a time; only if it is."""
        name, m = self._rows.variable(f"{x} gone at {at}", binary=True), self._horizon
        self._rows.at_most({name: 1, f"offloaded {x}": -1}, 0)
        self._rows.at_most({f"left {x}": 1, at: -1, name: m}, m)
        return name

    def _used(self, x: int, at: str) -> str:
        """Whether the last use of `x` counts as over at a time; only if it is."""
        name, m = self._rows.variable(f"{x} used at {at}", binary=True), self._horizon
        last = self._profile.tensors[x].uses[-1]
        self._rows.at_most({f"begin {last}": 1, at: -1, name: m}, m - self._seconds(last))
        return name

    def _back(self, x: int, at: str, reader: int | None) -> str:
        """Whether the read of `x` counts at a time: if it is offloaded, always but if the read is later.

        Of two reads that begin together one counts for the other.
        """
        name, m = self._rows.variable(f"{x} back at {at}", binary=True), self._horizon
        late = {at: 1.0, f"read {x}": -1.0, name: -m, f"offloaded {x}": m}
        self._rows.at_most(late, m)
        other = f"{reader} back at read {x}"
        if reader is not None and other in self._rows.columns:
            self._rows.at_most({name: -1, other: -1, f"offloaded {x}": 1, f"offloaded {reader}": 1}, 1)
        return name

    def _made(self, x: int, at: str, reader: int) -> str:
        """Whether `x` counts as made when the read of `reader` begins: always but if it is made later."""
        name, m = self._rows.variable(f"{x} made at {at}", binary=True), self._horizon
        made = self._profile.tensors[x].made
        self._rows.at_most({at: 1, f"begin {made}": -1, name: -m, f"offloaded {reader}": m}, m)
        return name

    def _after(self, later: str, earlier: str, seconds: float, x: int) -> None:
        """`later` is at least so long after `earlier`, if `x` is offloaded."""
        m = self._horizon + seconds
        self._rows.at_most({earlier: 1, later: -1, f"offloaded {x}": m}, m - seconds)

    @property
    def _memory(self) -> int:
        return self._storage.memory_bytes - self._profile.resident_bytes

    def _seconds(self, operation: int) -> float:
        return self._profile.operations[operation].seconds

    def _write(self, x: int) -> float:
        return self._storage.write_time(self._profile.tensors[x], self._codecs[x])

    def _read(self, x: int) -> float:
        return self._storage.read_time(self._profile.tensors[x], self._codecs[x])
