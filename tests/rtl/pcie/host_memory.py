"""The host's memory behind the port of TLPs: takes requests, and completes reads as a root complex may."""

import random
from collections import deque
from dataclasses import dataclass, field

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.pcie.layouts import PORT_BYTES, TlpCompletion, TlpData, TlpRequest
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, unpack

BOUNDARY = 64
"""Read Completion Boundary: a completion ends at a multiple of it, or with its request."""

COMPLETION, DATA = TlpCompletion(16), TlpData()


@dataclass
class Read:
    """A read under way: where it is to go on, and up to where."""

    tag: int
    place: int
    end: int
    due: int
    fails: bool = field(default=False)


class TlpHost:
    """Bytes from address 0 on. `faults`: addresses of requests that are answered as unsupported.

    Completions of reads are split at `BOUNDARY` and mixed at random, `latency` cycles after their request at
    the earliest. `spurious` is the chance of a beat for a tag that is not in use. `log` has each request, and
    `messages` each write of a dword; with `dwords` only those behind the memory.
    """

    def __init__(
        self, dut, size: int, tags: int, busy: float = 1, latency: int = 0, spurious: float = 0,
        dwords: bool = False,
    ):  # fmt: skip
        self.dut, self.busy, self.latency, self.spurious = dut, busy, latency, spurious
        self.memory, self.dwords = bytearray(size), dwords
        self.layout, self.tags = TlpRequest(tags), tags
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
        self._clock = self._seen = self._taken = self._tag = 0
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
            for bits in self._requests.items[self._seen :]:
                self._seen += 1
                self._take(unpack(self.layout, bits))
            for bits in self._data.items[self._taken :]:
                self._taken += 1
                self._store(unpack(DATA, bits))
            if len(self._completions.items) < 3:
                self._complete()

    def _take(self, request: dict[str, int]) -> None:
        """Check a request as a root complex would, and keep it."""
        address, length = request["address"], 4 * request["length"]
        assert address // 4096 == (address + length - 1) // 4096, f"{request} crosses 4 KiB"
        assert 0 < length <= 128 and address % 4 == 0, request
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
        assert len(beats) == -(-length // PORT_BYTES), f"{len(beats)} beats of {request}"
        data = b"".join(word.to_bytes(PORT_BYTES, "little") for word in beats)[:length]
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
            wrong = {"tag": random.choice(unused), "data": random.getrandbits(64)}
            self._completions.send(pack(COMPLETION, end=random.getrandbits(1), **wrong))
            return
        if self._piece is None:
            due = [read for read in self._reading.values() if read.due <= self._clock]
            if not due:
                return
            self._piece = random.choice(due) if self.busy < 1 else due[0]
        read = self._piece
        if read.fails and random.random() < 0.5:
            read.end = read.place
        ends = read.place + PORT_BYTES >= read.end
        failed = read.fails and ends
        word = self.memory[read.place : read.place + PORT_BYTES]
        item = {"tag": read.tag, "end": ends, "failed": failed, "data": int.from_bytes(word, "little")}
        self._completions.send(pack(COMPLETION, **item))
        read.place += PORT_BYTES
        if ends:
            del self._reading[read.tag]
        if ends or read.place % BOUNDARY == 0:
            self._piece = None
