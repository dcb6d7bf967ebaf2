"""How long a device takes to recover after a loss of power."""

import numpy as np

from flashtrain.host import Device
from flashtrain.spec import Port

from .measurement import BenchmarkError, Measurement

STREAMS = (("inputs", Port.HOST), ("trained", Port.CORE))
MOST_MS = 1000.0
"""A device of 2 TB is to be ready again in less than a second."""


def recovery_time(device: Device, quick: bool = False) -> Measurement:
    """Time from enabling the controller after a loss of power until it takes appends again.

    Every zone of the non-volatile streams holds something, and not one is full: of each the write pointer has
    to be searched. Bound: `MOST_MS` must not be exceeded.
    """
    config, g = device.config, device.config.geometry
    first_cycle = device.cycles
    block = np.arange(g.page_bytes, dtype=np.uint8)
    stored = []
    for name, port in STREAMS:
        stream = device.stream(name, port)
        for zone in range(2 if quick else stream.zones):
            stored.append((name, stream.append(block)))
            stream.finish_zone(zone)
    device.link.power_cycle()
    report = device.recover()
    for name, array in stored:
        if not np.array_equal(device.stream(name).read(array), block):
            raise BenchmarkError(f"what was appended to {name!r} is not there after the recovery")
    kept = sum(stream.zones for stream in report.streams)
    return Measurement(
        value=report.cycles / config.timing.clock_mhz / 1e3,
        unit="ms",
        bound=MOST_MS,
        cycles=device.cycles - first_cycle,
        asked="the bound",
        met=report.cycles / config.timing.clock_mhz / 1e3 <= MOST_MS,
        note=f"{report.cycles:,} cycles: first pages of {g.zones} physical zones, write pointers of {kept}, "
        f"{report.erased} zones to be erased, {report.records} record of the journal",
    )
