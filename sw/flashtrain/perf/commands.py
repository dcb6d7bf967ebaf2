"""How fast commands are taken."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import Device, Extent
from flashtrain.spec import FmsConfig, Geometry, Opcode, Port, Submission, ZoneAction

from .append import STREAM
from .array_work import ArrayRecorder
from .measurement import BenchmarkError, Measurement
from .progress import CountingDevice, appends_done, reads_done, run_until
from .read_bound import part_bound, read_bound

COMMANDS = 4000
QUICK_COMMANDS = 1000
MOST_CYCLES = 16
"""A command has to be accepted in as many cycles."""

BURST = 2000
QUICK_BURST = 400
MOST_TIME = 0.1
"""Microseconds of the controller's time for a command of one block."""
BEHEMOTH_WRITE, BEHEMOTH_READ = 1.18, 1.93
"""Behemoth's controller, in microseconds (FAST'21)."""

RANDOM_READS = 4000
QUICK_RANDOM_READS = 400


def command_interval(device: Device, quick: bool = False) -> Measurement:
    """Cycles per command of a long burst from one port, from the doorbell to the last answer.

    The commands open a zone that is already open. The device fetches, decodes, checks, executes and answers
    them. No data moves, so data is not the limit.
    """
    stream = device.stream(STREAM, Port.CORE)
    stream.open_zone(0)
    count = QUICK_COMMANDS if quick else COMMANDS
    s = Submission
    entry = (
        s.opcode.put(Opcode.ZONE_MANAGEMENT_SEND) | s.nsid.put(stream.nsid) | s.action.put(ZoneAction.OPEN)
    )
    first_cycle = device.cycles
    answers = device.submit_raw_batch((Port.CORE, entry | s.cid.put(cid)) for cid in range(count))
    cycles = device.cycles - first_cycle
    refused = [answer for answer in answers if not answer.ok]
    if refused:
        raise BenchmarkError(f"a command of the burst was refused: {refused[0]}")
    return Measurement(
        value=cycles / count,
        unit="cycles",
        bound=MOST_CYCLES,
        cycles=cycles,
        asked="the bound",
        met=cycles / count <= MOST_CYCLES,
        note=f"{count} commands without data, answers included",
    )


