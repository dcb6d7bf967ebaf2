"""The host of a whole drive, and its firmware, in tests: what comes back is what was appended."""

import random
from dataclasses import dataclass

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout

from flashtrain.nvme.pcie.memory import Span
from flashtrain.rtl.pcie.device_queue import queue_entries
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.registers import Registers
from flashtrain.sim.bench.streams import PERIOD_NS
from flashtrain.spec import Opcode, Port, Status, ZoneAction
from flashtrain.spec.host_commands import HostCommands
from flashtrain.spec.nvme import ZoneDescriptor
from flashtrain.spec.pcie import NAMESPACES, NamespaceWord, Property
from flashtrain.spec.registers import (
    Control,
    PortRegister,
    Register,
    State,
    StreamRegister,
    port_register,
    stream_attributes,
    stream_register,
)
from tests.rtl.controller.fms_config import BENCH_NODE, CONFIGS
from tests.rtl.pcie.function_executor import MOST_BYTES
from tests.rtl.pcie.function_host import BLOCK_BYTES, Bench, entry

CONFIG, SLOTS = CONFIGS[bench_parameters()["config"]], bench_parameters()["slots"]
G = CONFIG.geometry
NSIDS = tuple(stream.nsid for stream in BENCH_NODE.streams)
ZONE_OPCODES = Opcode.ZONE_MANAGEMENT_SEND, Opcode.ZONE_MANAGEMENT_RECEIVE
ZONES = 2
"""Of each namespace that the host uses."""
REPORT_BYTES = 192
"""A header and two descriptors."""
WRONG = (
    (max(NSIDS) + 1, 0, Status.INVALID_NAMESPACE),
    (NSIDS[0], G.zone_size * len(BENCH_NODE.zones(G.zones)[NSIDS[0]]), Status.LBA_OUT_OF_RANGE),
    (NSIDS[-1], ZONES * G.zone_size, Status.UNWRITTEN_BLOCK),
)
"""NSIDs and LBAs of reads that are refused, and how."""


@dataclass
class Plan:
    """A command under way: what it does to a zone, and the bytes of the host that it reads or writes."""

    opcode: Opcode
    nsid: int
    zone: int
    slba: int
    count: int
    status: int
    spans: list[Span]
    data: bytes = b""


def _bytes_of(memory: bytearray, places: list[Span]) -> bytes:
    return b"".join(bytes(memory[one.address : one.address + one.length]) for one in places)


class Clock:
    """Cycles so far; stands where the bench of a function has an executor."""

    def __init__(self, dut):
        self.dut, self.clock = dut, 0

    async def run(self) -> None:
        while True:
            await RisingEdge(self.dut.clk)
            self.clock += 1

    async def answer(self) -> None:
        """Answers come from the controller."""


