"""The host's side of a function as TLPs: cocotbext-pcie's root complex, and a hard block in front of the RTL.

The root complex is not ours. It reads and writes the configuration space and the BAR, has the host's memory,
splits its completions, and takes messages.
"""

import logging
import random
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import IntEnum

import cocotb
from cocotb.triggers import RisingEdge, Timer
from cocotbext.axi import MemoryRegion
from cocotbext.pcie.core import Device, Endpoint, RootComplex
from cocotbext.pcie.core.tlp import CplStatus, Tlp, TlpType

from flashtrain.nvme.pcie.configuration import (
    BAR,
    COMMAND,
    DEVICE_CONTROL,
    FUNCTION_RESET,
    MSIX_CONTROL,
    ConfigurationSpace,
)
from flashtrain.nvme.pcie.msix import ENABLE, FUNCTION_MASK
from flashtrain.rtl.pcie.layouts import HALF_BYTES, TlpCompletion, TlpData, TlpRequest
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, unpack
from flashtrain.spec.pcie import BAR_BYTES, TlpSizes
from tests.rtl.pcie.function_firmware import ACCESS, SMALLEST_PAGE
from tests.rtl.pcie.host_memory import bytes_of, rows_of

TIMEOUT = 1000
"""Cycles after which the hard block ends a read that has no answer."""
_WHOLE = 0xF
"""The byte enables of a dword."""


class Wrong(IntEnum):
    """Pages whose reads are not answered with their data, by their address."""

    ABORTED = 0x7000_0000
    """The root complex has memory for it, and nothing is there."""
    POISONED = 0x7000_1000
    """The data come, and EP says that they are wrong; perhaps behind a part that is right."""
    LOST = 0x7000_2000
    UNSUPPORTED = 0x9000_0000
    """No part of the root complex has the address."""


class Host(RootComplex):
    """Completes reads in any order, in pieces that it may choose. `written` has each write that has come."""

    def __init__(self, memory: bytearray, latency: int):
        self.latency = latency
        super().__init__()
        self.written: list[tuple[int, int]] = []
        self._poisoned: set[int] = set()
        self.mem_pool.register_region(MemoryRegion(len(memory), mem=memory), 0)
        self.mem_pool.register_region(MemoryRegion(SMALLEST_PAGE), Wrong.POISONED)

    async def handle_mem_read_tlp(self, tlp):
        cocotb.start_soon(self._complete(tlp))

    async def _complete(self, tlp) -> None:
        await Timer(random.randint(self.latency, 3 * self.latency), "ns")
        page = tlp.address // SMALLEST_PAGE * SMALLEST_PAGE
        if page == Wrong.LOST:
            return
        if page == Wrong.POISONED:
            self._poisoned.add(tlp.tag)
        await super().handle_mem_read_tlp(tlp)

    async def send(self, tlp):
        if tlp.is_completion():
            # A choice for the rest of each read under way.
            self.split_on_all_rcb = random.random() < 0.6
            await Timer(random.randint(1, self.latency), "ns")
            if tlp.tag in self._poisoned:
                ends = tlp.byte_count == 4 * tlp.length
                tlp.ep = ends or random.random() < 0.5
                if ends:
                    self._poisoned.remove(tlp.tag)
        await super().send(tlp)

    async def handle_mem_write_tlp(self, tlp):
        self.written.append((tlp.address, 4 * tlp.length))
        await super().handle_mem_write_tlp(tlp)


@dataclass
class _Read:
    """A read under way: where its data go on, up to where, and when it has taken too long."""

    place: int
    end: int
    due: int


