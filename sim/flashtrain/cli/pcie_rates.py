"""Rates of the drive on PCI Express: the RTL of front end and controller, under a host with PRPs."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from flashtrain.host import open_device
from flashtrain.perf.append import QUICK_SUPERPAGES, SUPERPAGES, append_erased, settling_superpages
from flashtrain.perf.array_work import programs_per_cycle
from flashtrain.perf.commands import BURST, QUICK_BURST, command_time, dies_in_turn
from flashtrain.perf.measurement import BenchmarkError, Measurement
from flashtrain.perf.progress import pages_programmed, pages_read, run_until
from flashtrain.perf.read import MARGIN_SUPERPAGES, read_sequential
from flashtrain.perf.read import QUICK_SUPERPAGES as QUICK_READ_SUPERPAGES
from flashtrain.perf.read import SUPERPAGES as READ_SUPERPAGES
from flashtrain.sim.link.pcie_link import PcieLink
from flashtrain.sim.link.pcie_model import PcieSizes
from flashtrain.sim.link.rtl_link import MemoryTiming, RtlLink
from flashtrain.sim.trace.array import ArrayTrace
from flashtrain.spec import FmsConfig, NodeTable, Opcode
from flashtrain.spec.pcie import TlpSizes
from flashtrain.spec.streams import SINGLE_NODE, Access, Persistency, Retention, Stream

from .device import memory_bytes
from .pcie_drive import DATA, Answer, PcieDrive

_ALL = Access.READ | Access.APPEND
NODE = NodeTable(
    "drive", (Stream(1, "drive", Persistency.VOLATILE, Retention.MINUTES, host=_ALL, core=Access.NONE),)
)
NSID = 1
_MEMORY = MemoryTiming().latency
"""Cycles from a read of the host's memory to its answer."""


