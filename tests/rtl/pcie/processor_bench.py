"""A host of a drive whose firmware runs on a core of RISC-V: Identify, queues, and data that come back."""

import struct

import cocotb
from cocotb.triggers import ClockCycles

from flashtrain.nvme.subsystem.identify import Identify, Structure
from flashtrain.nvme.subsystem.namespaces import namespaces_of, transfer_exponent
from flashtrain.nvme.subsystem.profile import PCIE
from flashtrain.nvme.subsystem.settings import SubsystemSettings
from flashtrain.nvme.wire.commands import AdminOpcode, Entry
from flashtrain.rtl.pcie.layouts import Access
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start
from flashtrain.spec import Opcode
from flashtrain.spec.pcie import DOORBELLS, Configuration, Property, Ready, TlpSizes
from tests.nvme.pcie.root_complex import entry
from tests.rtl.controller.fms_config import BENCH_NODE, CONFIGS
from tests.rtl.pcie.host_memory import TlpHost
from tests.rtl.pcie.processor_system import SERIAL

PARAMETERS = bench_parameters()
CONFIG = CONFIGS[PARAMETERS["config"]]
ADMIN_SQ, ADMIN_CQ, SQ, CQ, DATA, MEMORY_BYTES = 0x1000, 0x2000, 0x3000, 0x4000, 0x8000, 1 << 17
ENTRIES = 16
ENABLED = (
    Configuration.enable.put(1)
    | Configuration.submission_exponent.put(6)
    | Configuration.completion_exponent.put(4)
)
MOST_CYCLES = 4_000_000


class Host:
    """Registers and queues of the drive, of 16 entries each."""

    def __init__(self, dut):
        self.dut, self._access = dut, Access()
        self.accesses, self.answers = StreamSource(dut, "accesses"), StreamSink(dut, "answers")
        self.host = TlpHost(dut, MEMORY_BYTES, TlpSizes.of(CONFIG), dwords=True)
        self.memory, self._tails = self.host.memory, {0: 0, 1: 0}
        self.cycles = 0

    def write(self, offset: int, value: int) -> None:
        self.accesses.send(pack(self._access, write=1, offset=offset // 4, data=value))

    async def read(self, offset: int) -> int:
        self.accesses.send(pack(self._access, offset=offset // 4))
        return (await self.answers.wait_for(len(self.answers.items) + 1))[-1]

    async def wait(self, step: int = 200) -> None:
        await ClockCycles(self.dut.clk, step)
        self.cycles += step
        assert self.dut.trap.value == 0, f"the core has stopped within {self.cycles} cycles"
        assert self.cycles < MOST_CYCLES, "no answer"

    async def enable(self) -> None:
        self.write(Property.ADMIN_SIZES, (ENTRIES - 1) << 16 | ENTRIES - 1)
        for register, base in (
            (Property.ADMIN_SUBMISSIONS, ADMIN_SQ),
            (Property.ADMIN_COMPLETIONS, ADMIN_CQ),
        ):
            self.write(register, base)
            self.write(register + 4, 0)
        self.write(Property.CONFIGURATION, ENABLED)
        while await self.read(Property.STATUS) != Ready.READY:
            await self.wait()

    async def execute(self, queue: int, raw: bytes) -> tuple[int, int, int]:
        """Result and status of a command, and its cycles."""
        place, begun = self._tails[queue], self.cycles
        submissions, completions = (SQ, CQ) if queue else (ADMIN_SQ, ADMIN_CQ)
        self.memory[submissions + 64 * place : submissions + 64 * place + 64] = raw
        self._tails[queue] += 1
        self.write(DOORBELLS + 8 * queue, self._tails[queue])
        while not self.memory[completions + 16 * place + 14] & 1:
            await self.wait()
        result, status = struct.unpack_from("<Q6xH", self.memory, completions + 16 * place)
        return result, status >> 1, self.cycles - begun


@cocotb.test()
async def a_core_boots_and_answers(dut):
    host = Host(dut)
    await start(dut, within=2 * MOST_CYCLES, enable_vectors=0, mask_vectors=0, fault=0)
    await host.enable()
    sizes = {name: PARAMETERS[name] for name in ("queues", "entries")}
    namespaces = namespaces_of(CONFIG, BENCH_NODE, SERIAL)
    exponent = transfer_exponent(CONFIG, PARAMETERS["most_bytes"])
    limits = CONFIG.max_open, CONFIG.max_active
    identify = Identify(SubsystemSettings(**sizes), SERIAL, namespaces, exponent, limits, lambda: (1,))
    for structure, nsid in ((Structure.CONTROLLER, 0), (Structure.NAMESPACE, 1)):
        asked = Entry(AdminOpcode.IDENTIFY, nsid=nsid, dword_10=structure)
        raw = entry(AdminOpcode.IDENTIFY, 1, nsid, DATA, dwords=(structure,))
        _, status, cycles = await host.execute(0, raw)
        assert status == 0 and bytes(host.memory[DATA : DATA + 4096]) == identify.reply(asked, 1, PCIE).data
        dut._log.info(f"{structure.name} took {cycles:,} cycles, {host.cycles:,} behind the start")
    for opcode, base, word in ((AdminOpcode.CREATE_CQ, CQ, 1), (AdminOpcode.CREATE_SQ, SQ, 1 | 1 << 16)):
        _, status, _ = await host.execute(
            0, entry(opcode, 2, prp1=base, dwords=((ENTRIES - 1) << 16 | 1, word))
        )
        assert status == 0, opcode.name
    block = CONFIG.geometry.page_bytes
    data = bytes(range(256)) * (block // 256 + 1)
    host.memory[DATA : DATA + block] = data[:block]
    result, status, _ = await host.execute(1, entry(Opcode.ZONE_APPEND, 3, 1, DATA))
    assert (result, status) == (0, 0)
    result, status, _ = await host.execute(1, entry(Opcode.READ, 4, 1, DATA + 0x2000))
    assert status == 0 and bytes(host.memory[DATA + 0x2000 :][:block]) == data[:block]
    assert dut.violations.value == 0
