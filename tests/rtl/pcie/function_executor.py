"""Who executes the I/O commands of a function, in tests."""

import random
import struct
from typing import TYPE_CHECKING

from cocotb.triggers import RisingEdge

from flashtrain.nvme.pcie.memory import Span
from flashtrain.rtl.lib.axi import burst_layout, read_beat_layout, write_beat_layout
from flashtrain.rtl.pcie.layouts import BURST_BEATS, PORT_BYTES, IoCommand, Message, Piece, QueueAnswer
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, unpack
from flashtrain.spec import Opcode, Status

if TYPE_CHECKING:
    from tests.rtl.pcie.function_host import Bench

BURST_BYTES = BURST_BEATS * PORT_BYTES
MOST_BYTES = bench_parameters()["most_bytes"]
COMMAND, PIECE, ANSWER, MESSAGE = IoCommand(MOST_BYTES), Piece(), QueueAnswer(), Message()
BURST, READ_BEAT, WRITE_BEAT = burst_layout(64), read_beat_layout(64), write_beat_layout(64)
OF_BLOCKS = (Opcode.WRITE, Opcode.READ, Opcode.ZONE_APPEND)
TO_HOST = (Opcode.READ, Opcode.ZONE_MANAGEMENT_RECEIVE)


def bursts(address: int, length: int) -> list[tuple[int, int]]:
    """Address and beats of the bursts that hold these bytes, within 128 bytes each."""
    found, end = [], -(-(address + length) // PORT_BYTES) * PORT_BYTES
    place = address // PORT_BYTES * PORT_BYTES
    while place < end:
        stop = min(end, (place // BURST_BYTES + 1) * BURST_BYTES)
        found.append((place, (stop - place) // PORT_BYTES))
        place = stop
    return found


def ends_of(address: int, length: int) -> list[tuple[int, int]]:
    """What is moved of a piece: all of a short one, and both ends of a long one."""
    if length <= 2 * BURST_BYTES:
        return [(address, length)]
    return [(address, BURST_BYTES), (address + length - BURST_BYTES, BURST_BYTES)]


class Executor:
    """Takes I/O commands, moves their data piece by piece, and answers them in any order."""

    def __init__(self, bench: "Bench"):
        self.bench, dut, busy = bench, bench.dut, bench.busy
        self.dut = dut
        self.commands, self.pieces = StreamSink(dut, "commands", busy), StreamSink(dut, "pieces", busy)
        self.done = StreamSource(dut, "done", busy)
        # The multiplexer wants beats of data to be taken at once.
        self.asks, self.beats = StreamSource(dut, "data_read__ar", busy), StreamSink(dut, "data_read__r")
        self.writes, self.words = (
            StreamSource(dut, "data_write__aw"),
            StreamSource(dut, "data_write__w", busy),
        )
        self.wrote = StreamSink(dut, "data_write__b", busy)
        self.dwords = StreamSource(dut, "dwords", busy)
        self.waiting: list[tuple[int, int, int]] = []
        self.held = False
        self.seen = self.pieces_seen = self.clock = 0
        self.moved = {False: 0, True: 0}

    @property
    def under_way(self) -> int:
        return len(self.commands.items) - self.seen + len(self.waiting)

    async def run(self) -> None:
        while True:
            await RisingEdge(self.dut.clk)
            if len(self.commands.items) > self.seen:
                await self._execute(unpack(COMMAND, self.commands.items[self.seen]))
                self.seen += 1

    async def _execute(self, item: dict[str, int]) -> None:
        raw = item["bytes"].to_bytes(64, "little")
        opcode, flags, cid = struct.unpack_from("<BBH", raw)
        assert self.bench.open.get((item["queue"], cid)) == raw, f"queue {item['queue']} has no such command"
        count = int.from_bytes(raw[48:52], "little") + 1
        assert item["length"] == self.bench.length_of(opcode, flags, count)
        status: int = Status.SUCCESS
        if item["length"]:
            status = await self._move(opcode in TO_HOST, (item["queue"], cid))
        elif opcode in (*OF_BLOCKS, Opcode.ZONE_MANAGEMENT_RECEIVE):
            status = Status.INVALID_FIELD
        self.waiting.append((item["queue"], cid, status))

    async def _move(self, to_host: bool, key: tuple[int, int]) -> int:
        """Bytes of all pieces, of long ones both ends; the status of the data pointer."""
        found: list[Span] = []
        last = False
        while not last:
            while len(self.pieces.items) <= self.pieces_seen:
                await RisingEdge(self.dut.clk)
            piece = unpack(PIECE, self.pieces.items[self.pieces_seen])
            self.pieces_seen += 1
            if piece["status"]:
                assert piece["last"] and not found
                assert piece["status"] == self.bench.expected_status[key], "the software has another status"
                return piece["status"]
            last = bool(piece["last"])
            begin, size = piece["address"], piece["length"]
            if found and found[-1].address + found[-1].length == begin:
                found[-1] = Span(found[-1].address, found[-1].length + size)
            else:
                found.append(Span(begin, size))
            for address, length in ends_of(begin, size):
                await (self._put(address, length) if to_host else self._get(address, length))
            if to_host and random.random() < 0.5:
                await self._put_dword(begin + 4 * random.randrange(size // 4))
        assert found == self.bench.spans.pop(key), "these are not the spans of the software"
        return Status.SUCCESS

    async def _get(self, address: int, length: int) -> None:
        for place, beats in bursts(address, length):
            at = len(self.beats.items)
            self.asks.send(pack(BURST, address=place, length=beats - 1))
            await self.beats.wait_for(at + beats)
            found = [unpack(READ_BEAT, bits) for bits in self.beats.items[at:]]
            data = b"".join(beat["data"].to_bytes(PORT_BYTES, "little") for beat in found)
            assert data == self.bench.expected[place : place + len(data)], f"other bytes at {place:#x}"
            assert [beat["last"] for beat in found] == [0] * (beats - 1) + [1]
            assert not any(beat["error"] for beat in found)
            self.moved[False] += len(data)

    async def _put(self, address: int, length: int) -> None:
        for place, beats in bursts(address, length):
            data, answered = random.randbytes(beats * PORT_BYTES), len(self.wrote.items)
            self.bench.expected[place : place + len(data)] = data
            self.writes.send(pack(BURST, address=place, length=beats - 1))
            for number in range(beats):
                word = int.from_bytes(data[number * PORT_BYTES :][:PORT_BYTES], "little")
                self.words.send(pack(WRITE_BEAT, data=word, last=number == beats - 1))
            await self.wrote.wait_for(answered + 1)
            self.moved[True] += len(data)

    async def _put_dword(self, address: int) -> None:
        """A dword that is taken has left: what is answered afterwards is behind it."""
        value, sent = random.getrandbits(32), self.dwords.sent
        self.bench.expected[address : address + 4] = value.to_bytes(4, "little")
        self.dwords.send(pack(MESSAGE, address=address, data=value))
        while self.dwords.sent == sent:
            await RisingEdge(self.dut.clk)

    async def answer(self) -> None:
        while True:
            await RisingEdge(self.dut.clk)
            self.clock += 1
            if self.waiting and not self.held and random.random() < self.bench.busy:
                item = random.choice(self.waiting) if self.bench.busy < 1 else self.waiting[0]
                self.waiting.remove(item)
                queue, cid, status = item
                result = random.getrandbits(64)
                self.bench.results[queue, cid] = status, result
                self.done.send(pack(ANSWER, queue=queue, cid=cid, status=status, result=result))
