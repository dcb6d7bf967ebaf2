"""Gives a device streams whose content was appended with another codec, by a recovery."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import NamedTuple

import numpy as np

from flashtrain.host.queues.entries import raw_entry
from flashtrain.spec import Access, Completion, Opcode, Port, Status, Submission, ZoneState
from flashtrain.spec.identity import PageIdentity, RestoreAction, is_identity
from flashtrain.spec.registers import Control, StreamRegister, stream_register

from .command import FuzzCommand
from .disagreement import Disagreement
from .oracle import DeviceState, Encoded, ZoneEntry
from .oracle.coded import encoded, read_back
from .planted import PlantedZone
from .scene import Scene
from .subject import Manner, Subject

_BOTH = Access.READ | Access.APPEND


class _Owner(NamedTuple):
    """The logical zone that a physical one belongs to, counted device-wide, by the identity of a page."""

    nsid: int
    zone: int
    sequence: int


class Recoding:
    """Appends `planted` to a device with the codecs of then, and recovers it with those of the scene."""

    def __init__(self, scene: Scene, planted: Sequence[PlantedZone]) -> None:
        self._scene = scene
        self._planted = planted
        self._config = scene.around.config
        page = self._config.geometry.page_bytes
        self._address = -(-scene.queues_end // page) * page
        self._names = count()

    def perform(self, subject: Subject, now: int) -> None:
        """The device is disabled, and afterwards recovered, at time `now`."""
        for zone in self._planted:
            rights = self._scene.around.rights[zone.nsid]
            before = replace(rights, host=_BOTH, core=_BOTH, non_volatile=True, codec=zone.codec)
            register = stream_register(zone.nsid, StreamRegister.ATTRIBUTES)
            subject.link.write_register(register, before.attributes)
        subject.enable(Control(0))
        for zone in self._planted:
            self._append(subject, zone)
        subject.await_idle()  # all blocks are erased, so that only these have an identity
        subject.disable()
        subject.configure()
        subject.enable(Control.RECOVER)
        owners = self._owners(subject)
        for zone in self._planted:
            self._restore(subject, zone, owners, now)
        for physical in set(range(self._config.geometry.zones)) - owners.keys():
            self._do(subject, Opcode.RESTORE, action=RestoreAction.PHYSICAL, physical=physical)
        sequence = 1 + max((owner.sequence for owner in owners.values()), default=0)
        self._do(subject, Opcode.RESTORE, action=RestoreAction.END, sequence=sequence)

    def apply(self, state: DeviceState) -> None:
        """The same to the state of a device that has just been enabled."""
        for zone in self._planted:
            state.streams[zone.nsid].zones[zone.zone] = self._entry(zone, state.now)

    def _entry(self, zone: PlantedZone, now: int) -> ZoneEntry:
        entry, size = ZoneEntry(since=now), self._config.geometry.page_bytes
        for data, length in zip(zone.appends, zone.lengths, strict=True):
            if zone.codec:
                pages = encoded(data, zone.codec, size)
                entry.encoded[entry.written] = Encoded(zone.codec, len(pages), read_back(data, zone.codec))
            else:
                pages = tuple(data[start : start + size] for start in range(0, len(data), size))
                codec = self._scene.around.rights[zone.nsid].codec
                entry.resembling[entry.written] = Encoded(codec, len(pages), bytes(length * size))
            entry.pages += pages
        entry.state = self._state(zone, entry)
        return entry

    def _state(self, zone: PlantedZone, entry: ZoneEntry) -> ZoneState:
        full = zone.full or entry.written == self._config.geometry.zone_capacity
        return ZoneState.FULL if full else ZoneState.CLOSED

    def _append(self, subject: Subject, zone: PlantedZone) -> None:
        size, written = self._config.geometry.page_bytes, 0
        start = zone.zone * self._config.geometry.zone_size
        for data in zone.appends:
            subject.link.memory[self._address : self._address + len(data)] = np.frombuffer(data, np.uint8)
            result = self._do(
                subject, Opcode.ZONE_APPEND, zone.nsid, slba=start, nlb=len(data) // size - 1,
                psdt=Submission.PSDT_SGL, address=self._address, length=len(data),
            )  # fmt: skip
            stored = len(encoded(data, zone.codec, size)) if zone.codec else len(data) // size
            c, right = Completion, start + written
            if zone.codec:
                right |= stored << c.stored.low - c.result.low
            if result != right:
                raise Disagreement(f"{subject.name}: result {result:#x} of an append; expected {right:#x}")
            written += stored

    def _owners(self, subject: Subject) -> dict[int, _Owner]:
        """Owners by physical zone."""
        g, p, found = self._config.geometry, PageIdentity, {}
        for physical in range(g.zones):
            self._do(
                subject, Opcode.INSPECT, slba=physical * g.zone_size, psdt=Submission.PSDT_SGL,
                address=self._address, length=g.page_bytes,
            )  # fmt: skip
            end = self._address + g.page_bytes
            record = subject.link.memory[end - p.BYTES : end].tobytes()
            value = int.from_bytes(record, "little")
            if is_identity(record):
                nsid, zone = 1 + p.stream.get(value), p.zone.get(value)
                found[physical] = _Owner(nsid, zone, p.sequence.get(value))
        return found

    def _restore(self, subject: Subject, zone: PlantedZone, owners: dict[int, _Owner], now: int) -> None:
        g, number = self._config.geometry, self._scene.first_zones[zone.nsid] + zone.zone
        entry = self._entry(zone, now)
        own = [physical for physical, owner in owners.items() if owner[:2] == (zone.nsid, number)]
        if len(own) != 1:
            raise Disagreement(
                f"{subject.name}: physical zones {own} are zone {number} of stream {zone.nsid}; expected one"
            )
        self._do(
            subject, Opcode.RESTORE, zone.nsid, slba=zone.zone * g.zone_size + entry.written,
            action=RestoreAction.ZONE, restored_state=entry.state, physical=own[0],
            sequence=owners[own[0]].sequence, time=now,
        )  # fmt: skip

    def _do(self, subject: Subject, opcode: Opcode, nsid: int | None = None, **fields: int) -> int:
        """A command that has to succeed; its result."""
        nsid = nsid or min(self._scene.around.rights)
        cid = next(self._names) % (1 << 16)
        entry = int.from_bytes(raw_entry(opcode=opcode, nsid=nsid, cid=cid, **fields), "little")
        command = FuzzCommand(Port.HOST, entry, "scripted")
        answer = subject.submit([command], Manner())[Port.HOST, cid]
        if answer.status != Status.SUCCESS:
            raise Disagreement(f"{subject.name}: {command}\n  answered {answer}; expected SUCCESS")
        return answer.result
