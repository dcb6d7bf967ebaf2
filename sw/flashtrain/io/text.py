"""The results of jobs as text, much as fio prints them."""

from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from .block_sizes import BlockSizes
from .job import Job
from .patterns import Direction
from .run import JobResult
from .samples import NS, Samples, Spread, depth_shares, joined, latency_shares, percentiles

BANDWIDTH_SAMPLES = 20
"""Parts of the window whose bandwidths have a spread."""
_LONG_UNITS = {"ns": "nsec", "us": "usec", "ms": "msec"}
PER_LINE = 4
SHOWN_WRONG = 10


def job_line(job: Job, in_place: bool) -> str:
    """A job before it runs. in_place: on a drive with addresses, which has neither streams nor ports."""
    copies = f", numjobs={job.numjobs}" if job.numjobs > 1 else ""
    where = (
        f"file={job.filename or job.name}"
        if in_place
        else f"stream={job.stream}, port={job.port.name.lower()}"
    )
    return (
        f"{job.name}: rw={job.rw.name}, bs={sizes_text(job.bs)}, size={binary(job.bytes)}, {where},"
        f" iodepth={job.iodepth}{copies}"
    )


def sizes_text(sizes: BlockSizes) -> str:
    """One size, or those of reads and of writes."""
    texts = [
        binary(each.least) if each.least == each.most else f"{binary(each.least)}-{binary(each.most)}"
        for each in (sizes.read, sizes.write)
    ]
    return texts[0] if texts[0] == texts[1] else f"(R) {texts[0]}, (W) {texts[1]}"


def ignored_lines(jobs: Sequence[Job]) -> list[str]:
    """One line with the options that are set and have no meaning here; none without any."""
    names = {name: None for job in jobs for name in job.ignored}
    return [f"ignored, without a meaning here (docs/io.md): {', '.join(sorted(names))}"] if names else []


def job_text(result: JobResult) -> str:
    """All of one job: bandwidth, latencies, percentiles, histogram, depths, and wrong blocks."""
    lines = [f"{result.name}: (jobs={result.copies}): err={result.wrong_count:2}"]
    for direction, samples in result.samples.items():
        lines += _direction_lines(direction, samples, result.job.percentile_list)
    every = np.concatenate([samples.latency for samples in result.samples.values()])
    if len(every) and any(samples.window.seconds for samples in result.samples.values()):
        for unit, shares in latency_shares(every).items():
            lines += _shares_lines(f"  lat ({_LONG_UNITS[unit]})", shares)
        depths = ", ".join(f"{depth}={share:.1f}%" for depth, share in depth_shares(result.depths).items())
        lines.append(f"  IO depths    : {depths}")
    lines += verify_lines(result)
    return "\n".join(lines)


def verify_lines(result: JobResult) -> list[str]:
    """The number of checked logical blocks, and the wrong ones."""
    if not result.job.verify:
        return []
    verdict = f"{result.wrong_count:,} wrong" if result.wrong_count else "all as written"
    lines = [f"  verify: crc32c, {result.checked:,} logical blocks read, {verdict}"]
    lines += [f"    {block}" for block in result.wrong[:SHOWN_WRONG]]
    if result.wrong_count > SHOWN_WRONG:
        lines.append(f"    and {result.wrong_count - SHOWN_WRONG:,} more")
    return lines


def status_text(results: Sequence[JobResult]) -> str:
    """The jobs of each group together, by direction."""
    groups = groupby(results, lambda result: result.group)
    number = len({result.group for result in results})
    return "\n\n".join(
        _status_of(list(found), f" group {group}" if number > 1 else "") for group, found in groups
    )


def _status_of(results: Sequence[JobResult], group: str) -> str:
    lines = [f"Run status{group} (all jobs):"]
    for direction in Direction:
        parts = [result.samples[direction] for result in results if direction in result.samples]
        rates = [rate for part in parts if (rate := part.bytes_per_second) is not None]
        if not rates:
            continue
        total, moved = sum(rates), joined(parts).bytes
        times = [part.window.seconds * 1e3 for part in parts]
        lines.append(
            f"{direction.value.upper():>7}: bw={rate_text(total)}, {binary_rate(min(rates))}-"
            f"{binary_rate(max(rates))}, io={binary(moved)} ({decimal(moved)}),"
            f" run={min(times):.3f}-{max(times):.3f}msec"
        )
    return "\n".join(lines)


