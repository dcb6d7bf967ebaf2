"""The results of jobs as a document, with the names of fio's JSON where it has them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .block_sizes import BlockSizes
from .job import Job
from .patterns import Direction
from .run import JobResult
from .samples import Samples, Spread, Window, depth_shares, latency_shares, percentiles
from .text import BANDWIDTH_SAMPLES


def job_document(result: JobResult) -> dict[str, Any]:
    """One job. Latencies are nanoseconds, `bw` is KiB/s, `runtime` is milliseconds, as in fio's.

    Both directions are there, of which one may have no commands. Values that need time are None without it.
    """
    window = next(iter(result.samples.values())).window
    nothing = Samples(np.empty((0, 3), np.int64), np.empty(0, np.int64), window)
    every = np.concatenate([samples.latency for samples in result.samples.values()])
    shares = latency_shares(every if window.seconds else every[:0])
    return {
        "jobname": result.name,
        "error": int(result.wrong_count > 0),
        "job options": _options(result.job),
        "groupid": result.group,
        "job count": result.copies,
        **{
            each.value: _direction(result.samples.get(each, nothing), result.job.percentile_list)
            for each in Direction
        },
        "job_runtime": _milliseconds(window),
        "iodepth_level": depth_shares(result.depths),
        **{f"latency_{unit}": by_end for unit, by_end in shares.items()},
        "verify": {
            "checked": result.checked,
            "wrong": result.wrong_count,
            "blocks": [
                {
                    "offset": block.offset, "stream": block.stream, "lba": block.lba, "bits": block.bits,
                    "byte": block.byte, "bit": block.bit, "value": block.value,
                }
                for block in result.wrong
            ],
        } if result.job.verify else None,
    }  # fmt: skip


def _options(job: Job) -> dict[str, Any]:
    def rates(name: str) -> dict[str, list[int | None]]:
        limits = [getattr(job, name).of(each) for each in Direction]
        return {name: limits} if any(limits) else {}

    return {
        "name": job.name, "rw": job.rw.name, "bs": _sizes(job.bs), "size": job.size, "io_size": job.io_size,
        "stream": job.stream, "port": job.port.name.lower(), "iodepth": job.iodepth, "numjobs": job.numjobs,
        "rwmixread": job.rwmixread, "runtime_ns": job.runtime, "ramp_time_ns": job.ramp_time,
        "time_based": job.time_based, **rates("rate"), **rates("rate_iops"),
        "verify": "crc32c" if job.verify else None, "randseed": job.randseed, "ignored": list(job.ignored),
    }  # fmt: skip


def _sizes(sizes: BlockSizes) -> int | dict[str, dict[str, float]]:
    """The one size of all commands, or the shares of sizes by direction."""
    if sizes.least == sizes.most:
        return sizes.least
    return {
        each.value: dict(zip(map(str, sizes.of(each).bytes), sizes.of(each).weights, strict=True))
        for each in Direction
    }


def _direction(samples: Samples, percentages: Sequence[float]) -> dict[str, Any]:
    rate = samples.bytes_per_second
    timed = rate is not None
    bins = samples.bandwidths(BANDWIDTH_SAMPLES) if timed else np.empty(0)
    of_bins = Spread.of(bins / 1024)
    return {
        "io_bytes": samples.bytes,
        "io_kbytes": samples.bytes / 1024,
        "bw_bytes": rate,
        "bw": rate / 1024 if rate is not None else None,
        "iops": samples.iops,
        "runtime": _milliseconds(samples.window),
        "total_ios": samples.commands,
        "slat_ns": _latency(samples.submission) if timed else None,
        "clat_ns": _with_percentiles(samples.completion, percentages) if timed else None,
        "lat_ns": _latency(samples.latency) if timed else None,
        "bw_min": of_bins.least,
        "bw_max": of_bins.most,
        "bw_mean": of_bins.mean,
        "bw_dev": of_bins.deviation,
        "bw_samples": of_bins.count,
    }


def _latency(values: NDArray[np.float64]) -> dict[str, Any]:
    spread = Spread.of(values)
    return {
        "min": spread.least, "max": spread.most, "mean": spread.mean, "stddev": spread.deviation,
        "N": spread.count,
    }  # fmt: skip


def _with_percentiles(values: NDArray[np.float64], percentages: Sequence[float]) -> dict[str, Any]:
    found = {f"{key:.6f}": value for key, value in percentiles(values, percentages).items()}
    return {**_latency(values), "percentile": found}


def _milliseconds(window: Window) -> float:
    return window.seconds * 1e3
