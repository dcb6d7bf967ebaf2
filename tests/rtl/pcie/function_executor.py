"""Who executes the I/O commands of a function, in tests."""

import random
import struct
from typing import TYPE_CHECKING

from cocotb.triggers import RisingEdge

from flashtrain.nvme.pcie.memory import Span
from flashtrain.rtl.lib.axi import burst_layout, read_beat_layout
from flashtrain.rtl.pcie.layouts import HostWrite, IoCommand, Piece, QueueAnswer
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, unpack
from flashtrain.spec import Opcode, Status
from flashtrain.spec.pcie import REQUEST_BYTES, TlpSizes
from tests.rtl.pcie.host_memory import bytes_of, requests_of, rows_of

if TYPE_CHECKING:
    from tests.rtl.pcie.function_host import Bench

MOST_BYTES = bench_parameters()["most_bytes"]
TLP = TlpSizes(bench_parameters().get("port_bytes", TlpSizes.port_bytes))
WIDTH = TLP.port_bytes
COMMAND, PIECE, ANSWER = IoCommand(MOST_BYTES), Piece(), QueueAnswer()
BURST, READ_ROW, WRITE_ROW = burst_layout(64), read_beat_layout(8 * WIDTH), HostWrite(WIDTH)
OF_BLOCKS = (Opcode.WRITE, Opcode.READ, Opcode.ZONE_APPEND)
TO_HOST = (Opcode.READ, Opcode.ZONE_MANAGEMENT_RECEIVE)


def ends_of(address: int, length: int) -> list[tuple[int, int]]:
    """What is moved of a piece: all of a short one, and both ends of a long one."""
    if length <= 2 * REQUEST_BYTES:
        return [(address, length)]
    return [(address, REQUEST_BYTES), (address + length - REQUEST_BYTES, REQUEST_BYTES)]


class Executor:
    """Takes I/O commands, moves their data piece by piece, and answers them in any order."""

    def __init__(self, bench: "Bench"):
        self.bench, dut, busy = bench, bench.dut, bench.busy
        self.dut = dut
        self.commands, self.pieces = StreamSink(dut, "commands", busy), StreamSink(dut, "pieces", busy)
        self.done = StreamSource(dut, "done", busy)
        # The multiplexer wants beats of data to be taken at once.
        self.asks, self.beats = StreamSource(dut, "data_read__ar", busy), StreamSink(dut, "data_read__r")
        self.writes = StreamSource(dut, "data_write", busy)
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
                await self._put(begin + 4 * random.randrange(size // 4), 4)
        assert found == self.bench.spans.pop(key), "these are not the spans of the software"
        return Status.SUCCESS

    async def _get(self, address: int, length: int) -> None:
        for place, size in requests_of(address, length):
            at, count = len(self.beats.items), len(rows_of(place, bytes(size), WIDTH))
            self.asks.send(pack(BURST, address=place, length=size // 4 - 1))
            await self.beats.wait_for(at + count)
            found = [unpack(READ_ROW, bits) for bits in self.beats.items[at:]]
            data = bytes_of([row["data"] for row in found], place, size, WIDTH)
            assert data == self.bench.expected[place : place + size], f"other bytes at {place:#x}"
            assert [row["last"] for row in found] == [0] * (count - 1) + [1]
            assert not any(row["error"] for row in found)
            self.moved[False] += size

    async def _put(self, address: int, length: int) -> None:
        """A write that is taken is in front of all that are taken later."""
        for place, size in requests_of(address, length):
            data = random.randbytes(size)
            self.bench.expected[place : place + size] = data
            rows = rows_of(place, data, WIDTH)
            end = self.writes.sent + len(rows)
            for number, row in enumerate(rows, 1):
                item = {"address": place, "length": size // 4, "last": number == len(rows)}
                self.writes.send(pack(WRITE_ROW, data=row, **item))
            while self.writes.sent < end:
                await RisingEdge(self.dut.clk)
            self.moved[True] += size

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