def _direction_lines(direction: Direction, samples: Samples, percentages: Sequence[float]) -> list[str]:
    iops, rate = samples.iops, samples.bytes_per_second
    moved = f"{binary(samples.bytes)}/{samples.window.seconds * 1e3:.3f}msec"
    if iops is None or rate is None:
        return [f"  {direction.value}: io={binary(samples.bytes)}, {samples.commands:,} commands"]
    lines = [f"  {direction.value}: IOPS={_count(iops)}, BW={rate_text(rate)}({moved})"]
    if not samples.commands:
        return lines
    clat = samples.completion
    for name, values in (("slat", samples.submission), ("clat", clat), ("lat", samples.latency)):
        unit = latency_unit(values)
        spread = Spread.of(values / NS[unit])
        lines.append(
            f"    {name:>4} ({_LONG_UNITS[unit]}): min={spread.least:.5g}, max={spread.most:.5g},"
            f" avg={spread.mean:.2f}, stdev={spread.deviation:.2f}"
        )
    unit = latency_unit(clat)
    lines.append(f"    clat percentiles ({_LONG_UNITS[unit]}):")
    lines += _percentile_lines(
        {key: value / NS[unit] for key, value in percentiles(clat, percentages).items()}
    )
    bins = samples.bandwidths(BANDWIDTH_SAMPLES)
    for name, values in (("bw (  MiB/s)", bins / 2**20), ("iops        ", _iops_of(bins, samples))):
        spread = Spread.of(values)
        lines.append(
            f"   {name}: min={spread.least:.5g}, max={spread.most:.5g}, avg={spread.mean:.2f},"
            f" stdev={spread.deviation:.2f}, samples={spread.count}"
        )
    return lines


def _iops_of(bandwidths: NDArray[np.float64], samples: Samples) -> NDArray[np.float64]:
    return bandwidths * samples.commands / samples.bytes


def _percentile_lines(values: Mapping[float, float]) -> list[str]:
    width = max(len(f"{value:.0f}") for value in values.values())
    cells = [f"{key:5.2f}th=[{value:{width + 3}.2f}]" for key, value in values.items()]
    rows = [cells[start : start + PER_LINE] for start in range(0, len(cells), PER_LINE)]
    return [f"     | {', '.join(row)}{',' * (row is not rows[-1])}" for row in rows]


def _shares_lines(head: str, shares: Mapping[str, float]) -> list[str]:
    text = ", ".join(f"{end}={share:.2f}%" for end, share in shares.items() if share)
    return [f"{head:15}: {text}"] if text else []


def latency_unit(values: NDArray[np.float64]) -> str:
    """The unit in which fio prints such latencies (nanoseconds)."""
    spread = Spread.of(values)
    for unit in ("ms", "us"):
        if spread.least > 2 * NS[unit] and spread.most > 99 * NS[unit]:
            return unit
    return "us" if spread.most > 99_999 else "ns"


def binary(count: float) -> str:
    """Bytes with a prefix of 1024."""
    return _prefixed(count, 1024, ("B", "KiB", "MiB", "GiB", "TiB"))


def decimal(count: float) -> str:
    """Bytes with a prefix of 1000."""
    return _prefixed(count, 1000, ("B", "kB", "MB", "GB", "TB"))


def binary_rate(rate: float) -> str:
    return f"{binary(rate)}/s"


def rate_text(rate: float) -> str:
    """Bytes per second with both kinds of prefix."""
    return f"{binary_rate(rate)} ({decimal(rate)}/s)"


def _count(value: float) -> str:
    return _prefixed(value, 1000, ("", "k", "M"))


def _prefixed(value: float, base: int, prefixes: Sequence[str]) -> str:
    number = 0
    while value >= base and number + 1 < len(prefixes):
        value, number = value / base, number + 1
    return f"{value:.4g}{prefixes[number]}" if value < 1000 else f"{value:.0f}{prefixes[number]}"
