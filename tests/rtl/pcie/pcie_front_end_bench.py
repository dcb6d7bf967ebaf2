"""Function, translator, mover and queue pair before a model of the controller."""

import logging
import random
from collections import deque

import cocotb
from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteSlave, AxiMaster

from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.spec import Completion, Opcode, Port, Status, Submission
from flashtrain.spec.nvme import ZoneDescriptor, ZoneState
from flashtrain.spec.registers import (
    PortRegister,
    Register,
    State,
    cq_head_doorbell,
    port_register,
    sq_tail_doorbell,
)
from tests.rtl.controller.fms_config import BENCH_NODE
from tests.rtl.pcie.drive_host import Drive, G, use_drive
from tests.rtl.pcie.function_host import BLOCK_BYTES

COMMANDS = bench_parameters()["commands"]


class Controller:
    """The controller's pins: registers, the queue pair of port HOST, and zones of blocks."""

    def __init__(self, dut, busy: float):
        self.dut, self.busy = dut, busy
        self.data = AxiMaster(AxiBus.from_prefix(dut, "flash_data_"), dut.clk, dut.rst)
        self.queue = AxiMaster(AxiBus.from_prefix(dut, "flash_queue_"), dut.clk, dut.rst)
        self.bus = AxiLiteSlave(
            AxiLiteBus.from_prefix(dut, "flash_registers_"), dut.clk, dut.rst, target=self
        )
        for side in (self.data, self.queue, self.bus):
            side.write_if.log.setLevel(logging.ERROR)
            side.read_if.log.setLevel(logging.ERROR)
        self.registers: dict[int, int] = {}
        self.blocks: dict[tuple[int, int], bytes] = {}
        self.places: dict[tuple[int, int], int] = {}
        self.executing: deque[int] = deque()
        self.fetched = self.posted = 0

    # Registers.

    async def write(self, address: int, data: bytes, **_) -> None:
        assert len(data) == 4
        self.registers[address] = int.from_bytes(data, "little")

    async def read(self, address: int, length: int, **_) -> bytes:
        value = State.READY if address == Register.STATE else self.registers.get(address, 0)
        return int(value).to_bytes(length, "little")

    def port(self, register: PortRegister) -> int:
        return self.registers[port_register(Port.HOST, register)]

    # Commands.

    async def fetch(self) -> None:
        while True:
            await RisingEdge(self.dut.clk)
            tail = self.registers.get(sq_tail_doorbell(Port.HOST), 0)
            entries = self.registers.get(port_register(Port.HOST, PortRegister.SQ_SIZE), 0) + 1
            if self.fetched % entries == tail:
                continue
            address = self.port(PortRegister.SQ_BASE_LOW) + Submission.BYTES * (self.fetched % entries)
            self.fetched += 1
            raw = (await self.queue.read(address, Submission.BYTES, arid=0)).data
            self.executing.append(int.from_bytes(raw, "little"))

    async def execute(self) -> None:
        """One of those that do this at a time: commands pass one another."""
        while True:
            await RisingEdge(self.dut.clk)
            if not self.executing or random.random() > self.busy:
                continue
            raw = self.executing.popleft()
            status, result = await self._perform(raw)
            await self._complete(Submission.cid.get(raw), status, result)

    async def _complete(self, cid: int, status: int, result: int) -> None:
        entries, number = self.port(PortRegister.CQ_SIZE) + 1, self.posted
        self.posted += 1
        c = Completion
        raw = c.cid.put(cid) | c.status.put(status) | c.result.put(result)
        raw |= c.phase.put(1 - number // entries % 2)
        base = self.port(PortRegister.CQ_BASE_LOW)
        while (self.registers.get(cq_head_doorbell(Port.HOST), 0) - number - 1) % entries == 0 and number:
            await RisingEdge(self.dut.clk)
        await self.queue.write(base + c.BYTES * (number % entries), raw.to_bytes(c.BYTES, "little"), awid=0)

    async def _perform(self, raw: int) -> tuple[int, int]:
        s = Submission
        opcode, nsid, slba = Opcode(s.opcode.get(raw)), s.nsid.get(raw), s.slba.get(raw)
        zone, address = slba // G.zone_size, s.address.get(raw)
        length, place = s.length.get(raw), self.places.get((nsid, zone), 0)
        count = s.nlb.get(raw) + 1
        match opcode:
            case Opcode.WRITE | Opcode.ZONE_APPEND:
                # The place is taken before the data come, as the controller does.
                lba = zone * G.zone_size + place
                if opcode == Opcode.WRITE and slba != lba:
                    return Status.ZONE_INVALID_WRITE, 0
                self.places[nsid, zone] = place + count
                data = (await self.data.read(address, length, arid=0)).data
                for number in range(count):
                    self.blocks[nsid, lba + number] = data[BLOCK_BYTES * number : BLOCK_BYTES * (number + 1)]
                return Status.SUCCESS, lba
            case Opcode.READ:
                wanted = [(nsid, slba + number) for number in range(count)]
                if any(one not in self.blocks for one in wanted):
                    return Status.UNWRITTEN_BLOCK, 0
                # Pages come in the order of the flash.
                for number in random.sample(range(count), count):
                    await self.data.write(address + BLOCK_BYTES * number, self.blocks[wanted[number]], awid=0)
            case Opcode.ZONE_MANAGEMENT_SEND:
                self.places[nsid, zone] = 0
                for lba in range(zone * G.zone_size, (zone + 1) * G.zone_size):
                    self.blocks.pop((nsid, lba), None)
            case Opcode.ZONE_MANAGEMENT_RECEIVE:
                await self._report(nsid, zone, address, length)
        return Status.SUCCESS, random.getrandbits(64)

    async def _report(self, nsid: int, zone: int, address: int, length: int) -> None:
        d, zones = ZoneDescriptor, len(BENCH_NODE.zones(G.zones)[nsid])
        await self.queue.write(address, (zones - zone).to_bytes(d.BYTES, "little"), awid=0)
        for number in range(length // d.BYTES - 1):
            raw = d.state.put(ZoneState.IMPLICITLY_OPEN) | d.capacity.put(G.zone_capacity)
            raw |= d.start.put((zone + number) * G.zone_size) | d.time.put(random.getrandbits(32))
            await self.queue.write(address + d.BYTES * (number + 1), raw.to_bytes(d.BYTES, "little"), awid=0)


@cocotb.test()
@cocotb.parametrize((("busy", "latency"), [(0.8, 20), (1, 60)]))
async def a_host_has_its_data_back(dut, busy, latency):
    bench = Drive(dut, busy, latency)
    model = Controller(dut, busy)
    await bench.start()
    cocotb.start_soon(model.fetch())
    for _ in range(4):
        cocotb.start_soon(model.execute())
    await use_drive(bench, COMMANDS)
