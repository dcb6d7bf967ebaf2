"""The speed of NVMe over TCP: bytes and commands a second, through the functional Link.

Target and client are processes of their own on this machine, and the loopback is between them.
"""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from flashtrain.host import open_device
from flashtrain.nvme.client.host import Host, data_command, read_command
from flashtrain.nvme.client.queue import ClientQueue
from flashtrain.nvme.subsystem.settings import DEFAULT_NQN
from flashtrain.nvme.target.process import TargetProcess, target_process
from flashtrain.nvme.target.settings import LOOPBACK, Settings
from flashtrain.spec import Opcode, preset
from flashtrain.spec.streams import SERVE_NODE

from .measurement import BenchmarkError, Measurement

DEPTH = 32
THROUGHPUT_DEPTH = 8
TRANSFER_BYTES = 256 << 10
MEMORY_BYTES = 64 << 20
NSID = 1
ASKED_BYTES = 150e6
ASKED_READS = 10_000.0


@dataclass(frozen=True)
class Amount:
    """Bytes that are written, and blocks that are read."""

    bytes: int
    reads: int


WHOLE = Amount(192 << 20, 30_000)
QUICK = Amount(8 << 20, 1_000)


class _Written(NamedTuple):
    seconds: float
    commands: int
    bytes: int


class _ProcessorTime(NamedTuple):
    """Seconds of the processor, of target and client."""

    target: float
    client: float

    def since(self, before: "_ProcessorTime") -> "_ProcessorTime":
        return _ProcessorTime(self.target - before.target, self.client - before.client)

    def note(self, commands: int) -> str:
        """The processor time of a command."""
        of_target, of_client = (seconds / commands * 1e6 for seconds in self)
        return f"{of_target:,.1f} us of processor time each in the target, {of_client:,.1f} us in the client"


@dataclass(frozen=True)
class _Served:
    """A host and its target."""

    host: Host
    target: TargetProcess[float]

    def processor_time(self) -> "_ProcessorTime":
        """Seconds that target and client have computed."""
        return _ProcessorTime(self.target.ask(), time.process_time())


def serve_throughput(name: str, quick: bool) -> Measurement:
    """Sequential writes of the most data that a capsule may ask for, several in flight."""
    amount = QUICK if quick else WHOLE
    with _served(name) as served:
        before = served.processor_time()
        written = _fill(served.host, name, amount.bytes)
        spent = served.processor_time().since(before)
    rate = written.bytes / written.seconds
    return Measurement(
        value=rate / 1e6,
        unit="MB/s",
        cycles=0,
        asked=f"{ASKED_BYTES / 1e6:.0f} MB/s",
        met=rate >= ASKED_BYTES,
        note=f"{written.bytes:,} bytes in {written.commands:,} writes, {THROUGHPUT_DEPTH} in flight,"
        f" in {written.seconds:.2f} s; {spent.note(written.commands)}",
    )


def serve_iops(name: str, quick: bool) -> Measurement:
    """Random reads of a block, many in flight, of what was written before."""
    amount, geometry = QUICK if quick else WHOLE, preset(name).geometry
    rng = random.Random(1)
    with _served(name) as served:
        _fill(served.host, name, QUICK.bytes)
        blocks = min(QUICK.bytes // geometry.page_bytes, geometry.zone_capacity)
        entries = [
            read_command(NSID, rng.randrange(blocks), 1, geometry.page_bytes) for _ in range(amount.reads)
        ]
        before, started = served.processor_time(), time.perf_counter()
        done = served.host.io[0].execute_all(entries, DEPTH)
        seconds, spent = time.perf_counter() - started, served.processor_time().since(before)
    if any(one.answer.status for one in done):
        raise BenchmarkError("a read of a block that was written has failed")
    rate = len(done) / seconds
    return Measurement(
        value=rate,
        unit="reads/s",
        cycles=0,
        asked=f"{ASKED_READS:,.0f} reads/s",
        met=rate >= ASKED_READS,
        note=f"{len(done):,} reads of {geometry.page_bytes:,} bytes, {DEPTH} in flight, in {seconds:.2f} s;"
        f" {spent.note(len(done))}",
    )


def _fill(host: Host, name: str, size: int) -> _Written:
    """Write `size` bytes, or as much as there is room for."""
    g, queue = preset(name).geometry, host.io[0]
    blocks = min(TRANSFER_BYTES // g.page_bytes, g.zone_capacity)
    data = random.Random(1).randbytes(blocks * g.page_bytes)
    per_zone, zones = g.zone_capacity // blocks, len(SERVE_NODE.zones(g.zones)[NSID])
    count = min(max(size // len(data), 1), per_zone * zones)
    started = time.perf_counter()
    for number in range(count):
        if queue.in_flight >= THROUGHPUT_DEPTH:
            _take(queue)
        zone = number // per_zone * g.zone_size
        queue.submit(data_command(Opcode.ZONE_APPEND, NSID, zone, blocks), data)
    while queue.in_flight:
        _take(queue)
    return _Written(time.perf_counter() - started, count, count * len(data))


def _take(queue: ClientQueue) -> None:
    if status := queue.wait_any().answer.status:
        raise BenchmarkError(f"an append has failed with status {status:#05x}")


@contextmanager
def _served(name: str) -> Iterator[_Served]:
    """A host of a target with this preset, in a process of its own."""
    opener = partial(open_device, name, node=SERVE_NODE, memory_bytes=MEMORY_BYTES)
    with (
        target_process(opener, Settings(port=0), _computed) as target,
        Host((LOOPBACK, target.port), DEFAULT_NQN) as host,
    ):
        yield _Served(host, target)


def _computed(*_: object) -> float:
    """Seconds that this process has computed."""
    return time.process_time()
