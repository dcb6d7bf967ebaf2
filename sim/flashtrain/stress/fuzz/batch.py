"""Batches of commands that are in flight together and still have predictable answers.

In an *exact* batch each stream belongs to one port. The device executes the commands of a port in their
order, so each command has one right answer. In a *shared* batch both ports work on the same streams: answers
are right if some merge of the two orders explains them (`merges`). A shared batch ends with commands that
wait for all others. They read and reset everything that the batch touched, so that exact answers follow.

An append to a stream with a codec reserves its bound until it completes. Until then the answers of other
commands to its zone may depend on the time. An exact batch has such a command only if its answer is the same
with all that is still reserved and with nothing of it. In a shared batch the stream takes only appends whose
bounds all fit.

In both kinds, each byte of the tensor buffer that a command may write belongs to that command alone. The
pages that an UPDATE reads were programmed before the batch began, as the contract requires. The commands of
optimizer steps are of one port.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from flashtrain.spec import Completion, Opcode, Port, Status, Submission, ZoneAction
from flashtrain.spec.identity import RestoreAction

from .command import FuzzCommand
from .oracle import Answer, DeviceState, Footprint, Memory, Oracle, StreamZone, footprint
from .oracle.checks import reserved_blocks, zone_of
from .scene import Scene

_APPENDS = frozenset({Opcode.ZONE_APPEND, Opcode.WRITE})
_OF_STEPS = frozenset({Opcode.UPDATE, Opcode.SET_CONSTANTS, Opcode.GET_STATISTICS})
_SHARED = _APPENDS | {
    Opcode.READ, Opcode.ZONE_MANAGEMENT_SEND, Opcode.ZONE_MANAGEMENT_RECEIVE, Opcode.FLUSH,
    Opcode.STREAM_RESET,
}  # fmt: skip


@dataclass(frozen=True)
class Range:
    """Bytes of the tensor buffer. `owned`: nobody else may touch them."""

    start: int
    end: int
    owned: bool

    def collides(self, other: "Range") -> bool:
        return (self.owned or other.owned) and self.start < other.end and other.start < self.end


class Batch:
    """A batch that is filled command by command.

    - `image`: the tensor buffer as the host fills it before the batch.
    - `answers`: the expected answers of an exact batch.
    - `tail`: the first of the last commands, which wait until all commands before are answered.
    - `unprogrammed`: streams with pages that may not be programmed yet.
    """

    def __init__(
        self, oracle: Oracle, scene: Scene, image: Memory, unprogrammed: frozenset[int], shared: bool
    ) -> None:
        self.commands: list[FuzzCommand] = []
        self.answers: list[Answer] = []
        self.shared = shared
        self.tail: int | None = None
        self.image = image
        self.before: DeviceState = oracle.state
        self._oracle = oracle
        self._scene = scene
        self._ranges = [Range(scene.queues_start, scene.queues_end, True)]
        self._owners: dict[int, Port] = {}
        self._step_port: Port | None = None
        self._unprogrammed = unprogrammed
        self._appended: set[int] = set()
        self._flushed: set[int] = set()
        self._names: set[tuple[Port, int]] = set()
        self._closed = False
        self._reserved: Counter[StreamZone] = Counter()  # blocks behind the last ones of appends under way
        self._encoding: set[int] = set()  # streams, in a shared batch
        if shared:
            oracle.state = self.before.copy()

    def __len__(self) -> int:
        return len(self.commands)

    @property
    def touched(self) -> dict[int, Port]:
        """Streams that commands reached, and whose they are (the first port's, of a shared batch)."""
        return self._owners

    @property
    def unprogrammed(self) -> frozenset[int]:
        """The same after the batch; a flush is of what was there before."""
        rights = self._scene.around.rights
        volatile = {nsid for nsid in self._appended if not rights[nsid].non_volatile}
        return frozenset(self._unprogrammed - self._flushed | volatile)

    def owner(self, nsid: int) -> Port | None:
        """The port that has the stream, if it matters."""
        return None if self.shared else self._owners.get(nsid)

    def is_free(self, start: int, end: int, owned: bool) -> bool:
        wanted = Range(start, end, owned)
        return not any(wanted.collides(other) for other in self._ranges)

    def begin_tail(self) -> None:
        self.tail = len(self.commands)
        self._reserved.clear()
        self._encoding.clear()

    def admit(self, command: FuzzCommand) -> bool:
        """Add `command`, if its answer stays predictable; whether it was added."""
        if self._closed or (command.port, command.cid) in self._names:
            return False
        payload = command.payload
        if payload is not None and not self.is_free(
            payload.address, payload.address + len(payload.content), owned=True
        ):
            return False
        answer = self._oracle.refusal(command.entry, command.port)
        if answer is None:
            print_ = footprint(command.entry, self._scene.around)
            if not self._has_one_answer(command, print_):
                return False
            self._take(command, print_)
        elif payload is not None:
            self._place(command)
        self._names.add((command.port, command.cid))
        self.commands.append(command)
        if answer is None:
            answer = self._oracle.answer(command.entry, self.image)
            if not self.shared and answer.status is Status.SUCCESS:
                self._note_reserved(command, answer)
        self.answers.append(answer)
        return True

    def _has_one_answer(self, command: FuzzCommand, touches: Footprint) -> bool:
        opcode = command.opcode
        if touches.end and not self.is_free(touches.start, touches.end, touches.writes):
            return False
        if self._ends_recovery(command):
            self._closed = self._may_end_recovery()
            return self._closed
        if self.shared:
            pinned = any(self._oracle.state.streams[nsid].pinned for nsid in touches.streams)
            return opcode in _SHARED and not pinned and self._may_share_encoded(command, touches)
        if any(self._owners.get(nsid, command.port) != command.port for nsid in touches.streams):
            return False
        if self._oracle.depends_on_reserved(command.entry, self._reserved):
            return False
        if opcode in _OF_STEPS and self._step_port not in (None, command.port):
            return False
        if opcode == Opcode.UPDATE:
            return touches.streams[1] not in self._unprogrammed | self._appended
        return True

    def _may_share_encoded(self, command: FuzzCommand, touches: Footprint) -> bool:
        """Whether no order of the ports makes the answers depend on what appends have reserved."""
        nsid = touches.streams[0]
        if not self._encodes(command):
            return nsid not in self._encoding
        zone = self._zone(command)
        written = self.before.streams[nsid].zones[zone.number].written
        end = written + self._reserved[zone] + self._bound(command)
        fits = end <= self._scene.around.config.geometry.zone_capacity
        return fits and (nsid in self._encoding or nsid not in self._owners)

    def _encodes(self, command: FuzzCommand) -> bool:
        rights = self._scene.around.rights[Submission.nsid.get(command.entry)]
        return command.opcode == Opcode.ZONE_APPEND and rights.encodes

    def _zone(self, command: FuzzCommand) -> StreamZone:
        config = self._scene.around.config
        return StreamZone(Submission.nsid.get(command.entry), zone_of(command.entry, config))

    def _bound(self, command: FuzzCommand) -> int:
        around = self._scene.around
        rights = around.rights[Submission.nsid.get(command.entry)]
        return reserved_blocks(command.entry, around.config, rights)

    def _note_reserved(self, command: FuzzCommand, answer: Answer) -> None:
        """After an append to a stream with a codec; a reset waits until all of its stream have completed."""
        s, c, entry = Submission, Completion, command.entry
        zone_reset = command.opcode == Opcode.ZONE_MANAGEMENT_SEND and s.action.get(entry) == ZoneAction.RESET
        if self._encodes(command):
            stored = c.stored.get(c.result.put(answer.effect.result))
            self._reserved[self._zone(command)] += self._bound(command) - stored
        elif zone_reset or command.opcode == Opcode.STREAM_RESET:
            for zone in [zone for zone in self._reserved if zone.nsid == s.nsid.get(entry)]:
                del self._reserved[zone]

    def _take(self, command: FuzzCommand, touches: Footprint) -> None:
        nsid, opcode = touches.streams[0], command.opcode
        for stream in touches.streams:
            self._owners.setdefault(stream, command.port)
        if self.shared and self._encodes(command):
            self._encoding.add(nsid)
            self._reserved[self._zone(command)] += self._bound(command)
        if touches.end:
            self._ranges.append(Range(touches.start, touches.end, touches.writes))
        if opcode in _OF_STEPS:
            self._step_port = command.port
        if opcode in _APPENDS or (
            opcode == Opcode.UPDATE and not self._scene.around.rights[nsid].non_volatile
        ):
            self._appended.add(nsid)
        if opcode == Opcode.FLUSH:
            self._flushed.add(nsid)
        if command.payload is not None:
            self._place(command)

    def _place(self, command: FuzzCommand) -> None:
        payload = command.payload
        assert payload is not None
        end = payload.address + len(payload.content)
        self._ranges.append(Range(payload.address, end, owned=False))
        self.image[payload.address : end] = np.frombuffer(payload.content, np.uint8)

    def _ends_recovery(self, command: FuzzCommand) -> bool:
        s = Submission
        restores = self._oracle.state.recovering and command.opcode == Opcode.RESTORE
        return restores and s.action.get(command.entry) == RestoreAction.END

    def _may_end_recovery(self) -> bool:
        """Alone, and when nothing was restored: tables that the flash does not bear out are a lie."""
        state = self._oracle.state
        written = any(zone.written for stream in state.streams.values() for zone in stream.zones)
        zones = self._scene.around.config.geometry.zones
        return not self.commands and not written and len(state.released) == zones
