"""The Python driver stores data on independent parts, whose data interface is the asynchronous one."""

import random

import cocotb
import numpy as np
import pytest
from cocotb.clock import Clock
from cocotb.task import bridge, resume
from cocotb.triggers import RisingEdge, Timer

from flashtrain.host import CommandError, Device, RegisterError
from flashtrain.host.bringup import bring_up
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.registers import Registers
from flashtrain.sim.bench.tensor_buffer import TensorBuffer
from flashtrain.spec import NodeTable, Port, Status
from flashtrain.spec.registers import ChannelCounter, Control, NandInterface, Register
from flashtrain.spec.streams import Access, Persistency, Retention, Stream
from tests.cdriver.ports import CPort, chips_of, recorded
from tests.rtl.controller.bench_link import BenchLink
from tests.rtl.controller.sdr_board import BOARDS

BOARD = BOARDS[bench_parameters()["board"]]
CONFIG = BOARD.config
GEOMETRY = CONFIG.geometry
PARTS = range(sum(map(len, BOARD.sockets)))
CHIPS = range(len(PARTS) // CONFIG.chips.luns)
COUNTS = ("violations", "misuses", "ignored")
SDR = 1 << NandInterface.sdr.low
POWER_UP_NS = 6_000
"""tPOR of the parts, and what R/B# needs."""
_ALL = Access.READ | Access.APPEND
NODE = NodeTable(
    "sdr",
    (
        Stream(1, "durable", Persistency.NON_VOLATILE, Retention.YEARS, host=_ALL, core=_ALL),
        Stream(2, "volatile", Persistency.VOLATILE, Retention.MINUTES, host=_ALL, core=_ALL),
    ),
)


class Bench:
    """A board with power, and the driver's Link to it."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.link = BenchLink(
            Registers(dut),
            CONFIG,
            buffer=TensorBuffer(dut, 64 << 10),
            irq=dut.irq,
            period_ns=BOARD.period_ns,
        )
        self.set_pin = resume(self._set_pin)

    async def _set_pin(self, name: str, value: int) -> None:
        getattr(self.dut, name).value = value
        await Timer(BOARD.period_ns, "ns")

    async def start(self) -> "Bench":
        dut = self.dut
        cocotb.start_soon(self._hang())
        dut.power.value, dut.fail_program.value, dut.fail_erase.value = 0, 0, 0
        dut.rst.value = 1
        await Timer(BOARD.period_ns, "ns")
        Clock(dut.clk, BOARD.period_ns, "ns", impl="gpi").start()
        await Timer(200, "ns")
        dut.power.value = 1
        await Timer(POWER_UP_NS, "ns")
        await RisingEdge(dut.clk)
        dut.rst.value = 0
        await Timer(100, "ns")
        return self

    async def _hang(self) -> None:
        await Timer(80_000_000, "ns")
        raise AssertionError("it hangs")

    def count(self, name: str) -> list[int]:
        return [int(getattr(self.dut, f"{name}__{part}").value) for part in PARTS]

    def check(self) -> None:
        """The parts have seen no violation of a time, no misuse, and no cycle without effect."""
        counts = {name: self.count(name) for name in COUNTS}
        assert not any(map(sum, counts.values())), counts
        assert self.count("modes") == [BOARD.mode for _ in PARTS]
        if CONFIG.chips.ready_busy and not CONFIG.chips.shares_ready_busy:
            assert not any(self.count("busy_polls"))


def some_blocks(count: int) -> np.ndarray:
    return np.frombuffer(random.randbytes(count * GEOMETRY.page_bytes), np.uint8)


def chooses_interface(link: BenchLink) -> None:
    """What the engines cannot have is refused, and so is any change while they work."""
    before = link.read_register(Register.NAND_INTERFACE)
    refused = [6 | SDR, 16, *([] if CONFIG.chips.ddr else [5])]
    for value in refused:
        with pytest.raises(RegisterError):
            link.write_register(Register.NAND_INTERFACE, value)
    link.write_register(Register.CONTROL, Control.ENABLE | Control.RECOVER)
    with pytest.raises(RegisterError):
        link.write_register(Register.NAND_INTERFACE, SDR)
    link.write_register(Register.CONTROL, 0)
    assert link.read_register(Register.NAND_INTERFACE) == before


def brings_up(link: BenchLink) -> None:
    """By both drivers, with the same writes: a part begins anew with each reset."""
    port = CPort(link, node=NODE, pause_cycles=100)
    by_c, by_python = recorded(link), recorded(link)
    port.begin()
    chips = chips_of(port)
    port.close()
    assert [(chip.mode, chip.failure) for chip in chips] == [(BOARD.mode, 0) for _ in CHIPS]
    by_python.clear()
    reports = bring_up(link)
    assert [(report.mode, report.error) for report in reports] == [(BOARD.mode, None) for _ in CHIPS]
    assert by_python and by_c == 2 * by_python


def stores_and_reads(device: Device) -> None:
    """Pieces of all sizes, through both streams, from buffers and arrays, with a reset behind them."""
    for stream in (device.stream("durable", Port.CORE), device.stream("volatile", Port.HOST)):
        pieces = [some_blocks(count) for count in (1, 2 * GEOMETRY.superpage + 1)]
        stored = [stream.append(piece) for piece in pieces]
        for _ in range(2):
            for where, piece in zip(stored, pieces, strict=True):
                assert bytes(stream.read(where)) == bytes(piece)
            stream.flush()
        stream.reset()


def reads_beside_programs(device: Device) -> None:
    """Reads of flushed blocks while others are appended: they wait, and none is lost."""
    stream, other = device.stream("durable", Port.CORE), device.stream("volatile", Port.HOST)
    first = some_blocks(GEOMETRY.superpage)
    stored = stream.append(first)
    stream.flush()
    appends = [other.append_async(some_blocks(3)) for _ in range(3)]
    for _ in range(2):
        assert bytes(stream.read(stored)) == bytes(first)
    device.wait(appends)


def suspends(device: Device, bench: Bench) -> None:
    """Reads while other blocks are programmed, and while their zones are erased, suspend what they can."""
    stream, other = device.stream("durable", Port.CORE), device.stream("volatile", Port.HOST)
    first = some_blocks(1)
    stored = stream.append(first)
    stream.flush()
    counts = [sum(bench.count("suspensions"))]
    appends = [other.append_async(some_blocks(GEOMETRY.superpage)) for _ in range(3)]
    for _ in range(6):
        assert bytes(stream.read(stored)) == bytes(first)
    device.wait(appends)
    other.flush()
    counts.append(sum(bench.count("suspensions")))
    other.reset()
    for _ in range(6):
        assert bytes(stream.read(stored)) == bytes(first)
    counts.append(sum(bench.count("suspensions")))
    # A board without pairs for programs has erases beside its appends.
    begin, appended, erased = counts
    assert begin < erased if CONFIG.chips.has_maker_suspend else begin == erased, counts
    assert begin < appended or not CONFIG.chips.suspends_programs, counts


def failed_program(device: Device, bench: Bench) -> None:
    """A page set whose program fails is moved to spare blocks, or reported."""
    stream = device.stream("durable", Port.CORE)
    stream.reset()
    before = some_blocks(GEOMETRY.superpage)
    stored = stream.append(before)
    stream.flush()
    bench.set_pin("fail_program", 1)
    programs = sum(channel[ChannelCounter.PROGRAMS.name] for channel in device.channel_counters())
    piece = some_blocks(GEOMETRY.superpage)
    pending = stream.append_async(piece)

    def failures() -> int:
        return sum(channel[ChannelCounter.FAILURES.name] for channel in device.channel_counters())

    for _ in range(400):
        if failures():
            break
        if CONFIG.chips.suspends_programs:
            # Their failure is not lost, although the status of each read clears FAIL.
            assert bytes(stream.read(stored)) == bytes(before)
        else:
            bench.link.run(50)
    bench.set_pin("fail_program", 0)
    assert programs and failures()
    if GEOMETRY.spare_blocks:
        device.wait([pending])
        stream.flush()
        assert bytes(stream.read(stored)) == bytes(before)
        return
    with pytest.raises(CommandError) as caught:
        device.wait([pending])
    assert caught.value.status == Status.WRITE_FAULT
    assert bytes(stream.read(stored)) == bytes(before)


@cocotb.test()
async def stores_data(dut):
    bench = await Bench(dut).start()

    def drive() -> None:
        if CONFIG.command_port:
            chooses_interface(bench.link)
            brings_up(bench.link)
        device = Device(bench.link, NODE, 16, owns_link=False)
        device.format()
        bad = [socket.bad_blocks for sockets in BOARD.sockets for socket in sockets]
        assert len(device.bad_blocks) == (sum(bad) if GEOMETRY.spare_blocks else 0)
        stores_and_reads(device)
        reads_beside_programs(device)
        suspends(device, bench)
        failed_program(device, bench)
        device.disable()

    await bridge(drive)()
    bench.check()
