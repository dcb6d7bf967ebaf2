"""How evenly a device wears."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from flashtrain.host import Device
from flashtrain.spec import Port
from flashtrain.spec.streams import Retention

from .measurement import BenchmarkError, Measurement

FILLS = 100
QUICK_FILLS = 10
STREAMS = {
    "activations": (Port.CORE, 8),
    "weights": (Port.CORE, 4),
    "trained": (Port.CORE, 2),
    "inputs": (Port.HOST, 1),
}
"""Who writes each stream, and how many of its zones for each one of `inputs`."""

EraseCounts = Callable[[], NDArray[np.uint32]]
"""How often each block was erased, as the arrays count themselves."""


def wear_spread(device: Device, erase_counts: EraseCounts, quick: bool = False) -> Measurement:
    """Difference between the most and the least erased block after `FILLS` writes of all zones of the device.

    Zones go to random streams, to some eight times as often as to others; a full stream is reset. The device
    takes the free zone with the least wear, but never moves data. Data that is not rewritten therefore keeps
    its blocks from erases, above all the data of the journal.
    """
    g, random = device.config.geometry, np.random.default_rng(7)
    first_cycle = device.cycles
    data = {port: device.buffer((g.zone_capacity * g.page_bytes,), np.uint8) for port in Port}
    streams = {name: device.stream(name, port) for name, (port, _) in STREAMS.items()}
    shares = np.array([share for _, share in STREAMS.values()], float)
    written = dict.fromkeys(STREAMS, 0)
    zones = (QUICK_FILLS if quick else FILLS) * g.zones
    for name in random.choice(list(STREAMS), zones, p=shares / shares.sum()):
        stream = streams[name]
        if written[name] == stream.zones:
            stream.reset()
            written[name] = 0
        stream.append(data[STREAMS[name][0]])
        written[name] += 1
    counts = erase_counts()[..., : g.zones]  # without spares
    if counts.sum() < (zones - 2 * g.zones) * g.channels * g.dies * g.planes:
        raise BenchmarkError(f"only {counts.sum()} erases were counted while {zones} zones were written")
    most, least, half = int(counts.max()), int(counts.min()), int(np.median(counts))
    years = Retention.YEARS.endurance
    return Measurement(
        value=most - least,
        unit="erases",
        cycles=device.cycles - first_cycle,
        note=f"{zones} zones written, {g.zones} in the device: blocks were erased {least} to {most} times,"
        f" half of them {half} and more; {most / years:.2%} of the {years:,} cycles for data that last years",
    )