class HardBlock(Endpoint):
    """What a maker's block of PCI Express does between the link and the pins of `Function`.

    Its configuration space is that of the function in software. A function level reset lets no more requests
    pass, waits for what is under way, and resets the RTL. `on_reset` is called at its beginning.
    """

    def __init__(
        self, dut, tlp: TlpSizes, vectors: int, accesses: StreamSource, answers: StreamSink, busy: float,
        on_reset: Callable[[], None],
    ):  # fmt: skip
        super().__init__()
        self.configuration = ConfigurationSpace(vectors, self._begin_reset, self._control_vectors)
        self.bar_mask[0] = ~(BAR_BYTES - 1) & 0xFFFF_FFFF
        self.dut, self.tlp, self.on_reset = dut, tlp, on_reset
        self.layout, self.completion, self.row = TlpRequest(tlp), TlpCompletion(tlp), TlpData(tlp)
        self.asked: list[dict[str, int]] = []
        self.resets = 0
        self._accesses, self._answers, self._answered = accesses, answers, 0
        self._requests, self._data = StreamSink(dut, "requests", busy), StreamSink(dut, "data", busy)
        self._completions = StreamSource(dut, "completions", busy, always_ready=True)
        self._rows: list[int] = []
        self._waiting: deque[dict[str, int]] = deque()
        self._reading: dict[int, _Read] = {}
        self._sending = False
        self._clock = 0
        for kind in (TlpType.MEM_READ, TlpType.MEM_READ_64):
            self.register_rx_tlp_handler(kind, self._read_bar)
        for kind in (TlpType.MEM_WRITE, TlpType.MEM_WRITE_64):
            self.register_rx_tlp_handler(kind, self._write_bar)
        cocotb.start_soon(self._run())

    @property
    def quiet(self) -> bool:
        """Whether nothing is under way between the link and the RTL."""
        return not (self._waiting or self._reading or self._sending or self._completions.items)

    # The configuration space.

    async def read_config_register(self, reg):
        return self.configuration.read(4 * reg, 4)

    async def write_config_register(self, reg, data, mask):
        for byte in range(4):
            if mask >> byte & 1:
                self.configuration.write(4 * reg + byte, data >> 8 * byte & 0xFF, 1)
        self._see_registers()

    def _see_registers(self) -> None:
        self.bar[0] = self.configuration.read(BAR, 4)
        self.bus_master_enable = self.configuration.masters

    def _control_vectors(self, value: int) -> None:
        self.dut.enable_vectors.value = bool(value & ENABLE)
        self.dut.mask_vectors.value = bool(value & FUNCTION_MASK)

    # The BAR: accesses in their order.

    async def _write_bar(self, tlp):
        """Dwords that are written in part are left out."""
        for number, enabled in enumerate(_enables(tlp)):
            if enabled == _WHOLE:
                data = int.from_bytes(tlp.data[4 * number : 4 * number + 4], "little")
                self._accesses.send(pack(ACCESS, write=1, offset=_dword(tlp, number), data=data))

    async def _read_bar(self, tlp):
        """Writes from the host pass a read that waits, so the answer is awaited elsewhere."""
        self._accesses.send(*(pack(ACCESS, offset=_dword(tlp, number)) for number in range(tlp.length)))
        self._answered += tlp.length
        cocotb.start_soon(self._answer(tlp, self._answered))

    async def _answer(self, tlp, end: int) -> None:
        words = (await self._answers.wait_for(end))[end - tlp.length :]
        # The answer pushes the writes that the RTL has asked for before it.
        while any(request["write"] for request in self._waiting) or self._sending:
            await RisingEdge(self.dut.clk)
        completion = Tlp.create_completion_data_for_tlp(tlp, self.pcie_id)
        completion.set_data(b"".join(word.to_bytes(4, "little") for word in words))
        completion.byte_count = tlp.get_be_byte_count()
        completion.lower_address = tlp.address & 0x7C | tlp.get_first_be_offset()
        await self.send(completion)

    # The RTL's requests.

    async def _run(self) -> None:
        while True:
            await RisingEdge(self.dut.clk)
            self._clock += 1
            for bits in self._requests.new_items():
                self._waiting.append(self._checked(unpack(self.layout, bits)))
            for bits in self._data.new_items():
                self._rows.append(bits)
            for tag in [tag for tag, read in self._reading.items() if read.due <= self._clock]:
                self._fail(tag)
            if self._waiting and not self._sending:
                self._pass_on(self._waiting[0])

    def _checked(self, request: dict[str, int]) -> dict[str, int]:
        self.asked.append(request)
        assert self.bus_master_enable, f"{request} of a function that is no master"
        return request

    def _pass_on(self, request: dict[str, int]) -> None:
        """Send a request; a write only with all of its data."""
        tlp, address, length = Tlp(), request["address"], request["length"]
        is_long = address >> 32 != 0
        tlp.address, tlp.length, tlp.requester_id = address, length, self.pcie_id
        tlp.first_be, tlp.last_be = _WHOLE, _WHOLE if length > 1 else 0
        if request["write"]:
            lasts = [number for number, bits in enumerate(self._rows) if unpack(self.row, bits)["last"]]
            if not lasts:
                return
            rows, self._rows = self._rows[: lasts[0] + 1], self._rows[lasts[0] + 1 :]
            rows = [unpack(self.row, bits)["data"] for bits in rows]
            tlp.fmt_type = TlpType.MEM_WRITE_64 if is_long else TlpType.MEM_WRITE
            tlp.set_data(bytes_of(rows, address, 4 * length, self.tlp.port_bytes))
        else:
            tag = tlp.tag = request["tag"]
            assert tag not in self._reading, f"tag {tag} is in use"
            tlp.fmt_type = TlpType.MEM_READ_64 if is_long else TlpType.MEM_READ
            self._reading[tag] = _Read(address, address + 4 * length, self._clock + TIMEOUT)
        self._waiting.popleft()
        self._sending = True
        cocotb.start_soon(self._send(tlp))

    async def _send(self, tlp) -> None:
        await self.send(tlp)
        self._sending = False

    # Completions.

    async def handle_tlp(self, tlp):
        if not tlp.is_completion():
            await super().handle_tlp(tlp)
            return
        tlp.release_fc()
        read = self._reading.get(tlp.tag)
        if read is None:
            return  # behind its timeout
        if tlp.status != CplStatus.SC or tlp.ep:
            self._fail(tlp.tag)
            return
        assert tlp.lower_address == read.place & 0x7F and tlp.byte_count == read.end - read.place, tlp
        width, data, end = self.tlp.port_bytes, bytes(tlp.data), read.place + len(tlp.data)
        ends = len(data) == tlp.byte_count
        assert ends or end % HALF_BYTES == 0, f"{tlp} ends within its boundary"
        while read.place < end:
            stop = min(end, (read.place // width + 1) * width)
            part, data = data[: stop - read.place], data[stop - read.place :]
            [row] = rows_of(read.place, part, width)
            self._complete(tlp.tag, read.place, stop - 1, data=row, end=ends and stop == end)
            read.place = stop
        if ends:
            del self._reading[tlp.tag]

    def _fail(self, tag: int) -> None:
        read = self._reading.pop(tag)
        self._complete(tag, read.place, read.place, end=1, failed=1)

    def _complete(self, tag: int, first_byte: int, last_byte: int, **item: int) -> None:
        if self.tlp.port_bytes > HALF_BYTES:
            first, last = (at % self.tlp.port_bytes // HALF_BYTES for at in (first_byte, last_byte))
            item["halves"] = 1 << first | 1 << last
        self._completions.send(pack(self.completion, tag=tag, **item))

    # The reset of the function.

    def _begin_reset(self) -> None:
        self.resets += 1
        self.on_reset()
        cocotb.start_soon(self._reset())

    async def _reset(self) -> None:
        busy, self._requests.busy = self._requests.busy, 0
        for _ in range(2):  # until the pin has it
            await RisingEdge(self.dut.clk)
        while not self.quiet:
            await RisingEdge(self.dut.clk)
        assert not self._rows, "data without their request"
        self.configuration.reset()
        self._see_registers()
        self._control_vectors(0)
        self.dut.rst.value = 1
        for _ in range(2):
            await RisingEdge(self.dut.clk)
        self.dut.rst.value = 0
        self._requests.busy = busy
        self.resets += 1


def _enables(tlp) -> list[int]:
    """The byte enables of each dword."""
    if tlp.length == 1:
        return [tlp.first_be]
    return [tlp.first_be, *[_WHOLE] * (tlp.length - 2), tlp.last_be]


def _dword(tlp, number: int) -> int:
    return tlp.address % BAR_BYTES // 4 + number


class RootComplexHost:
    """The root complex with the function below it, in the place of `TlpHost`.

    `connect` enumerates the bus, and finds the function as `function`. `messages` has the vector of each
    message, and how many writes have come before it.
    """

    def __init__(
        self, dut, size: int, tlp: TlpSizes, vectors: int, accesses: StreamSource, answers: StreamSink,
        busy: float, latency: int, on_reset: Callable[[], None],
    ):  # fmt: skip
        logging.getLogger("cocotb.pcie").setLevel(logging.ERROR)
        self.memory, self.latency = bytearray(size), latency
        self.complex = Host(self.memory, latency)
        self.block = HardBlock(dut, tlp, vectors, accesses, answers, busy, on_reset)
        self.complex.make_port().connect(Device(self.block))
        self.messages: list[tuple[int, int]] = []

    @property
    def log(self) -> list[dict[str, int]]:
        return self.block.asked

    @property
    def quiet(self) -> bool:
        return self.block.quiet

    async def connect(self) -> None:
        await self.complex.enumerate()
        self.function = self.complex.find_device(self.block.pcie_id)
        await self.function.enable_device()
        await self.function.set_master()

    async def enable_vectors(self) -> int:
        """Fill the table of MSI-X by the BAR; how many vectors there are."""
        known = len(self.function.msi_vectors or [])
        count = await self.function.alloc_irq_vectors(1, 2048)
        for vector in range(known, count):
            self.function.request_irq(vector, self._handler(vector))
        return count

    def _handler(self, vector: int) -> Callable[[], Awaitable[None]]:
        async def handle() -> None:
            self.messages.append((vector, len(self.complex.written)))

        return handle

    async def reset_function(self) -> None:
        """A function level reset; then address and command are as before, and MSI-X is off."""
        function, places = self.function, (BAR, COMMAND)
        kept = [await function.config_read_dword(place) for place in places]
        control = await function.config_read_word(DEVICE_CONTROL)
        done = self.block.resets + 2
        await function.config_write_word(DEVICE_CONTROL, control | FUNCTION_RESET)
        while self.block.resets < done:
            await Timer(100, "ns")
        assert not await function.config_read_word(MSIX_CONTROL) & ENABLE
        function.msix_enabled = False
        for place, value in zip(places, kept, strict=True):
            assert not await function.config_read_word(place), f"{place:#x} is not reset"
            await function.config_write_dword(place, value)
