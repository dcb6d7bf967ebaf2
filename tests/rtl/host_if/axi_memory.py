"""A memory behind AXI4 pins that checks its manager: offers are held, bursts whole and within 4 KiB."""

import random
from collections import deque
from dataclasses import dataclass, field

import cocotb
from cocotb.triggers import RisingEdge


class ProtocolError(AssertionError):
    """The manager broke a rule of AXI4."""


@dataclass
class Burst:
    """A burst under way: where, how many beats, and when its answer is due."""

    address: int
    beats: int
    due: int
    data: list[tuple[int, int]] = field(default_factory=list)  # of a write: data and strobes


class AxiMemory:
    """Answers in order, `latency` cycles after a burst (of a write: after its last beat) at the earliest.

    busy: the chance per clock to accept or to offer something. faults: addresses of bursts that are answered
    with an error; faulty_beats: of single beats that are read with one. reads: (clock, address) of each read
    burst; writes: each write burst, when it is complete.
    """

    def __init__(self, dut, prefix: str, data_bytes: int, size: int, latency: int = 0, busy: float = 1):
        self._dut = dut
        self._pins = {
            name: getattr(dut, f"{prefix}__{name}")
            for name in (
                "araddr arlen arsize arburst arvalid arready rdata rresp rlast rid rvalid rready "
                "awaddr awlen awsize awburst awvalid awready wdata wstrb wlast wvalid wready "
                "bresp bid bvalid bready"
            ).split()
        }
        self.data_bytes, self.latency, self.busy = data_bytes, latency, busy
        self.memory = bytearray(size)
        self.faults: set[int] = set()
        self.faulty_beats: set[int] = set()
        self.reads: list[tuple[int, int]] = []
        self.writes: list[Burst] = []
        self.clock = 0
        self._reading: deque[Burst] = deque()
        self._writing: deque[Burst] = deque()  # beats are still to come
        self._beats: deque[tuple[int, int, int]] = deque()  # came before their burst
        self._answering: deque[Burst] = deque()
        self._beat = 0  # of the first read burst
        self._offered: dict[str, tuple] = {}
        for name in ("arready", "rdata", "rresp", "rlast", "rid", "rvalid",
                     "awready", "wready", "bresp", "bid", "bvalid"):  # fmt: skip
            self._pins[name].value = 0
        cocotb.start_soon(self._run())

    @property
    def quiet(self) -> bool:
        """No burst is under way."""
        return not (self._reading or self._writing or self._beats or self._answering or self._offered)

    async def _run(self) -> None:
        drivers = (
            self._take_reads,
            self._give_beats,
            self._take_writes,
            self._take_beats,
            self._give_answers,
        )
        ready = {"ar": False, "aw": False, "w": False}
        offers = {"r": False, "b": False}
        while True:
            await RisingEdge(self._dut.clk)
            self.clock += 1
            if self._dut.rst.value == 1:
                continue
            for driver in drivers:
                driver(ready, offers)

    def _handed_over(self, channel: str, ready: dict[str, bool], fields: tuple[str, ...]) -> tuple | None:
        """The fields of an offer that was accepted in the last clock, if any."""
        taken = None
        if self._pins[f"{channel}valid"].value == 1:
            offer = tuple(int(self._pins[name].value) for name in fields)
            if self._offered.get(channel, offer) != offer:
                raise ProtocolError(f"{channel}: {offer} after {self._offered[channel]} was not yet taken")
            self._offered[channel] = offer
            if ready[channel]:
                taken = self._offered.pop(channel)
        elif channel in self._offered:
            raise ProtocolError(f"{channel}: an offer was withdrawn")
        ready[channel] = random.random() < self.busy
        self._pins[f"{channel}ready"].value = int(ready[channel])
        return taken

    def _burst(self, channel: str, address: int, length: int, size: int, kind: int) -> Burst:
        count = (length + 1) * self.data_bytes
        if 1 << size != self.data_bytes or kind != 1 or address % self.data_bytes:
            raise ProtocolError(f"{channel}: not an aligned INCR burst of full width at {address:#x}")
        if address // 4096 != (address + count - 1) // 4096:
            raise ProtocolError(f"{channel}: the burst at {address:#x} crosses 4 KiB")
        if address + count > len(self.memory):
            raise ProtocolError(f"{channel}: the burst at {address:#x} is not inside the memory")
        return Burst(address, length + 1, self.clock + self.latency)

    def _take_reads(self, ready, _offers) -> None:
        taken = self._handed_over("ar", ready, ("araddr", "arlen", "arsize", "arburst"))
        if taken:
            self._reading.append(self._burst("ar", *taken))
            self.reads.append((self.clock, taken[0]))

    def _give_beats(self, _ready, offers) -> None:
        if offers["r"] and self._pins["rready"].value == 1:
            offers["r"] = False
            self._beat += 1
            if self._beat == self._reading[0].beats:
                self._reading.popleft()
                self._beat = 0
        if not offers["r"]:
            due = self._reading and self._reading[0].due <= self.clock
            offers["r"] = bool(due) and random.random() < self.busy
            if offers["r"]:
                burst = self._reading[0]
                at = burst.address + self._beat * self.data_bytes
                word = self.memory[at : at + self.data_bytes]
                self._pins["rdata"].value = int.from_bytes(word, "little")
                self._pins["rlast"].value = int(self._beat == burst.beats - 1)
                fails = burst.address in self.faults or at in self.faulty_beats
                self._pins["rresp"].value = 2 if fails else 0
        self._pins["rvalid"].value = int(offers["r"])

    def _take_writes(self, ready, _offers) -> None:
        taken = self._handed_over("aw", ready, ("awaddr", "awlen", "awsize", "awburst"))
        if taken:
            self._writing.append(self._burst("aw", *taken))

    def _take_beats(self, ready, _offers) -> None:
        taken = self._handed_over("w", ready, ("wdata", "wstrb", "wlast"))
        if taken:
            self._beats.append(taken)
        while self._beats and self._writing:
            burst = self._writing[0]
            word, strobes, last = self._beats.popleft()
            burst.data.append((word, strobes))
            if last != (len(burst.data) == burst.beats):
                raise ProtocolError(f"w: last is {last} in beat {len(burst.data)} of {burst.beats}")
            if last:
                self._store(self._writing.popleft())

    def _store(self, burst: Burst) -> None:
        for number, (word, strobes) in enumerate(burst.data):
            for lane in range(self.data_bytes):
                if strobes >> lane & 1:
                    at = burst.address + number * self.data_bytes + lane
                    self.memory[at] = word >> 8 * lane & 0xFF
        burst.due = self.clock + self.latency
        self.writes.append(burst)
        self._answering.append(burst)

    def _give_answers(self, _ready, offers) -> None:
        if offers["b"] and self._pins["bready"].value == 1:
            offers["b"] = False
            self._answering.popleft()
        if not offers["b"]:
            due = self._answering and self._answering[0].due <= self.clock
            offers["b"] = bool(due) and random.random() < self.busy
            if offers["b"]:
                self._pins["bresp"].value = 2 if self._answering[0].address in self.faults else 0
        self._pins["bvalid"].value = int(offers["b"])
