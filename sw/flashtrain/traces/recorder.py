"""The commands of a device as a block trace: a recorder around a Link.

The recorder reads the submission and completion entries in the tensor buffer, so it sees the commands of
every driver. Addresses are those of the whole device: block z * `Geometry.zone_size` begins logical zone z.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import CompletionEntry, Link, LinkFactory
from flashtrain.host.image import FlashImage
from flashtrain.host.queues.entries import parse_completion
from flashtrain.spec import Completion, FmsConfig, Opcode, Port, Submission, ZoneAction
from flashtrain.spec.nvme import GenerationAction
from flashtrain.spec.registers import (
    MAX_STREAMS,
    PortRegister,
    StreamRegister,
    cq_head_doorbell,
    port_register,
    sq_tail_doorbell,
    stream_register,
)

from .block_trace import SECTOR_BYTES, Operation, TraceRecord

_TAILS = {sq_tail_doorbell(port): port for port in Port}
_HEADS = {cq_head_doorbell(port): port for port in Port}
_ZONES = {stream_register(nsid, StreamRegister.ZONES): nsid for nsid in range(1, MAX_STREAMS + 1)}
_QUEUES = {port_register(port, register): (port, register) for port in Port for register in PortRegister}


class _Submitted(NamedTuple):
    number: int
    time: int
    entry: int


class TraceRecorder:
    """The Links that a factory makes, each with a record of its commands."""

    def __init__(self) -> None:
        self._links: list[RecordingLink] = []

    def around(self, factory: LinkFactory) -> LinkFactory:
        """A factory of the same Links, recorded."""

        def make(config: FmsConfig, memory_bytes: int) -> Link:
            self._links.append(RecordingLink(factory(config, memory_bytes)))
            return self._links[-1]

        return make

    def records(self) -> list[TraceRecord]:
        """The commands of all Links, in the order in which the Links were made."""
        return [record for link in self._links for record in link.records()]


class RecordingLink(Link):
    """`link` with a record of the commands that succeeded, in the order of their submission.

    - Appends and writes are writes, at the address that the device assigned. Flushes are flushes.
    - Resets of zones and streams are trims of the zones that were written.
    - An optimizer step on the dies is what a device without it would do: a read of the source and a write of
      the destination. A commit trims the source.
    - All other commands move no user data and are left out.
    """

    def __init__(self, link: Link) -> None:
        self._link = link
        self._registers: dict[int, int] = {}
        self._tails = dict.fromkeys(Port, 0)
        self._heads = dict.fromkeys(Port, 0)
        self._in_flight: dict[tuple[Port, int], _Submitted] = {}
        self._count = 0
        self._pinned: set[int] = set()
        self._written: set[int] = set()  # zones
        self._done: dict[int, list[TraceRecord]] = {}

    def records(self) -> list[TraceRecord]:
        """The trace so far."""
        return [record for number in sorted(self._done) for record in self._done[number]]

    # The Link.

    @property
    def config(self) -> FmsConfig:
        return self._link.config

    @property
    def memory(self) -> NDArray[np.uint8]:
        return self._link.memory

    @property
    def cycles(self) -> int:
        return self._link.cycles

    @property
    def seconds(self) -> int:
        return self._link.seconds

    @property
    def fine_seconds(self) -> float:
        return self._link.fine_seconds

    @property
    def timeless(self) -> bool:
        return self._link.timeless

    def adopt(self) -> None:
        super().adopt()
        self._link.adopt()

    def read_register(self, address: int) -> int:
        return self._link.read_register(address)

    def write_register(self, address: int, value: int) -> None:
        if address in _TAILS:
            self._submit(_TAILS[address], value)
        elif address in _HEADS:
            self._complete(_HEADS[address], value)
        elif address in _QUEUES:
            self._begin_queue(*_QUEUES[address], value)
        elif address in _ZONES:
            self._registers[address] = value
        self._link.write_register(address, value)

    def wait(self, max_cycles: int | None = None) -> bool:
        return self._link.wait(max_cycles)

    def run(self, cycles: int) -> None:
        self._link.run(cycles)

    def power_cycle(self) -> None:
        self._link.power_cycle()

    @property
    def image(self) -> FlashImage | None:
        return self._link.image

    def use_image(self, image: FlashImage) -> None:
        self._link.use_image(image)

    def close(self) -> None:
        self._link.close()

    # Entries.

    def _begin_queue(self, port: Port, register: PortRegister, value: int) -> None:
        self._registers[port_register(port, register)] = value
        self._tails[port] = self._heads[port] = 0
        self._in_flight = {key: each for key, each in self._in_flight.items() if key[0] is not port}

    def _submit(self, port: Port, tail: int) -> None:
        time = self.cycles * 1000 // self.config.timing.clock_mhz
        low, high, size = PortRegister.SQ_BASE_LOW, PortRegister.SQ_BASE_HIGH, PortRegister.SQ_SIZE
        for raw in self._entries(port, low, high, size, self._tails[port], tail, Submission.BYTES):
            entry = int.from_bytes(raw, "little")
            self._in_flight[port, Submission.cid.get(entry)] = _Submitted(self._count, time, entry)
            self._count += 1
        self._tails[port] = tail

    def _complete(self, port: Port, head: int) -> None:
        low, high, size = PortRegister.CQ_BASE_LOW, PortRegister.CQ_BASE_HIGH, PortRegister.CQ_SIZE
        for raw in self._entries(port, low, high, size, self._heads[port], head, Completion.BYTES):
            answer = parse_completion(raw)
            submitted = self._in_flight.pop((port, answer.cid), None)
            if submitted is not None and answer.ok:
                self._done[submitted.number] = list(self._records_of(submitted, answer))
        self._heads[port] = head

    def _entries(
        self, port: Port, low: PortRegister, high: PortRegister, size: PortRegister, begin: int, end: int,
        length: int,
    ) -> Iterator[bytes]:  # fmt: skip
        """The entries of a queue from index `begin` to before `end`, which may have wrapped."""
        registers = [self._registers[port_register(port, register)] for register in (low, high, size)]
        base, entries = registers[0] | registers[1] << 32, registers[2] + 1
        while begin != end:
            yield self.memory[base + begin * length : base + (begin + 1) * length].tobytes()
            begin = (begin + 1) % entries

    # Commands.

    def _records_of(self, submitted: _Submitted, answer: CompletionEntry) -> Iterator[TraceRecord]:
        s, entry, time = Submission, submitted.entry, submitted.time
        nsid, slba, blocks = s.nsid.get(entry), s.slba.get(entry), s.nlb.get(entry) + 1
        match s.opcode.get(entry):
            case Opcode.READ:
                yield self._record(time, Operation.READ, nsid, slba, blocks)
            case Opcode.WRITE:
                yield self._write(time, nsid, slba, blocks)
            case Opcode.ZONE_APPEND:
                yield self._write(time, nsid, answer.result, blocks)
            case Opcode.FLUSH:
                yield TraceRecord(time, 0, 0, Operation.FLUSH)
            case Opcode.STREAM_RESET:
                yield from self._trim(time, self._zones(nsid))
            case Opcode.ZONE_MANAGEMENT_SEND if s.action.get(entry) == ZoneAction.RESET:
                zones = self._zones(nsid)
                zone = zones.start + slba // self.config.geometry.zone_size
                yield from self._trim(time, zones if s.select_all.get(entry) else range(zone, zone + 1))
            case Opcode.UPDATE:
                g = self.config.geometry
                tiles = s.rows.get(entry) * g.channels * g.planes
                zone, offset = divmod(answer.result, g.zone_size)
                source = zone * g.zone_size + s.source_page.get(entry) * g.superpage + offset % g.superpage
                yield self._record(time, Operation.READ, s.source.get(entry), source, tiles)
                yield self._write(time, nsid, answer.result, tiles)
            case Opcode.GENERATION:
                yield from self._generation(time, s.action.get(entry), nsid, s.source.get(entry))

    def _generation(self, time: int, action: int, nsid: int, source: int) -> Iterator[TraceRecord]:
        if action == GenerationAction.PIN:
            self._pinned.add(nsid)
        elif action == GenerationAction.RELEASE:
            self._pinned.discard(nsid)
        elif action == GenerationAction.COMMIT and source not in self._pinned:
            yield from self._trim(time, self._zones(source))

    def _zones(self, nsid: int) -> range:
        value = self._registers[stream_register(nsid, StreamRegister.ZONES)]
        first = value & 0xFFFF
        return range(first, first + (value >> 16))

    def _write(self, time: int, nsid: int, lba: int, blocks: int) -> TraceRecord:
        self._written.add(self._zones(nsid).start + lba // self.config.geometry.zone_size)
        return self._record(time, Operation.WRITE, nsid, lba, blocks)

    def _trim(self, time: int, zones: range) -> Iterator[TraceRecord]:
        g = self.config.geometry
        for zone in zones:
            if zone in self._written:
                self._written.remove(zone)
                per_block = g.page_bytes // SECTOR_BYTES
                first = zone * g.zone_size * per_block
                yield TraceRecord(time, first, g.zone_size * per_block, Operation.TRIM)

    def _record(self, time: int, op: Operation, nsid: int, lba: int, blocks: int) -> TraceRecord:
        g = self.config.geometry
        per_block = g.page_bytes // SECTOR_BYTES
        block = self._zones(nsid).start * g.zone_size + lba
        return TraceRecord(time, block * per_block, blocks * per_block, op)
