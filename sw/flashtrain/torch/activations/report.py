"""The report of activations on the flash."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields


@dataclass
class ModuleTraffic:
    """Saved storages of one module, each counted where it was saved first.

    - `tensors`, `saved_bytes`: all of them; parameters and buffers are left out.
    - `kept_bytes`: they stay in memory.
    - `offloaded_bytes`: they are appended to the flash.
    - `written_bytes`, `stored_bytes`: the part of them whose append has ended, and its whole blocks of flash.
    - `rounded_bytes`: the part of `offloaded_bytes` that was rounded to BF16.
    - `memory_bytes`: offloaded ones that were still in memory when the backward pass needed them.
    - `read_bytes`: read from the flash, some perhaps more than once.
    """

    tensors: int = 0
    saved_bytes: int = 0
    kept_bytes: int = 0
    offloaded_bytes: int = 0
    written_bytes: int = 0
    stored_bytes: int = 0
    rounded_bytes: int = 0
    memory_bytes: int = 0
    read_bytes: int = 0

    def __add__(self, other: "ModuleTraffic") -> "ModuleTraffic":
        names = [field.name for field in fields(self)]
        return ModuleTraffic(**{name: getattr(self, name) + getattr(other, name) for name in names})


@dataclass(frozen=True)
class ActivationReport:
    """All traffic of a context so far.

    - `modules`: by the name of the module.
    - `kept`: bytes that stay in memory, by the reason.
    - `limit_bytes`: `memory_bytes` of the context; None without a limit.
    - `peak_bytes`, `live_bytes`: saved bytes alive in memory, at most and now, whoever keeps them.
    - `write_wait_seconds`, `read_wait_seconds`: simulated time that passed in waits for the device.
    - `elsewhere`: modules that another thread has called, with its name: their tensors stay in memory, and
      are not counted.
    """

    modules: Mapping[str, ModuleTraffic]
    kept: Mapping[str, int]
    limit_bytes: int | None
    peak_bytes: int
    live_bytes: int
    write_wait_seconds: float
    read_wait_seconds: float
    elsewhere: Mapping[str, str] = field(default_factory=dict)

    @property
    def total(self) -> ModuleTraffic:
        """The sum of all modules."""
        return sum(self.modules.values(), ModuleTraffic())

    @property
    def ratio(self) -> float | None:
        """Written bytes per byte stored; None if nothing was."""
        total = self.total
        return total.written_bytes / total.stored_bytes if total.stored_bytes else None

    def __str__(self) -> str:
        total = self.total
        kept = ", ".join(f"{nbytes:,} {reason}" for reason, nbytes in self.kept.items())
        limit = "no limit" if self.limit_bytes is None else f"limit {self.limit_bytes:,}"
        ratio = "" if self.ratio is None else f", ratio {self.ratio:.2f}"
        elsewhere = ", ".join(f"{module!r} in {thread!r}" for module, thread in self.elsewhere.items())
        lines = [
            f"saved {total.saved_bytes:,} bytes in {total.tensors:,} tensors; parameters and buffers aside",
            f"kept in memory {total.kept_bytes:,}" + (f" ({kept})" if kept else ""),
            f"offloaded {total.offloaded_bytes:,}; written {total.written_bytes:,}, in {total.stored_bytes:,}"
            f" bytes of flash{ratio}",
            f"rounded to BF16 {total.rounded_bytes:,}",
            f"needed while still in memory {total.memory_bytes:,}, read from the flash {total.read_bytes:,}",
            f"alive in memory {self.peak_bytes:,} at most, {limit}; {self.live_bytes:,} now",
            f"waits in simulated time {1000 * self.write_wait_seconds:.3f} ms for writes,"
            f" {1000 * self.read_wait_seconds:.3f} ms for reads",
            *([f"not offloaded, called in other threads: {elsewhere}"] if elsewhere else []),
            "",
            *self._table(),
        ]
        return "\n".join(lines)

    def _table(self) -> list[str]:
        width = max((len(name) for name in self.modules), default=0)
        width = max(width, len("module"))
        names = ("saved", "kept", "offloaded", "stored", "memory", "read")
        header = f"{'module':{width}}" + "".join(f"{name:>15}" for name in names)
        rows = [
            f"{module:{width}}" + "".join(f"{getattr(traffic, f'{name}_bytes'):15,}" for name in names)
            for module, traffic in self.modules.items()
        ]
        return [header, *rows]