def _places(config: FmsConfig, pages: int) -> Iterator[tuple[int, int, int]]:
    """Zone, first page and number of pages of commands that fill zones one after the other."""
    g, page = config.geometry, 0
    most = min(config.max_blocks, PcieSizes.of(config).most_bytes // g.page_bytes)
    while page < pages:
        zone, inside = divmod(page, g.zone_capacity)
        count = min(most, pages - page, g.zone_capacity - inside)
        yield zone, page, count
        page += count


def _random_data(drive: PcieDrive, pages: int) -> np.ndarray:
    """The first bytes of the host's data."""
    data = drive.link.memory[DATA : DATA + pages * drive.config.geometry.page_bytes]
    data[:] = np.random.default_rng(12).integers(0, 256, len(data), np.uint8)
    return data


def _append(drive: PcieDrive, pages: int) -> int:
    """Append so many pages of the host's data; the number of commands."""
    g, commands = drive.config.geometry, 0
    for zone, page, count in _places(drive.config, pages):
        address = DATA + page * g.page_bytes
        drive.submit(Opcode.ZONE_APPEND, NSID, zone * g.zone_size, count, address)
        commands += 1
    drive.ring()
    return commands


def _superpages(config: FmsConfig, wanted: int, margin: int) -> int:
    count = min(wanted, NODE.zones(config.geometry.zones)[NSID].stop * config.geometry.pages - 2 * margin)
    if count < 2:
        raise BenchmarkError(f"{config.name!r} is too small for a steady state")
    return count


def pcie_append(drive: PcieDrive, quick: bool) -> Measurement:
    """Bytes programmed per second while a host keeps the write buffers full: see `append_erased`."""
    config, g = drive.config, drive.config.geometry
    margin = settling_superpages(config)
    superpages = _superpages(config, QUICK_SUPERPAGES if quick else SUPERPAGES, margin)
    pages = (superpages + 2 * margin) * g.superpage
    _random_data(drive, pages)
    first_cycle, recorder = drive.cycles, ArrayTrace(drive.link)
    commands = _append(drive, pages)
    tprog = config.timing.cycles("tprog")
    step, most_cycles = max(20, tprog // 200), 100 * (superpages + 2 * margin) * tprog
    run_until(drive, pages_programmed, margin * g.superpage, step, most_cycles)
    recorder.start()
    run_until(drive, pages_programmed, (margin + superpages) * g.superpage, step, most_cycles)
    rate = programs_per_cycle(recorder.stop(), g.channels * g.dies, settle=0)
    drive.wait(commands, most_cycles)
    return Measurement(
        value=rate * config.timing.clock_hz * g.page_set_bytes / 1e9,
        unit="GB/s",
        cycles=drive.cycles - first_cycle,
        note=f"{superpages} superpages; {_of_the_port(config)}",
    )


def pcie_read(drive: PcieDrive, quick: bool) -> Measurement:
    """Bytes per second into the host's memory in the middle of long reads: see `read_sequential`."""
    config, g = drive.config, drive.config.geometry
    wanted = QUICK_READ_SUPERPAGES if quick else READ_SUPERPAGES
    pages = (_superpages(config, wanted - 2 * MARGIN_SUPERPAGES, 0) + 2 * MARGIN_SUPERPAGES) * g.superpage
    data = _random_data(drive, pages)
    first_cycle, most_cycles = drive.cycles, 1000 * pages * max(config.page_beats, g.page_bytes // 8)
    drive.wait(_append(drive, pages), most_cycles)
    drive.do([(Opcode.FLUSH, NSID, 0, 0, 0)], most_cycles)
    out, base, commands = DATA + len(data), pages_read(drive), 0
    for zone, page, count in _places(config, pages):
        block = zone * g.zone_size + page % g.zone_capacity
        drive.submit(Opcode.READ, NSID, block, count, out + page * g.page_bytes)
        commands += 1
    drive.ring()
    margin, step = MARGIN_SUPERPAGES * g.superpage, max(20, config.page_beats // 4)
    start = run_until(drive, pages_read, base + margin, step, most_cycles)
    end = run_until(drive, pages_read, base + pages - margin, step, most_cycles)
    drive.wait(commands, most_cycles)
    if drive.link.memory[out : out + len(data)].tobytes() != data.tobytes():
        raise BenchmarkError("what was read is not what was appended")
    cycles, moved = end.after - start.before, end.reached - start.reached
    return Measurement(
        value=moved * g.page_bytes * config.timing.clock_hz / cycles / 1e9,
        unit="GB/s",
        cycles=drive.cycles - first_cycle,
        note=f"{moved} pages in {cycles:,} cycles; {_of_the_port(config)}",
    )


def pcie_command_time_write(drive: PcieDrive, quick: bool) -> Measurement:
    """Time per command of a burst of appends of one block each: see `command_time_write`."""
    config, g = drive.config, drive.config.geometry
    count = min(
        QUICK_BURST if quick else BURST,
        config.write_sets * g.planes * g.channels,
        PcieSizes.of(config).entries - 1,
    )
    _random_data(drive, count)
    first_cycle = drive.cycles
    for block in range(count):
        drive.submit(Opcode.ZONE_APPEND, NSID, 0, 1, DATA + block * g.page_bytes)
    drive.ring()
    answers = _answers(drive, count, _most_cycles(config, count))
    return _command_time(drive, answers, drive.cycles - first_cycle)


def pcie_command_time_read(drive: PcieDrive, quick: bool) -> Measurement:
    """Time per command of a burst of reads of one block each: see `command_time_read`."""
    config, g = drive.config, drive.config.geometry
    count = min(QUICK_BURST if quick else BURST // 2, g.zone_capacity, PcieSizes.of(config).entries // 2)
    data = _random_data(drive, count)
    first_cycle, most_cycles = drive.cycles, _most_cycles(config, count)
    drive.wait(_append(drive, count), most_cycles)
    drive.do([(Opcode.FLUSH, NSID, 0, 0, 0)], most_cycles)
    out = DATA + len(data)
    for block in dies_in_turn(g, count):
        drive.submit(Opcode.READ, NSID, block, 1, out + block * g.page_bytes)
    drive.ring()
    answers = _answers(drive, count, most_cycles)
    if drive.link.memory[out : out + len(data)].tobytes() != data.tobytes():
        raise BenchmarkError("what was read is not what was appended")
    return _command_time(drive, answers, drive.cycles - first_cycle)


def pcie_latency_write(drive: PcieDrive, quick: bool) -> Measurement:
    """Cycles from the doorbell of an append of one block to its completion, on an idle drive.

    At least: the host's memory answers twice, for entry and block, and the block passes the port.
    """
    config, g = drive.config, drive.config.geometry
    count, first_cycle = _latencies(quick), drive.cycles
    _random_data(drive, count)
    commands = [(Opcode.ZONE_APPEND, 0, DATA + block * g.page_bytes) for block in range(count)]
    # Whatever the last one left to do is done by then.
    found = _one_by_one(drive, commands, 3 * config.timing.cycles("tprog"))
    return _latency(drive, found, {"entry": _MEMORY, "data": _MEMORY}, drive.cycles - first_cycle)


def pcie_latency_read(drive: PcieDrive, quick: bool) -> Measurement:
    """Cycles from the doorbell of a read of one block to its completion, on an idle drive.

    At least: the host's memory answers for the entry, a die senses the page, and that passes its bus and the
    port.
    """
    config, g, t = drive.config, drive.config.geometry, drive.config.timing
    count, first_cycle = _latencies(quick), drive.cycles
    data, most_cycles = _random_data(drive, count), _most_cycles(config, count)
    drive.wait(_append(drive, count), most_cycles)
    drive.do([(Opcode.FLUSH, NSID, 0, 0, 0)], most_cycles)
    out = DATA + len(data)
    commands = [(Opcode.READ, block, out + block * g.page_bytes) for block in range(count)]
    found = _one_by_one(drive, commands, t.cycles("tr"))
    if drive.link.memory[out : out + len(data)].tobytes() != data.tobytes():
        raise BenchmarkError("what was read is not what was appended")
    bus = round(g.page_bytes / t.bytes_per_second * t.clock_hz)
    least = {"entry": _MEMORY, "tR": t.cycles("tr"), "bus": bus}
    return _latency(drive, found, least, drive.cycles - first_cycle)


def _latencies(quick: bool) -> int:
    return 3 if quick else 9


def _one_by_one(drive: PcieDrive, commands: Sequence[tuple[Opcode, int, int]], rest: int) -> list[int]:
    """Cycles of commands of one block, each after a rest of the drive."""
    found = []
    for opcode, block, address in commands:
        drive.link.run(rest)
        drive.submit(opcode, NSID, block, 1, address)
        start = drive.cycles
        drive.ring()
        [answer] = _answers(drive, 1, _most_cycles(drive.config, 1))
        found.append(answer.cycle - start)
    return found


def _latency(drive: PcieDrive, found: Sequence[int], least: dict[str, int], cycles: int) -> Measurement:
    """The median, beside the cycles that are not the front end's: `least`, and the rows of the block."""
    config = drive.config
    least = {**least, "rows": config.geometry.page_bytes // TlpSizes.of(config).port_bytes}
    middle = sorted(found)[len(found) // 2]
    parts = ", ".join(f"{name} {count:,}" for name, count in least.items())
    note = f"{middle / config.timing.clock_mhz:.3f} us; at least {sum(least.values()):,}: {parts}"
    return Measurement(middle, "cycles", cycles, note)


def _answers(drive: PcieDrive, count: int, most_cycles: int) -> list[Answer]:
    """`count` completions, seen in the cycles in which they come; their queue has room for all."""
    end, found = drive.cycles + most_cycles, []
    while len(found) < count:
        if drive.cycles > end:
            raise BenchmarkError(f"{len(found)} of {count} commands were answered in {most_cycles} cycles")
        drive.link.run(1)
        found += drive.take(release=False)
    return found


def _most_cycles(config: FmsConfig, count: int) -> int:
    return 100 * count * config.geometry.page_bytes + 10 * config.timing.cycles("tprog")


def _command_time(drive: PcieDrive, answers: Sequence[Answer], cycles: int) -> Measurement:
    """Over the second half of the answers."""
    config, half = drive.config, answers[len(answers) // 2 :]
    interval = (half[-1].cycle - half[0].cycle) / (len(half) - 1)
    port = config.geometry.page_bytes // TlpSizes.of(config).port_bytes
    needed = f"the port needs {port}; {_of_the_port(config)}"
    return command_time(config, interval, len(answers), cycles, needed)


def _of_the_port(config: FmsConfig) -> str:
    rate = TlpSizes.of(config).port_bytes * config.timing.clock_hz / 1e9
    return f"the port of requests has {rate:.1f} GB/s each way"


_MEASURES: dict[str, Callable[[PcieDrive, bool], Measurement]] = {
    "pcie_append": pcie_append,
    "pcie_read": pcie_read,
    "pcie_command_time_write": pcie_command_time_write,
    "pcie_command_time_read": pcie_command_time_read,
    "pcie_latency_write": pcie_latency_write,
    "pcie_latency_read": pcie_latency_read,
}


_WITHOUT = {"append_erased": append_erased, "read_sequential": read_sequential}


def measure_without(name: str, config: FmsConfig, quick: bool) -> Measurement:
    """The row `name` of a controller with a tensor buffer."""
    with open_device(config, RtlLink, node=SINGLE_NODE, memory_bytes=memory_bytes(config)) as device:
        return _WITHOUT[name](device, ArrayTrace(device.link), quick)


def measure(name: str, config: FmsConfig, quick: bool) -> Measurement:
    """The row `name` on a drive of its own."""
    sizes = PcieSizes.of(config)
    link = PcieLink(config, sizes)
    try:
        return _MEASURES[name](PcieDrive(link, NODE, sizes), quick)
    finally:
        link.close()
