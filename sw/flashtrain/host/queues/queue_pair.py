"""One port's submission and completion queue in the tensor buffer."""

from flashtrain.host.link import Link
from flashtrain.spec import Completion, Port, Submission
from flashtrain.spec.registers import PortRegister, cq_head_doorbell, port_register, sq_tail_doorbell

from .entries import CompletionEntry, parse_completion

ALIGNMENT = 64
"""Queue bases are multiples of this many bytes."""


class QueuePair:
    """Submission and completion queue of `port`, `entries` long each, at byte `address` of the tensor buffer.

    A queue of n entries holds at most n - 1: with n, head and tail would be equal as in an empty queue.
    """

    def __init__(self, link: Link, port: Port, address: int, entries: int) -> None:
        self.port = port
        self.entries = entries
        self._link = link
        self._sq_address = address
        self._cq_address = address + entries * Submission.BYTES
        # Views of bytes: an array takes longer than the rest of a push or a poll.
        memory = link.memory
        self._sq = memory[address : self._cq_address].data
        self._cq = memory[self._cq_address : self._cq_address + entries * Completion.BYTES].data
        # Byte and bit of the phase within an entry.
        self._phase_byte, self._phase_bit = divmod(Completion.phase.low, 8)
        self.reset()

    @staticmethod
    def size_bytes(entries: int) -> int:
        """Bytes of the tensor buffer that a pair of this length takes."""
        size = entries * (Submission.BYTES + Completion.BYTES)
        return -(-size // ALIGNMENT) * ALIGNMENT

    def reset(self) -> None:
        """Empty both queues, as an enable of the controller does."""
        self._cq[:] = bytes(len(self._cq))
        self._tail = self._sq_head = self._cq_head = 0
        self._rung = 0
        self._phase = 1

    def configure(self) -> None:
        """Write the queues' addresses and sizes to the registers; the controller is disabled."""
        for low, high, address, size in (
            (PortRegister.SQ_BASE_LOW, PortRegister.SQ_BASE_HIGH, self._sq_address, PortRegister.SQ_SIZE),
            (PortRegister.CQ_BASE_LOW, PortRegister.CQ_BASE_HIGH, self._cq_address, PortRegister.CQ_SIZE),
        ):
            self._link.write_register(port_register(self.port, low), address & 0xFFFF_FFFF)
            self._link.write_register(port_register(self.port, high), address >> 32)
            self._link.write_register(port_register(self.port, size), self.entries - 1)

    @property
    def room(self) -> int:
        """Entries that can be pushed now."""
        return (self._sq_head - self._tail - 1) % self.entries

    def push(self, entry: bytes) -> None:
        """Put an entry at the tail; the device fetches it after :meth:`ring`."""
        start = self._tail * Submission.BYTES
        self._sq[start : start + Submission.BYTES] = entry
        self._tail = (self._tail + 1) % self.entries

    def ring(self) -> None:
        """Ring the tail doorbell if an entry was pushed since the last ring."""
        if self._rung != self._tail:
            self._rung = self._tail
            self._link.write_register(sq_tail_doorbell(self.port), self._tail)

    @property
    def _posted(self) -> bool:
        """Whether the entry at the head of the completion queue is a new one."""
        phase_byte = self._cq[self._cq_head * Completion.BYTES + self._phase_byte]
        return phase_byte >> self._phase_bit & 1 == self._phase

    def poll(self) -> list[CompletionEntry]:
        """Take all posted completions."""
        taken = []
        while self._posted:
            start = self._cq_head * Completion.BYTES
            completion = parse_completion(self._cq[start : start + Completion.BYTES])
            self._sq_head = completion.sq_head
            taken.append(completion)
            self._cq_head += 1
            if self._cq_head == self.entries:
                self._cq_head = 0
                self._phase ^= 1
        if taken:
            self._link.write_register(cq_head_doorbell(self.port), self._cq_head)
        return taken
