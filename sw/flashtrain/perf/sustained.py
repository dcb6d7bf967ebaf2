"""Appends zone after zone, the zones of old data being erased meanwhile."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np

from flashtrain.host import Device
from flashtrain.spec import FmsConfig, Port
from flashtrain.spec.timing import ns

from .append import settling_superpages
from .array_work import ArrayKind, ArrayRecorder, ArrayWork, starts_of_programs
from .measurement import BenchmarkError, Measurement
from .progress import pages_programmed, run_until

STREAMS = ("activations", "weights")
"""Both volatile."""
PAGES = 64
"""Rows of a zone at most: a longer one is shortened."""
ZONES = 2
ASKED = 0.99


def shortened(config: FmsConfig) -> FmsConfig:
    """`config` with zones of `PAGES` superpages at most, and an erase as much shorter."""
    pages = config.geometry.pages
    if pages <= PAGES:
        return config
    tbers = config.timing.tbers
    erase = ns(tbers.ns * PAGES / pages, tbers.cycles)
    geometry = replace(config.geometry, pages=PAGES)
    return replace(
        config,
        geometry=geometry,
        timing=replace(config.timing, tbers=erase),
        max_blocks=min(config.max_blocks, geometry.zone_capacity),
    )


def sustained_bound(config: FmsConfig) -> float:
    """Bytes per second if every die programs all pages of a block set, erases it, and does nothing else.

    dies x pages x page set / (pages x tPROG + tBERS)
    """
    g, t = config.geometry, config.timing
    cycles = g.pages * t.cycles("tprog") + t.cycles("tbers")
    return g.channels * g.dies * g.pages * g.page_set_bytes / cycles * t.clock_hz


def append_sustained(device: Device, recorder: ArrayRecorder, quick: bool = False) -> Measurement:
    """Bytes programmed per second over whole zones, an erase for each.

    Two volatile streams take turns: one is reset, which leaves its zone to be erased, and then filled anew,
    while the other keeps its data. Measured on each die from a program in the first quarter of a zone to that
    of the same superpage some zones later. The bound is that of `sustained_bound`.
    """
    config, g, t = device.config, device.config.geometry, device.config.timing
    zones = 1 if quick else ZONES
    streams = [device.stream(name, Port.CORE) for name in STREAMS]
    piece = min(config.max_blocks, g.zone_capacity)
    data = device.buffer((piece * g.page_bytes,), np.uint8)
    data[:] = np.random.default_rng(6).integers(0, 256, len(data), np.uint8)
    first_cycle = device.cycles

    # A zone is erased as a whole, however little is in it: the first one need not be full.
    lead = settling_superpages(config)
    lengths = [lead, *[g.pages] * zones, min(g.pages, g.pages // 4 + 2 * lead)]
    starts = list(accumulate(lengths, initial=0))
    step = max(20, t.cycles("tprog") // 20)
    most_cycles = 8 * sum(lengths) * t.cycles("tprog") + 8 * t.cycles("tbers")

    def submit(number: int) -> None:
        stream = streams[number % len(streams)]
        stream.reset_async()
        for first in range(0, lengths[number] * g.superpage, piece):
            stream.append_async(data[: min(piece, lengths[number] * g.superpage - first) * g.page_bytes])

    def work_until(superpages: int) -> None:
        run_until(device, pages_programmed, superpages * g.superpage, step, most_cycles)

    submit(0)
    submit(1)
    begin = lead + g.pages // 4
    work_until(begin)
    recorder.start()
    for number in range(2, len(lengths)):
        # In time to have appends waiting always, and not before the stream's last zone has been programmed.
        work_until(starts[number] - g.pages // 2)
        submit(number)
    work_until(begin + zones * g.pages + 2)
    cycles = zone_cycles(recorder.stop(), g.pages, zones)
    if len(cycles) != g.channels * g.dies:
        raise BenchmarkError(
            f"{len(cycles)} of {g.channels * g.dies} dies programmed and erased {zones} zones"
        )
    value = sum(g.pages / cycle for cycle in cycles) * g.page_set_bytes * t.clock_hz
    bound = sustained_bound(config)
    return Measurement(
        value=value / 1e9,
        unit="GB/s",
        bound=bound / 1e9,
        cycles=device.cycles - first_cycle,
        asked=f"{ASKED:.0%} of the bound",
        met=value >= ASKED * bound,
        note=f"{zones} zones of {g.pages} superpages with an erase of"
        f" {t.cycles('tbers') / t.clock_mhz:,.1f} us each,"
        f" {t.cycles('tbers') / t.cycles('tprog') / g.pages:.2%} of the time to program one",
    )


def zone_cycles(work: Sequence[ArrayWork], pages: int, zones: int) -> list[float]:
    """Cycles per zone of each die, over so many zones of so many programs and as many erases.

    :class:`BenchmarkError` for a die that erased more or less in that time.
    """
    erases: dict[tuple[int, int], list[int]] = defaultdict(list)
    for item in work:
        if item.kind is ArrayKind.ERASE:
            erases[item.channel, item.die].append(item.start)
    cycles = []
    for place, starts in starts_of_programs(work).items():
        if len(starts) <= zones * pages:
            continue
        begin, end = starts[0], starts[zones * pages]
        count = sum(begin < start < end for start in erases[place])
        if count != zones:
            channel, die = place
            raise BenchmarkError(
                f"die {die} of channel {channel} erased {count} times in {zones} zones; expected {zones}"
            )
        cycles.append((end - begin) / zones)
    return cycles
