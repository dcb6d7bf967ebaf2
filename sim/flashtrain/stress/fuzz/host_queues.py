"""The host's end of a port's queues, which believes nothing: each completion is looked at from all sides."""

import numpy as np

from flashtrain.host.link import Link
from flashtrain.host.queues.entries import CompletionEntry, parse_completion
from flashtrain.spec import Completion, Port, Status, Submission
from flashtrain.spec.registers import PortRegister, cq_head_doorbell, port_register, sq_tail_doorbell

from .command import FuzzCommand
from .disagreement import Disagreement
from .scene import QueuePlace

_UNUSED_OF_COMPLETION = 0x7 << 124  # bits 30:28 of dword 3: no field of the contract
_RETRIED = (Status.SUCCESS, Status.DATA_TRANSFER_ERROR, Status.NAMESPACE_NOT_READY, Status.WRITE_FAULT)


class HostQueues:
    """Both queues of `port`, of different lengths, at `place`."""

    def __init__(self, link: Link, port: Port, place: QueuePlace) -> None:
        self._link = link
        self._port = port
        self.place = place
        memory = link.memory
        sq_end = place.sq_address + place.sq_entries * Submission.BYTES
        self._sq = memory[place.sq_address : sq_end].reshape(place.sq_entries, Submission.BYTES)
        self._cq = memory[place.cq_address : place.end].reshape(place.cq_entries, Completion.BYTES)
        self.reset()

    def reset(self) -> None:
        """Both queues empty, as a controller that was just enabled has them."""
        self._sq[:] = 0
        self._cq[:] = 0
        self._sq_shadow, self._cq_shadow = self._sq.copy(), self._cq.copy()
        self._pushed = self._fetched = self._rung = (
            0  # commands since the enable; fetched: as the device says
        )
        self._cq_head = 0
        self._phase = 1
        self._unanswered: dict[int, int] = {}

    @property
    def settings(self) -> dict[int, int]:
        """Values of the port's registers."""
        p, r = self.place, PortRegister
        return {
            port_register(self._port, register): value
            for register, value in (
                (r.SQ_BASE_LOW, p.sq_address), (r.SQ_BASE_HIGH, 0), (r.SQ_SIZE, p.sq_entries - 1),
                (r.CQ_BASE_LOW, p.cq_address), (r.CQ_BASE_HIGH, 0), (r.CQ_SIZE, p.cq_entries - 1),
            )
        }  # fmt: skip

    @property
    def room(self) -> int:
        return self.place.sq_entries - 1 - (self._pushed - self._fetched)

    @property
    def unanswered(self) -> int:
        return len(self._unanswered)

    def push(self, command: FuzzCommand) -> None:
        slot = self._pushed % self.place.sq_entries
        self._sq[slot] = self._sq_shadow[slot] = np.frombuffer(command.raw, np.uint8)
        self._unanswered[command.cid] = self._pushed
        self._pushed += 1

    def ring(self) -> None:
        if self._rung != self._pushed:
            self._rung = self._pushed
            self._link.write_register(sq_tail_doorbell(self._port), self._pushed % self.place.sq_entries)

    def take(self) -> list[CompletionEntry]:
        """All completions that are there, each checked against the contract's rules for queues."""
        taken: list[CompletionEntry] = []
        while self._cq[self._cq_head, 14] & 1 == self._phase:
            raw = self._cq[self._cq_head].copy()
            self._cq_shadow[self._cq_head] = raw
            taken.append(self._checked(raw.tobytes()))
            self._cq_head = (self._cq_head + 1) % self.place.cq_entries
            self._phase ^= self._cq_head == 0
        return taken

    def ring_head(self) -> None:
        """Give back the places of what was taken."""
        self._link.write_register(cq_head_doorbell(self._port), self._cq_head)

    def _checked(self, raw: bytes) -> CompletionEntry:
        entry = parse_completion(raw)
        what = f"completion {raw.hex()} of port {self._port.name}"
        if entry.port != self._port:
            raise Disagreement(f"{what} names port {entry.port}")
        if int.from_bytes(raw, "little") & _UNUSED_OF_COMPLETION:
            raise Disagreement(f"{what} has bits set that are no field")
        if entry.do_not_retry != (entry.status not in _RETRIED):
            raise Disagreement(f"{what} has the wrong DNR for its status")
        number = self._unanswered.pop(entry.cid, None)
        if number is None:
            raise Disagreement(f"{what} is of command {entry.cid:#x}, which is not in flight")
        fetched = self._fetched + (entry.sq_head - self._fetched) % self.place.sq_entries
        if entry.sq_head >= self.place.sq_entries or fetched > self._rung:
            raise Disagreement(f"{what}: submission head {entry.sq_head} is past what was submitted")
        if fetched <= number:
            raise Disagreement(f"{what}: submission head {entry.sq_head} says that it was not fetched")
        self._fetched = fetched
        return entry

    def check_memory(self) -> None:
        """The device wrote completions, each once, and nothing else."""
        for name, actual, expected in (
            ("submission", self._sq, self._sq_shadow), ("completion", self._cq, self._cq_shadow),
        ):  # fmt: skip
            wrong = np.flatnonzero((actual != expected).any(axis=1))
            if len(wrong):
                raise Disagreement(
                    f"entry {wrong[0]} of the {name} queue of port {self._port.name} is "
                    f"{actual[wrong[0]].tobytes().hex()}; expected {expected[wrong[0]].tobytes().hex()}: "
                    "the device writes each completion once and nothing else there"
                )