class Drive(Bench):
    """A host of a drive: commands of each kind to some zones, in the order that keeps each zone known."""

    def __init__(self, dut, busy: float = 1, latency: int = 0):
        super().__init__(dut, busy, latency)
        self.registers = Registers(dut)
        self.plans: dict[tuple[int, int], Plan] = {}
        self.blocks: dict[tuple[int, int], bytes] = {}
        """Data by NSID and LBA."""
        self.used_blocks = {(nsid, zone): 0 for nsid in NSIDS for zone in range(ZONES)}
        """Blocks of each zone, with those of commands under way."""
        self.kinds: set[tuple[Opcode, int]] = set()

    def new_executor(self) -> Clock:
        return Clock(self.dut)

    # Firmware's part.

    async def prepare(self) -> None:
        """Give the controller its queues and streams, enable it, and write the table of namespaces."""
        write, entries = self.registers.write, queue_entries(SLOTS)
        await write(Register.MEMORY_LOW, SLOTS * MOST_BYTES)
        await write(Register.MEMORY_HIGH, 0)
        for low, base, size in (
            (PortRegister.SQ_BASE_LOW, 0, PortRegister.SQ_SIZE),
            (PortRegister.CQ_BASE_LOW, SLOTS * MOST_BYTES, PortRegister.CQ_SIZE),
        ):
            await write(port_register(Port.HOST, low), base)
            await write(port_register(Port.HOST, low) + 4, 0)
            await write(port_register(Port.HOST, size), entries - 1)
        zones = BENCH_NODE.zones(G.zones)
        for stream in BENCH_NODE.streams:
            own = zones[stream.nsid]
            await write(stream_register(stream.nsid, StreamRegister.ZONES), own.start | len(own) << 16)
            await write(stream_register(stream.nsid, StreamRegister.ATTRIBUTES), stream_attributes(stream))
        await write(Register.CONTROL, Control.ENABLE | Control.FACTORY)
        for _ in range(2000):
            if await self.registers.read(Register.STATE) & State.READY:
                break
        else:
            raise AssertionError("the controller is not ready after 2000 reads of STATE")
        await self._write_namespaces()

    async def _write_namespaces(self) -> None:
        word, firmware = NamespaceWord, self.firmware
        for nsid, one in HostCommands.of(CONFIG, BENCH_NODE, MOST_BYTES).namespaces.items():
            fields = one._replace(fails_on_unwritten=nsid == NSIDS[-1])._asdict()
            value = sum(getattr(word, name).put(field) for name, field in fields.items())
            place = NAMESPACES + 4 * (nsid - 1)
            firmware.write(place, value)
            assert await firmware.read(place) == value, f"the word of namespace {nsid}"

    async def write_between(self) -> None:
        """Write a register between the doorbells: each write is answered, and has its effect."""
        while True:
            value = random.randrange(1 << len(Port))
            await with_timeout(self.registers.write(Register.INTERRUPT_MASK, value), 1000 * PERIOD_NS, "ns")
            assert await self.registers.read(Register.INTERRUPT_MASK) == value
            await ClockCycles(self.dut.clk, random.randint(1, 30))

    # Commands.

    def _under_way(self, nsid: int, zone: int) -> list[Plan]:
        return [plan for plan in self.plans.values() if (plan.nsid, plan.zone) == (nsid, zone)]

    async def send(self, queue: int, opcode: Opcode, nsid: int, zone: int, count: int, **options) -> None:
        """A command to a zone: see `plan`."""
        sq = self.sqs[queue]
        await self.submit(sq, self.plan(queue, opcode, nsid, zone, count, **options))

    def plan(
        self, queue: int, opcode: Opcode, nsid: int, zone: int, count: int, slba: int | None = None,
        status: int = Status.SUCCESS, action: int = 0,
    ) -> bytes:  # fmt: skip
        """The entry of a command that ends with `status`."""
        cid, is_report = self.new_cid(), opcode == Opcode.ZONE_MANAGEMENT_RECEIVE
        length = {Opcode.ZONE_MANAGEMENT_RECEIVE: REPORT_BYTES, Opcode.ZONE_MANAGEMENT_SEND: 0,
                  Opcode.FLUSH: 0}.get(opcode, count * BLOCK_BYTES)  # fmt: skip
        prps, pages, places, data = (0, 0), [], [], b""
        flags = random.choice([0, 0x40])
        if length:
            prps, pages = (self.sgl if flags else self.pointer)(length, faulty=False)
            places = self.spans_of(prps, length, flags)
        if opcode in (Opcode.WRITE, Opcode.ZONE_APPEND):
            data = random.randbytes(length)
            self._put_spans(places, data, both=True)
        start = zone * G.zone_size
        slba = start if slba is None else slba
        if opcode == Opcode.WRITE:
            slba = start + self.used_blocks[nsid, zone]
        if data and not status:
            self.used_blocks[nsid, zone] += count
        words = {"d10": slba & 0xFFFF_FFFF, "d11": slba >> 32, "d12": count - 1, "d13": action}
        if is_report:
            words["d12"] = length // 4 - 1
        raw = bytearray(entry(opcode, cid, prps, flags, **words))
        raw[4:8] = nsid.to_bytes(4, "little")
        key = queue, cid
        self.plans[key] = Plan(opcode, nsid, zone, slba, count, status, places, data)
        self.expected_status[key], self.used[key] = status, pages
        return bytes(raw)

    def _put_spans(self, places: list[Span], data: bytes, both: bool = False) -> None:
        """Bytes of the host as they are to be; of what it writes itself, as they are."""
        at = 0
        for span in places:
            part = data[at : at + span.length]
            self.expected[span.address : span.address + span.length] = part
            if both:
                self.host.memory[span.address : span.address + span.length] = part
            at += span.length

    def judge(self, key: tuple[int, int], status: int, result: int) -> None:
        if key not in self.plans:
            return super().judge(key, status, result)
        plan = self.plans.pop(key)
        self.kinds.add((plan.opcode, status))
        assert status == plan.status, f"{plan.opcode.name} has {status:#x}, expected {plan.status:#x}"
        lba = result if plan.opcode == Opcode.ZONE_APPEND else plan.slba
        assert plan.opcode == Opcode.ZONE_APPEND or not result, f"{plan.opcode.name} has a result"
        if status:
            return None
        if plan.data:
            for number in range(plan.count):
                at = plan.nsid, lba + number
                assert at not in self.blocks, f"block {at} was written before"
                self.blocks[at] = plan.data[BLOCK_BYTES * number : BLOCK_BYTES * (number + 1)]
        elif plan.opcode == Opcode.READ:
            self._put_spans(plan.spans, self.content(plan))
        elif plan.opcode == Opcode.ZONE_MANAGEMENT_RECEIVE:
            self._judge_report(plan)
        elif plan.opcode == Opcode.ZONE_MANAGEMENT_SEND:
            self.forget(plan.nsid, plan.zone)
        return None

    def content(self, plan: Plan) -> bytes:
        """Unwritten blocks are zeros."""
        lbas = range(plan.slba, plan.slba + plan.count)
        return b"".join(self.blocks.get((plan.nsid, lba), bytes(BLOCK_BYTES)) for lba in lbas)

    def forget(self, nsid: int, zone: int) -> None:
        self.used_blocks[nsid, zone] = 0
        first = zone * G.zone_size
        for lba in range(first, first + G.zone_size):
            self.blocks.pop((nsid, lba), None)

    def _judge_report(self, plan: Plan) -> None:
        """Starts of the zones; no byte of the vendor. The bytes are then as they are to be."""
        found, descriptor = _bytes_of(self.host.memory, plan.spans), ZoneDescriptor
        self._put_spans(plan.spans, found)
        zones = BENCH_NODE.zones(G.zones)[plan.nsid]
        assert int.from_bytes(found[:8], "little") == len(zones) - plan.zone
        assert not any(found[descriptor.time.low // 8 : descriptor.BYTES])
        for number in range(REPORT_BYTES // descriptor.BYTES - 1):
            raw = found[descriptor.BYTES * (number + 1) :][: descriptor.BYTES]
            one = int.from_bytes(raw, "little")
            assert descriptor.start.get(one) == (plan.zone + number) * G.zone_size
            assert descriptor.capacity.get(one) == G.zone_capacity
            assert not any(raw[descriptor.time.low // 8 :]), "bytes of the vendor"

    def settle_plans(self) -> None:
        """Commands whose completions went nowhere: each is done whole, or was dropped."""
        for plan in self.plans.values():
            found = _bytes_of(self.host.memory, plan.spans)
            before = _bytes_of(self.expected, plan.spans)
            if plan.status or plan.data or found == before:
                continue
            if plan.opcode == Opcode.READ:
                self._put_spans(plan.spans, self.content(plan))
            else:
                self._judge_report(plan)
        self.plans.clear()

    async def any_command(self, queue: int) -> bool:
        """A command of any kind to a zone that allows it."""
        nsid, zone = random.choice(NSIDS), random.randrange(ZONES)
        room, others = G.zone_capacity - self.used_blocks[nsid, zone], self._under_way(nsid, zone)
        most = MOST_BYTES // BLOCK_BYTES
        kind = random.random()
        if kind < 0.45 and room:
            opcode = Opcode.WRITE if not others and random.random() < 0.3 else Opcode.ZONE_APPEND
            if any(plan.opcode in (Opcode.ZONE_MANAGEMENT_SEND, Opcode.WRITE) for plan in others):
                return False
            await self.send(queue, opcode, nsid, zone, random.randint(1, min(most, room)))
        elif kind < 0.5:
            # A zone that is never written.
            count = random.randint(1, most)
            await self.send(queue, Opcode.READ, NSIDS[0], ZONES, count)
        elif kind < 0.8:
            first = zone * G.zone_size
            written = 0
            while (nsid, first + written) in self.blocks:
                written += 1
            if not written or any(plan.opcode == Opcode.ZONE_MANAGEMENT_SEND for plan in others):
                return False
            count = random.randint(1, min(most, written))
            slba = first + random.randint(0, written - count)
            await self.send(queue, Opcode.READ, nsid, zone, count, slba=slba)
        elif kind < 0.85:
            await self.send(queue, Opcode.ZONE_MANAGEMENT_RECEIVE, nsid, zone, 1)
        elif kind < 0.9:
            await self.send(queue, Opcode.FLUSH, nsid, zone, 1, slba=0)
        elif kind < 0.95:
            await self.send_wrong(queue, *random.choice(WRONG))
        elif not others:
            await self.reset_zone(queue, nsid, zone)
        else:
            return False
        return True

    async def each_kind(self) -> None:
        """One command of each kind but a reset, to zones that are empty; one after the other."""
        nsid = NSIDS[0]
        for opcode, zone, options in (
            (Opcode.ZONE_APPEND, 0, {}), (Opcode.WRITE, 1, {}), (Opcode.FLUSH, 0, {"slba": 0}),
            (Opcode.READ, 0, {}), (Opcode.ZONE_MANAGEMENT_RECEIVE, 0, {}),
        ):  # fmt: skip
            await self.send(1, opcode, nsid, zone, 2, **options)
            await self.finish()
        # The first block is written, the others are not.
        await self.send(1, Opcode.READ, nsid, 0, 3, slba=1)
        await self.finish()
        for wrong in WRONG:
            await self.send_wrong(2, *wrong)
        await self.finish()

    async def send_wrong(self, queue: int, nsid: int, slba: int, status: int) -> None:
        await self.send(queue, Opcode.READ, nsid, 0, 1, slba=slba, status=status)

    async def reset_zone(self, queue: int, nsid: int, zone: int) -> None:
        await self.send(queue, Opcode.ZONE_MANAGEMENT_SEND, nsid, zone, 1, action=ZoneAction.RESET)

    async def finish(self, cycles: int = 60_000) -> None:
        """Take all completions."""
        begun = self.executor.clock
        while self.open:
            assert self.executor.clock - begun < cycles, f"{len(self.plans)} commands have no completion"
            for cq in list(self.cqs.values()):
                await self.poll(cq)
            await RisingEdge(self.dut.clk)


async def use_drive(bench: Drive, commands: int) -> None:
    """Enable, append, read back, reset: the memory is compared whole at each end.

    Twice, so that zones are reset that have data: with pages of 4 KiB, and of 8.
    """
    await bench.prepare()
    cocotb.start_soon(bench.write_between())
    await bench.enable_vectors()
    for exponent in (0, 1):
        await bench.enable(exponent)
        for queue in (1, 2):
            await bench.create(queue, 16, None)
        for nsid, zone in bench.used_blocks:
            if bench.used_blocks[nsid, zone]:
                await bench.reset_zone(1 + zone % 2, nsid, zone)
        await bench.finish()
        await bench.each_kind()
        left = commands
        while left:
            for queue in (1, 2):
                if left and bench.room(bench.sqs[queue]) > 0 and len(bench.free) > 40:
                    left -= await bench.any_command(queue)
                await bench.poll(bench.cqs[bench.sqs[queue].partner])
            await RisingEdge(bench.dut.clk)
        await bench.finish()
        await bench.settle()
        bench.compare()
        await end_with_commands(bench)
    used = Opcode.WRITE, Opcode.ZONE_APPEND, Opcode.READ, Opcode.FLUSH, *ZONE_OPCODES
    assert {opcode for opcode, _ in bench.kinds} == set(used)
    assert {status for _, status in bench.kinds} == {Status.SUCCESS, *(status for _, _, status in WRONG)}


async def end_with_commands(bench: Drive) -> None:
    """The host disables the controller with commands under way: they end, and nothing is touched after."""
    for queue in (1, 2):
        for _ in range(6):
            await bench.any_command(queue)
    for _ in range(random.randrange(600)):
        await RisingEdge(bench.dut.clk)
    await bench.write(Property.CONFIGURATION, 0)
    await bench.status(0)
    requests = len(bench.host.log)
    await bench.settle(300)
    assert len(bench.host.log) == requests, "it touches memory while it is disabled"
    for cq in bench.cqs.values():
        # Entries that came before the end; others are dropped.
        await bench.poll(cq, release=False)
    bench.settle_plans()
    bench.compare()
