"""Appends to and reads of a stream with a codec, in user data per second."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import Device, DeviceStream, StoredArray
from flashtrain.perf.append import settling_superpages
from flashtrain.perf.array_work import ArrayRecorder, programs_per_cycle
from flashtrain.perf.measurement import BenchmarkError, Measurement
from flashtrain.perf.progress import pages_programmed, pages_read, run_until
from flashtrain.perf.read import MARGIN_SUPERPAGES
from flashtrain.spec import FmsConfig, NodeTable, Port
from flashtrain.spec.streams import SINGLE_NODE, Codec

from .contents import Contents

STREAM = "activations"
CODED_NODE: NodeTable = SINGLE_NODE.with_codecs(**{STREAM: Codec.WINDOW16})
ASKED = 0.97
APPENDS_PER_ZONE = 8
"""At least: in a small zone the reserved bounds would end the measurement early."""


@dataclass(frozen=True)
class CodedBounds:
    """Bytes of user data per second that a device of this configuration can append or read at a ratio."""

    config: FmsConfig
    ratio: float

    @property
    def port(self) -> float:
        return self.config.channel_bytes_per_second

    @property
    def append(self) -> float:
        c = self.config
        return min(self.port, min(c.program_bytes_per_second, c.net_channel_bytes_per_second) * self.ratio)

    @property
    def read(self) -> float:
        return min(self.port, self.config.net_channel_bytes_per_second * self.ratio)


def append_codec(
    device: Device, recorder: ArrayRecorder, contents: Contents, asked: float, quick: bool = False
) -> Measurement:
    """User data appended per second while one port keeps the write buffers full.

    Measured on the programs of the dies, as `append_erased`, times the ratio of the data.

    Bound: the data port, or what arrays and buses can carry times the ratio; whichever is less. asked: bytes
    per second on `behemoth_codec`, besides the share of the bound; 0 for none.
    """
    config, g = device.config, device.config.geometry
    piece, stored = _prepare(device, contents)
    ratio = stored.data_blocks[0] / stored.blocks
    margin = settling_superpages(config)
    stream = device.stream(STREAM)
    count = _appends(stream, config, stored, (12 if quick else 24) + 2 * margin)
    superpages = count * stored.blocks // g.superpage - 2 * margin
    if superpages < 2:
        raise BenchmarkError(f"a zone of {config.name!r} is too small for a steady state")
    first_cycle, base = device.cycles, pages_programmed(device)
    appends = [stream.append_async(piece) for _ in range(count)]
    tprog = config.timing.cycles("tprog")
    step, most_cycles = max(20, tprog // 200), 4 * (superpages + 2 * margin) * tprog
    run_until(device, pages_programmed, base + margin * g.superpage, step, most_cycles)
    recorder.start()
    run_until(device, pages_programmed, base + (margin + superpages) * g.superpage, step, most_cycles)
    rate = programs_per_cycle(recorder.stop(), g.channels * g.dies, settle=0)
    handles = device.wait(appends)
    if not np.array_equal(stream.read(handles[-1]), piece):
        raise BenchmarkError("what was read is not what was appended")
    value = rate * config.timing.clock_hz * g.page_set_bytes * ratio
    bound = CodedBounds(config, ratio).append
    at_full_scale = asked if config.name == "behemoth_codec" else 0.0
    goal = f" and {at_full_scale / 1e9:.0f} GB/s" if at_full_scale else ""
    return Measurement(
        value=value / 1e9,
        unit="GB/s",
        bound=bound / 1e9,
        cycles=device.cycles - first_cycle,
        asked=f"{ASKED:.0%} of the bound{goal}",
        met=value >= ASKED * bound and value >= at_full_scale,
        note=f"{contents.value}, {ratio:.3f} blocks of data in one; {superpages} superpages programmed",
    )


def read_codec(device: Device, recorder: ArrayRecorder, quick: bool = False) -> Measurement:
    """User data read per second, in the middle of a long read of dense data. The data is checked.

    Bound: the data port, or what the buses carry times the ratio; whichever is less.
    """
    config, g = device.config, device.config.geometry
    piece, stored = _prepare(device, Contents.DENSE)
    stream, ratio = device.stream(STREAM), stored.data_blocks[0] / stored.blocks
    count = _appends(stream, config, stored, 16 if quick else 24)
    handles = device.wait([stream.append_async(piece) for _ in range(count)])
    stream.flush()
    pages = sum(handle.blocks for handle in handles)
    margin = min(MARGIN_SUPERPAGES * g.superpage, pages // 4)
    first_cycle, base = device.cycles, pages_read(device)
    targets = [device.buffer(piece.shape, piece.dtype) for _ in range(2)]
    reads = [stream.read_async(handle, targets[n % 2]) for n, handle in enumerate(handles)]
    step, most_cycles = max(20, config.page_beats // 4), 100 * pages * config.page_beats
    start = run_until(device, pages_read, base + margin, step, most_cycles)
    recorder.start()
    end = run_until(device, pages_read, base + pages - margin, step, most_cycles)
    recorder.stop()
    device.wait(reads)
    if any(not np.array_equal(target, piece) for target in targets[:count]):
        raise BenchmarkError("what was read is not what was appended")
    seconds = (end.after - start.before) / config.timing.clock_hz
    value = (end.reached - start.reached) * g.page_bytes * ratio / seconds
    bound = CodedBounds(config, ratio).read
    return Measurement(
        value=value / 1e9,
        unit="GB/s",
        bound=bound / 1e9,
        cycles=device.cycles - first_cycle,
        asked=f"{ASKED:.0%} of the bound",
        met=value >= ASKED * bound,
        note=f"{ratio:.3f} blocks of data in one; {end.reached - start.reached} pages in"
        f" {end.after - start.before:,} cycles",
    )


def _prepare(device: Device, contents: Contents) -> tuple[NDArray[np.uint16], StoredArray]:
    """Data for one append, in the tensor buffer, and the handle of a first append of them."""
    config, g = device.config, device.config.geometry
    blocks = min(config.max_blocks, g.zone_capacity // APPENDS_PER_ZONE)
    while config.coded_bound(blocks, Codec.WINDOW16) > config.max_blocks:
        blocks -= 1
    piece = device.buffer((blocks * g.page_bytes // 2,), np.uint16)
    piece[:] = contents.make(len(piece))
    stream = device.stream(STREAM, Port.CORE)
    stored = stream.append(piece)
    stream.flush()
    return piece, stored


def _appends(stream: DeviceStream, config: FmsConfig, one: StoredArray, superpages: int) -> int:
    """Appends as `one` for so many superpages, as far as the bounds of all fit into the rest of its zone."""
    wanted = -(-superpages * config.geometry.superpage // one.blocks)
    room = stream.zone_capacity - one.blocks
    return min(wanted, room // config.coded_bound(one.data_blocks[0], Codec.WINDOW16))
