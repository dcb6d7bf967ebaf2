"""Carries out commands on the streams' content."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.spec import FmsConfig, Opcode, Port, Status, ZoneAction, ZoneState
from flashtrain.spec.registers import Counter

from .checks import Checker
from .report import zone_report
from .request import Request, parse
from .storage import Storage
from .streams import StreamSettings
from .zones import StreamZones, Zone


class Answer(NamedTuple):
    """What the completion says."""

    cid: int
    status: Status
    result: int


class StreamContent:
    """One stream: its zones, their data, and how often it was reset."""

    def __init__(self, config: FmsConfig, zones: int) -> None:
        self.zones = StreamZones(config, zones)
        self.storage = Storage(config.geometry.page_bytes)
        self.generation = 0

    def drop_empty(self) -> None:
        """Forget the data of zones that were reset."""
        for index, zone in enumerate(self.zones.zones):
            if not zone.written:
                self.storage.drop(index)


class Executor:
    """All streams, from when the controller is enabled: empty. `counters` has those that need no time."""

    def __init__(
        self,
        config: FmsConfig,
        streams: dict[int, StreamSettings],
        memory: NDArray[np.uint8],
        memory_bytes: int,
    ) -> None:
        self._config = config
        self._memory = memory
        self._checker = Checker(config, streams, memory_bytes)
        self._contents = {nsid: StreamContent(config, stream.zones) for nsid, stream in streams.items()}
        self.counters = dict.fromkeys(Counter, 0)

    def generation(self, nsid: int) -> int:
        return self._contents[nsid].generation if nsid in self._contents else 0

    def zones(self, nsid: int) -> tuple[Zone, ...]:
        """The zones of a valid stream, in their order."""
        return tuple(self._contents[nsid].zones.zones)

    def answer(self, port: Port, raw: bytes) -> Answer:
        """Check a 64-byte entry, and do what it asks for."""
        request = parse(raw)
        status, result = self._checker.status(port, request), 0
        if status is Status.SUCCESS:
            status, result = self._execute(request, self._contents[request.nsid])
        self.counters[Counter.COMMANDS] += 1
        self.counters[Counter.ERRORS] += status is not Status.SUCCESS
        return Answer(request.cid, status, result)

    def _execute(self, request: Request, content: StreamContent) -> tuple[Status, int]:
        index, offset = divmod(request.slba, self._config.geometry.zone_size)
        match request.opcode:
            case Opcode.ZONE_APPEND:
                return self._append(request, content, index, None)
            case Opcode.WRITE:
                return self._append(request, content, index, offset)
            case Opcode.READ:
                return self._read(request, content, index, offset), 0
            case Opcode.ZONE_MANAGEMENT_SEND:
                return self._manage(request, content, index), 0
            case Opcode.ZONE_MANAGEMENT_RECEIVE:
                return self._report(request, content, index), 0
            case Opcode.ZONE_RETIRE:
                return content.zones.retire(index, ZoneState(request.action)), 0
            case Opcode.STREAM_RESET:
                return self._reset(content), 0
        return Status.SUCCESS, 0  # a flush: everything is where it belongs

    def _append(
        self, request: Request, content: StreamContent, index: int, offset: int | None
    ) -> tuple[Status, int]:
        pointer = content.zones.zones[index].written
        if status := content.zones.append(index, offset, request.blocks):
            return status, 0
        content.storage.append(index, self._data(request))
        self.counters[Counter.PAGES_APPENDED] += request.blocks
        self.counters[Counter.APPENDS] += 1
        appended = request.opcode == Opcode.ZONE_APPEND
        return Status.SUCCESS, index * self._config.geometry.zone_size + pointer if appended else 0

    def _read(self, request: Request, content: StreamContent, index: int, offset: int) -> Status:
        if status := content.zones.read(index, offset, request.blocks):
            return status
        self._data(request)[:] = content.storage.read(index, offset, request.blocks)
        self.counters[Counter.PAGES_READ] += request.blocks
        self.counters[Counter.READS] += 1
        return Status.SUCCESS

    def _manage(self, request: Request, content: StreamContent, index: int) -> Status:
        action = ZoneAction(request.action)
        if request.select_all:
            status = content.zones.manage_all(action)
            content.generation += action is ZoneAction.RESET
        else:
            status = content.zones.manage(index, action)
        content.drop_empty()
        return status

    def _reset(self, content: StreamContent) -> Status:
        content.zones.manage_all(ZoneAction.RESET)
        content.drop_empty()
        content.generation += 1
        return Status.SUCCESS

    def _report(self, request: Request, content: StreamContent, first: int) -> Status:
        report = zone_report(
            content.zones.zones, first, request.report_bytes, request.partial, self._config.geometry
        )
        self._memory[request.address : request.address + len(report)] = np.frombuffer(report, np.uint8)
        return Status.SUCCESS

    def _data(self, request: Request) -> NDArray[np.uint8]:
        return self._memory[request.address : request.address + request.length]
