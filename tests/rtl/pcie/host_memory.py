"""The host's memory behind the port of TLPs: takes requests, and completes reads as a root complex may."""

import random
from collections import deque
from dataclasses import dataclass, field

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.pcie.layouts import HALF_BYTES, TlpCompletion, TlpData, TlpRequest
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, unpack
from flashtrain.spec.pcie import REQUEST_BYTES, TlpSizes


def requests_of(address: int, length: int) -> list[tuple[int, int]]:
    """Address and bytes of the requests of these bytes."""
    found, end = [], address + length
    while address < end:
        stop = min(end, (address // REQUEST_BYTES + 1) * REQUEST_BYTES)
        found.append((address, stop - address))
        address = stop
    return found


def rows_of(address: int, data: bytes, port_bytes: int) -> list[int]:
    """The rows that have these bytes in their lanes; the other lanes have anything."""
    lane = address % port_bytes
    raw = random.randbytes(lane) + data
    raw += random.randbytes(-len(raw) % port_bytes)
    return [int.from_bytes(raw[at : at + port_bytes], "little") for at in range(0, len(raw), port_bytes)]


def bytes_of(rows: list[int], address: int, length: int, port_bytes: int) -> bytes:
    """The bytes of a request from its rows, of which there are no others."""
    lane = address % port_bytes
    assert len(rows) == -(-(lane + length) // port_bytes), (
        f"{len(rows)} rows of {length} bytes at {address:#x}"
    )
    raw = b"".join(row.to_bytes(port_bytes, "little") for row in rows)
    return raw[lane : lane + length]


@dataclass
class Read:
    """A read under way: where it is to go on, and up to where."""

    tag: int
    place: int
    end: int
    due: int
    fails: bool = field(default=False)


class TlpHost:
    """Bytes from address `base` on. `faults`: addresses of requests that are answered as unsupported.

    Addresses in requests, faults and `log` are counted from `base`.

    Completions of reads are split at 64 bytes and mixed at random, `latency` cycles after their request at
    the earliest. `spurious` is the chance of a beat for a tag that is not in use. `log` has each request, and
    `messages` each write of a dword; with `dwords` only those behind the memory.
    """

    def __init__(
        self, dut, size: int, tlp: TlpSizes, busy: float = 1, latency: int = 0, spurious: float = 0,
        dwords: bool = False, base: int = 0,
    ):  # fmt: skip
        self.dut, self.busy, self.latency, self.spurious = dut, busy, latency, spurious
        self.memory, self.dwords, self.base = bytearray(size), dwords, base
        self.tlp, self.tags = tlp, tlp.tags
        self.layout, self.completion, self.row = TlpRequest(tlp), TlpCompletion(tlp), TlpData(tlp)
        self.faults: set[int] = set()
        self.log: list[dict[str, int]] = []
        self.messages: list[tuple[int, int]] = []
        self.most_reading = 0
        self._requests = StreamSink(dut, "requests", busy)
        self._data = StreamSink(dut, "data", busy)
        self._completions = StreamSource(dut, "completions", busy, always_ready=True)
        self._writing: deque[dict[str, int]] = deque()
        self._beats: list[int] = []
        self._reading: dict[int, Read] = {}
        self._piece: Read | None = None
        self._clock = self._tag = 0
        cocotb.start_soon(self._run())

    @property
    def beat_cycles(self) -> list[int]:
        """When each beat of a write has come."""
        return self._data.cycles

    @property
    def quiet(self) -> bool:
        return not (self._writing or self._beats or self._reading)

    async def _run(self) -> None:
        while True:
            await RisingEdge(self.dut.clk)
            self._clock += 1
            for bits in self._requests.new_items():
                self._take(unpack(self.layout, bits))
            for bits in self._data.new_items():
                self._store(unpack(self.row, bits))
            if len(self._completions.items) < 3:
                self._complete()

    def _take(self, request: dict[str, int]) -> None:
        """Check a request as a root complex would, and keep it."""
        if self.base <= request["address"] < self.base + len(self.memory):
            request["address"] -= self.base
        address, length = request["address"], 4 * request["length"]
        assert address // REQUEST_BYTES == (address + length - 1) // REQUEST_BYTES, f"{request} is not whole"
        assert length > 0 and address % 4 == 0, request
        self.log.append(request)
        if request["write"]:
            self._writing.append(request)
            return
        assert request["tag"] not in self._reading, f"tag {request['tag']} is in use"
        self._tag = request["tag"]
        fails = address in self.faults or address + length > len(self.memory)
        due = self._clock + self.latency
        self._reading[request["tag"]] = Read(request["tag"], address, address + length, due, fails)
        self.most_reading = max(self.most_reading, len(self._reading))

    def _store(self, beat: dict[str, int]) -> None:
        self._beats.append(beat["data"])
        if not beat["last"]:
            return
        request, beats = self._writing.popleft(), self._beats
        self._beats = []
        length, address = 4 * request["length"], request["address"]
        data = bytes_of(beats, address, length, self.tlp.port_bytes)
        if length == 4 and not (self.dwords and address < len(self.memory)):
            self.messages.append((address, int.from_bytes(data, "little")))
        else:
            assert address + length <= len(self.memory), request
            self.memory[address : address + length] = data

    def _complete(self) -> None:
        """Send a beat: of the piece under way, or of any read."""
        # Requests take the tags in turn: half of them come into use late enough.
        unused = [
            tag
            for tag in ((self._tag - ago) % self.tags for ago in range(self.tags // 2))
            if tag not in self._reading
        ]
        if unused and random.random() < self.spurious:
            wrong = {"tag": random.choice(unused), "data": random.getrandbits(8 * self.tlp.port_bytes)}
            self._send(end=random.getrandbits(1), halves=3, **wrong)
            return
        if self._piece is None:
            due = [read for read in self._reading.values() if read.due <= self._clock]
            if not due:
                return
            self._piece = random.choice(due) if self.busy < 1 else due[0]
        read = self._piece
        if read.fails and random.random() < 0.5:
            read.end = read.place
        width = self.tlp.port_bytes
        grain = HALF_BYTES if width > HALF_BYTES and random.random() < 1 - self.busy else width
        stop = min(read.end, (read.place // grain + 1) * grain)
        ends = stop >= read.end
        lanes = range(read.place % width, read.place % width + stop - read.place)
        [row] = rows_of(read.place, bytes(self.memory[read.place : stop]), width) or [0]
        halves = sum(1 << half for half in range(2) if set(lanes) & set(range(64 * half, 64 * half + 64)))
        self._send(tag=read.tag, end=ends, failed=read.fails and ends, data=row, halves=halves)
        read.place = stop
        if ends:
            del self._reading[read.tag]
        if ends or read.place % HALF_BYTES == 0:
            self._piece = None

    def _send(self, halves: int, **item: int) -> None:
        if self.tlp.port_bytes > HALF_BYTES:
            item["halves"] = halves
        self._completions.send(pack(self.completion, **item))