def command_time_write(device: Device, recorder: ArrayRecorder, quick: bool = False) -> Measurement:
    """Time per command of a burst of appends of one block each, while the controller is what limits it.

    The blocks go into write buffers that are empty and have room for all of them, so that no die is waited
    for. Counted from answer to answer over the second half of the burst: fetch, checks, the data's way into
    SRAM and the answer, pipelined.

    Bound: `MOST_TIME` must not be exceeded. The data port takes `page_beats` for a block, so no command of
    one block can take less.
    """
    config, g = device.config, device.config.geometry
    stream = device.stream(STREAM, Port.CORE)
    count = min(QUICK_BURST if quick else BURST, config.write_sets * g.planes * g.channels)
    data = device.buffer((count, g.page_bytes), np.uint8)
    data[:] = np.random.default_rng(10).integers(0, 256, data.shape, np.uint8)
    first_cycle, base = device.cycles, appends_done(device)
    recorder.start()
    for block in data:
        stream.append_async(block)
    interval = _interval(device, appends_done, base, (count // 2, count))
    recorder.stop()
    device.wait()
    return _command_time(device, interval, count, device.cycles - first_cycle, BEHEMOTH_WRITE)


def command_time_read(device: Device, recorder: ArrayRecorder, quick: bool = False) -> Measurement:
    """Time per command of a burst of reads of one block each, while the controller is what limits it.

    The blocks were flushed; those of one plane are read from all channels, then from the next die, so that a
    die senses while another one sends. Counted as for :func:`command_time_write`, with as many commands in
    flight as the controller takes: fetch, checks, sense, the data's way to memory and the answer, pipelined.

    Bound: `MOST_TIME` must not be exceeded. The data port takes `page_beats` for a block, and the buses
    together as long.
    """
    g = device.config.geometry
    order = dies_in_turn(g, min(QUICK_BURST if quick else BURST, g.zone_capacity))
    first_cycle = device.cycles
    interval = _read_one_by_one(device, recorder, order, (len(order) // 2, len(order)))
    return _command_time(device, interval, len(order), device.cycles - first_cycle, BEHEMOTH_READ)


def read_random(device: Device, recorder: ArrayRecorder, quick: bool = False) -> Measurement:
    """Reads of one block each per second, in a random order, with as many in flight as the controller takes.

    The blocks were flushed. Counted over the middle half of the reads, from answer to answer.

    Bound: `ReadBound.single_pages_per_second`, that of the buses or of the arrays.
    """
    config, g = device.config, device.config.geometry
    count = min(QUICK_RANDOM_READS if quick else RANDOM_READS, g.zone_capacity)
    order = np.random.default_rng(12).permutation(count).tolist()
    first_cycle = device.cycles
    interval = _read_one_by_one(device, recorder, order, (count // 4, count - count // 4))
    bound = read_bound(config)
    return Measurement(
        value=config.timing.clock_mhz / interval,
        unit="M/s",
        bound=bound.single_pages_per_second / 1e6,
        cycles=device.cycles - first_cycle,
        note=f"{count // 2} reads of {g.page_bytes >> 10} KiB, {interval:.1f} cycles each;"
        f" a bus needs {bound.single_page_cycles:,.1f} cycles for one",
    )


def read_small(device: Device, recorder: ArrayRecorder, quick: bool = False) -> Measurement:
    """Reads of `part_bytes` each per second, as `read_random`, each of a random part of its block.

    Bound: `PartBound.per_second`, that of the buses or of the dies.
    """
    config, g = device.config, device.config.geometry
    count = min(QUICK_RANDOM_READS if quick else RANDOM_READS, g.zone_capacity)
    random = np.random.default_rng(13)
    order, parts = random.permutation(count).tolist(), random.integers(0, config.page_parts, count)
    first_cycle = device.cycles
    interval = _read_one_by_one(device, recorder, order, (count // 4, count - count // 4), parts)
    bound = part_bound(config)
    return Measurement(
        value=config.timing.clock_mhz / interval,
        unit="M/s",
        bound=bound.per_second / 1e6,
        cycles=device.cycles - first_cycle,
        note=f"{count // 2} reads of {config.part_bytes} bytes, {interval:.1f} cycles each;"
        f" a bus needs {bound.cycles:,} cycles for one, of which {bound.data} are data, and a die"
        f" {bound.die:,}",
    )


def _read_one_by_one(
    device: Device,
    recorder: ArrayRecorder,
    order: Sequence[int],
    counted: tuple[int, int],
    parts: NDArray[np.int64] | None = None,
) -> float:
    """Append and flush so many blocks, read each by a command of its own in this order, and compare.

    parts: the part of each block that is read, in the place of the whole.
    Returns cycles per command between the two numbers of answered reads.
    Raises `BenchmarkError` if other data come back.
    """
    stream, block_bytes = device.stream(STREAM, Port.CORE), device.config.geometry.page_bytes
    data = device.buffer((len(order), block_bytes), np.uint8)
    data[:] = np.random.default_rng(11).integers(0, 256, data.shape, np.uint8)
    expected, part_bytes = data, device.config.part_bytes
    if parts is not None:
        expected = data.reshape(len(order), -1, part_bytes)[np.arange(len(order)), parts]
    out = device.buffer(expected.shape, np.uint8)
    first = stream.append(data).extents[0].lba
    stream.flush()
    base = reads_done(device)
    recorder.start()
    for block in order:
        target = out[block]
        handle = stream.stored_at([Extent(first + block, 1)], (block_bytes,), target.dtype)
        if parts is None:
            stream.read_async(handle, target)
        else:
            stream.read_part_async(handle, int(parts[block]) * part_bytes, part_bytes, target)
    interval = _interval(device, reads_done, base, counted)
    recorder.stop()
    device.wait()
    if out.tobytes() != expected.tobytes():
        raise BenchmarkError("what was read is not what was appended")
    return interval


def dies_in_turn(geometry: Geometry, count: int) -> list[int]:
    """The first `count` blocks of a zone; those of consecutive dies follow each other as soon as can be."""

    def turn(block: int) -> tuple[int, int, int, int]:
        place = geometry.place(block)
        return place.page, place.plane, place.die, place.channel

    return sorted(range(count), key=turn)


def _interval(
    device: CountingDevice, counter: Callable[[CountingDevice], int], base: int, counted: tuple[int, int]
) -> float:
    """Cycles per command between two numbers of commands above `base`."""
    most_cycles = 100 * counted[1] * device.config.page_beats
    start, end = (run_until(device, counter, base + each, 20, most_cycles) for each in counted)
    return (end.after - start.before) / (end.reached - start.reached)


def _command_time(device: Device, interval: float, count: int, cycles: int, behemoth: float) -> Measurement:
    config = device.config
    per_second = config.timing.clock_hz / interval
    return command_time(
        config, interval, count, cycles,
        f"the data port needs {config.page_beats}: {per_second / 1e6:.2f} M IOPS; Behemoth: {behemoth} us",
    )  # fmt: skip


def command_time(config: FmsConfig, interval: float, count: int, cycles: int, needed: str) -> Measurement:
    """The time of a command of one block, of so many cycles; `needed` says how many its data take, and where.

    Bound: `MOST_TIME`, unless the data port needs longer.
    """
    seconds = interval / config.timing.clock_hz
    # With few channels the data port is too narrow for it, whatever the controller does.
    possible = config.page_beats / config.timing.clock_mhz < MOST_TIME
    return Measurement(
        value=seconds * 1e6,
        unit="us",
        bound=MOST_TIME if possible else None,
        cycles=cycles,
        asked="the bound" if possible else "",
        met=seconds * 1e6 <= MOST_TIME if possible else None,
        note=f"{count} commands of {config.geometry.page_bytes >> 10} KiB, {interval:.1f} cycles each, of"
        f" which {needed}",
    )
