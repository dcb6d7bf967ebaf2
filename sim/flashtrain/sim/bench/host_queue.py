"""The host's side of one port's queues: pushes entries, and checks every completion entry."""

from collections.abc import Callable

import numpy as np

from flashtrain.host.queues.entries import CompletionEntry, parse_completion
from flashtrain.sim.bench.registers import Registers
from flashtrain.sim.bench.tensor_buffer import TensorBuffer
from flashtrain.spec import Completion, Port, Submission
from flashtrain.spec.registers import PortRegister, cq_head_doorbell, port_register, sq_tail_doorbell

_PHASE_BEAT = Completion.phase.low // 64 * 8  # offset of the beat with the phase bit


class HostQueue:
    """Submission and completion queue of `port`, at `sq_address` and `cq_address`, so many entries long.

    Positions are counted from the enable on. `pushed`, `rung` and `fetched` are those of the submission
    queue, the last as reported by the device. `written` and `released` are those of the completion queue.

    Each completion is checked: its slot must be the next one and free; phase and port must be right. The
    reported head must cover submitted entries only, and never decrease. Then `on_completion(entry)` is
    called.
    """

    def __init__(
        self,
        port: Port,
        buffer: TensorBuffer,
        registers: Registers,
        sq_address: int,
        sq_entries: int,
        cq_address: int,
        cq_entries: int,
        on_completion: Callable[[CompletionEntry], None],
    ):
        self.port = port
        self.buffer = buffer
        self.registers = registers
        self.sq_address, self.sq_entries = sq_address, sq_entries
        self.cq_address, self.cq_entries = cq_address, cq_entries
        self.on_completion = on_completion
        self._cq = range(cq_address, cq_address + cq_entries * Completion.BYTES)
        buffer.watch(self._cq, self._written)
        self.reset()

    def reset(self) -> None:
        """Both queues are empty, as the controller has them when it is enabled."""
        self.pushed = self.rung = self.fetched = self.written = self.released = 0
        self.buffer.bytes[self._cq.start : self._cq.stop] = 0
        self.buffer.grant(self._slots(0, self.sq_entries))
        self.buffer.grant(self._cq, write=True)

    async def configure(self) -> None:
        """Write the port's registers; the controller is disabled."""
        for low, address, size, entries in (
            (PortRegister.SQ_BASE_LOW, self.sq_address, PortRegister.SQ_SIZE, self.sq_entries),
            (PortRegister.CQ_BASE_LOW, self.cq_address, PortRegister.CQ_SIZE, self.cq_entries),
        ):
            base = port_register(self.port, low)
            await self.registers.write(base, address & 0xFFFF_FFFF)
            await self.registers.write(base + 4, address >> 32)
            await self.registers.write(port_register(self.port, size), entries - 1)

    @property
    def room(self) -> int:
        """Entries that can be pushed."""
        return self.sq_entries - 1 - (self.pushed - self.fetched)

    @property
    def unreleased(self) -> int:
        """Completions that the device still has to keep."""
        return self.written - self.released

    def push(self, entry: bytes) -> int:
        """Put an entry at the tail; its position. The device sees it after `ring`."""
        if not self.room:
            raise ValueError(f"the submission queue of port {self.port.name} is full")
        start = self._slots(self.pushed, 1).start
        self.buffer.bytes[start : start + Submission.BYTES] = np.frombuffer(entry, np.uint8)
        self.pushed += 1
        return self.pushed - 1

    async def ring(self) -> None:
        """Tell the device of all entries pushed so far."""
        for position in range(self.rung, self.pushed):
            self.buffer.grant(self._slots(position, 1), read=True)
        self.rung = self.pushed
        await self.registers.write(sq_tail_doorbell(self.port), self.pushed % self.sq_entries)

    async def release(self, count: int | None = None) -> None:
        """Give the device the slots of the oldest `count` completions back; of all, if not given."""
        self.released += self.unreleased if count is None else count
        await self.registers.write(cq_head_doorbell(self.port), self.released % self.cq_entries)

    def _slots(self, position: int, count: int) -> range:
        start = self.sq_address + position % self.sq_entries * Submission.BYTES
        return range(start, start + count * Submission.BYTES)

    def _written(self, address: int) -> None:
        slot, offset = divmod(address - self._cq.start, Completion.BYTES)
        where = f"port {self.port.name}, completion {self.written}"
        expected = self.written % self.cq_entries
        assert slot == expected, f"{where}: written to slot {slot}; expected {expected}"
        assert self.unreleased < self.cq_entries - 1, f"{where}: the completion queue is full"
        if offset != _PHASE_BEAT:
            return
        start = self._cq.start + slot * Completion.BYTES
        raw = self.buffer.bytes[start : start + Completion.BYTES].tobytes()
        phase = Completion.phase.get(int.from_bytes(raw, "little"))
        due = 1 - self.written // self.cq_entries % 2
        assert phase == due, f"{where}: phase {phase}; expected {due}"
        entry = parse_completion(raw)
        assert entry.port == self.port, f"{where}: queue identifier {entry.port}"
        self._advance_head(where, entry.sq_head)
        self.written += 1
        self.on_completion(entry)

    def _advance_head(self, where: str, head: int) -> None:
        assert head < self.sq_entries, f"{where}: head {head} of a queue of {self.sq_entries}"
        moved = (head - self.fetched) % self.sq_entries
        assert moved <= self.rung - self.fetched, f"{where}: head {head} is past the tail"
        for position in range(self.fetched, self.fetched + moved):
            self.buffer.grant(self._slots(position, 1))
        self.fetched += moved
