"""The controller's side of a port's queues: it fetches entries from memory, and posts completions to it."""

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec import Completion, Port, Submission
from flashtrain.spec.nvme import do_not_retry
from flashtrain.spec.registers import PortRegister, port_register

from .registers import RegisterFile


class PortQueues:
    """Both queues of `port` since the controller was enabled. `tail` and `head` are the doorbells."""

    def __init__(self, port: Port, registers: RegisterFile, memory: NDArray[np.uint8]) -> None:
        def setting(which: PortRegister) -> int:
            return port_register(port, which)

        self.port = port
        self.tail = self.head = 0
        self.sq_size = registers[setting(PortRegister.SQ_SIZE)] + 1
        self.cq_size = registers[setting(PortRegister.CQ_SIZE)] + 1
        self._memory = memory.data  # a view of bytes: an array takes longer than the rest of a fetch
        self._sq_base = registers.long(setting(PortRegister.SQ_BASE_LOW))
        self._cq_base = registers.long(setting(PortRegister.CQ_BASE_LOW))
        self._sq_head = self._cq_tail = 0
        self._phase = 1
        self._port_bits = Completion.sq_id.put(port)

    @property
    def pending(self) -> bool:
        """Whether an entry can be fetched."""
        return self._sq_head != self.tail

    @property
    def room(self) -> bool:
        """Whether a completion can be posted."""
        return (self._cq_tail + 1) % self.cq_size != self.head

    @property
    def inside_memory(self) -> bool:
        """Whether both queues lie in the tensor buffer."""
        ends = (
            self._sq_base + self.sq_size * Submission.BYTES,
            self._cq_base + self.cq_size * Completion.BYTES,
        )
        return max(ends) <= len(self._memory)

    def fetch(self) -> bytes:
        """The next submission entry."""
        start = self._sq_base + self._sq_head * Submission.BYTES
        self._sq_head = (self._sq_head + 1) % self.sq_size
        return self._memory[start : start + Submission.BYTES].tobytes()

    def post(self, cid: int, status: int, result: int, fetched: int | None = None) -> None:
        """Write a completion entry; `fetched`: entries that the controller has taken, if not all."""
        taken = self._sq_head if fetched is None else fetched % self.sq_size
        c = Completion
        # Shifts in the place of `put`, whose checks take longer than the rest: these values fit.
        entry = (
            result << c.result.low
            | taken << c.sq_head.low
            | self._port_bits
            | cid << c.cid.low
            | self._phase << c.phase.low
            | status << c.status.low
            | do_not_retry(status) << c.do_not_retry.low
        ).to_bytes(c.BYTES, "little")
        start = self._cq_base + self._cq_tail * c.BYTES
        self._memory[start : start + c.BYTES] = entry
        self._cq_tail += 1
        if self._cq_tail == self.cq_size:
            self._cq_tail = 0
            self._phase ^= 1
