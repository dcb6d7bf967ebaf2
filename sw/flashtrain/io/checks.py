"""Jobs against the configuration of a drive, before the drive is opened: their sizes, and what cannot be."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from math import lcm

from flashtrain.host.queues.queue_pair import QueuePair
from flashtrain.spec import Access, FmsConfig, NodeTable, Port, Stream
from flashtrain.spec.streams import JOURNAL
from flashtrain.ssd import SsdConfig

from .job import Job, Share
from .patterns import Direction

MOST_QUEUE_ENTRIES = 4096
LEAST_QUEUE_ENTRIES = 64
LEAST_SPARE_BYTES = 16 << 20
"""Of the tensor buffer, for the data of the lay-out."""
MOST_MEMORY_BYTES = 2 << 30
MOST_FILE_BLOCKS = 1 << 24
"""Logical blocks of a file on the flash, whose places are kept one by one."""
RING_ZONES = 1
"""Zones of a ring beyond its size: the one that is filled next, in which all is dead."""


def jobs_for_flash(jobs: Sequence[Job], config: FmsConfig, node: NodeTable) -> list[Job]:
    """The jobs with their sizes; :class:`JobError` for the first job that is impossible on such a device."""
    for job in jobs:
        _check_job(job, config, node)
    jobs = _sized_for_flash(jobs, config, node)
    for port in Port:
        entries = queue_entries(jobs, config, port)
        if entries > MOST_QUEUE_ENTRIES:
            first = next(job for job in jobs if job.port is port)
            raise first.error(
                "iodepth", f"takes queues of {entries} entries over all jobs of port"
                f" {port.name.lower()}; expected at most {MOST_QUEUE_ENTRIES}",
            )  # fmt: skip
    most = min(MOST_MEMORY_BYTES, 1 << config.address_bits)
    if (needed := memory_bytes(jobs, config)) > most:
        raise jobs[0].error(
            "iodepth",
            f"takes a tensor buffer of {needed} bytes over all jobs; expected at most {most}",
        )  # fmt: skip
    return jobs


def jobs_for_ssd(jobs: Sequence[Job], config: SsdConfig) -> list[Job]:
    """The jobs with their sizes; :class:`JobError` for the first job that is impossible on such an array."""
    page, capacity = config.geometry.page_bytes, config.capacity_bytes
    for job in jobs:
        _check_blocks(job, page, f"a page of {config.name}")
        if job.offset % page or job.offset_increment % page:
            raise job.error("offset", f"expected multiples of {page}, a page of {config.name}")
        limits = job.rate.of(Direction.TRIM), job.rate_iops.of(Direction.TRIM), job.thinktime
        if job.rw.trims and job.time_based and not any(limits):
            raise job.error("time_based", "is set, and a trim takes no time; expected a rate or a thinktime")
        if job.zoned:
            raise job.error("zonemode", "is 'zbd'; expected none: the drive has no zones")
    files = {file_key(job, copy): None for job in jobs for copy in range(job.numjobs)}
    room = capacity // len(files)
    sized = []
    for job in jobs:
        behind = job.offset + (job.numjobs - 1) * job.offset_increment
        if room - behind < job.bs.most:
            raise job.error("offset", f"is up to {behind}; expected less than {room}")
        sized.append(_with_size(job, room - behind, page))
    ends: dict[str, int] = {}
    for job in sized:
        end = job.offset + (job.numjobs - 1) * job.offset_increment + job.bytes
        ends |= {(key := file_key(job, copy)): max(ends.get(key, 0), end) for copy in range(job.numjobs)}
    if (needed := sum(ends.values())) > capacity:
        raise jobs[0].error("size", f"is {needed} bytes over all files; expected at most {capacity}")
    return sized


def file_key(job: Job, copy: int) -> str:
    """The identity of a copy's file on a drive with addresses: all jobs with one `filename` share it."""
    return job.filename or f"{job.place}\0{job.name}\0{copy}"


def _with_size(job: Job, room: int, block: int) -> Job:
    """The job with a size in bytes: its own, or all or a share of `room`; whole blocks."""
    size = job.size
    if size is None or isinstance(size, Share):
        size = int(room * (1.0 if size is None else size.percent / 100))
    size -= size % block
    if size < job.bs.most:
        raise job.error("size", f"is {size}; expected at least bs, {job.bs.most}")
    if job.strides and size < job.strides.range:
        raise job.error("zonerange", f"is {job.strides.range}; expected at most size, {size}")
    return replace(job, size=size)


def _check_blocks(job: Job, block: int, what: str) -> None:
    for size in (size for each in job.rw.directions for size in job.bs.of(each).bytes):
        if size % block:
            raise job.error("bs", f"is {size}; expected a multiple of {block}, {what}")
    if job.rw.step % block:
        raise job.error("rw", f"is {job.rw.name!r}; expected a step of a multiple of {block}, {what}")
    zones = {"zonesize": job.zonesize, "zonerange": job.zonerange, "zoneskip": job.zoneskip}
    for name, count in {"ba": job.align, **zones}.items():
        if count is not None and count % block:
            raise job.error(name, f"is {count}; expected a multiple of {block}, {what}")


def queue_entries(jobs: Sequence[Job], config: FmsConfig, port: Port | None = None) -> int:
    """Entries of a queue that holds all commands in flight of a port, or of the port with the most."""
    if port is None:
        return max(LEAST_QUEUE_ENTRIES, *(queue_entries(jobs, config, port) for port in Port))
    commands = sum(
        job.numjobs * job.iodepth * (1 + -(-job.bs.most // (config.max_blocks * config.geometry.page_bytes)))
        for job in jobs
        if job.port is port
    )
    return commands + LEAST_QUEUE_ENTRIES // 2 if commands else 0


def memory_bytes(jobs: Sequence[Job], config: FmsConfig) -> int:
    """Tensor buffer for the queues, the commands in flight, and the lay-out."""
    queues = len(Port) * QueuePair.size_bytes(min(queue_entries(jobs, config), MOST_QUEUE_ENTRIES))
    in_flight = sum(job.numjobs * job.iodepth * job.bs.most for job in jobs)
    spare = max(LEAST_SPARE_BYTES, *(4 * job.bs.most for job in jobs))
    unit = lcm(config.geometry.page_bytes, 4096)
    return -(-(queues + in_flight + spare) // unit) * unit


def port_with(stream: Stream, access: Access, first: Port) -> Port | None:
    """A port that has this access, `first` if it has; None if no port has it."""
    return next((port for port in (first, *Port) if access in stream.access(port)), None)


def _check_job(job: Job, config: FmsConfig, node: NodeTable) -> None:
    names = [stream.name for stream in node.streams if stream.name != JOURNAL]
    if job.stream not in names:
        raise job.error("stream", f"is {job.stream!r}; expected one of {', '.join(names)}")
    _check_blocks(job, config.geometry.page_bytes, f"a logical block of {config.name}")
    if job.rw.trims:
        raise job.error("rw", f"is {job.rw.name!r}: zones are reset whole; expected --drive ssd for trims")
    if job.rw.random and not job.rw.reads and not job.zoned:
        raise job.error(
            "rw", "is 'randwrite': a stream is only appended to; expected write,"
            " zonemode=zbd, or a conventional drive (--drive ssd)",
        )  # fmt: skip
    if job.rw.step and job.rw.writes:
        raise job.error("rw", f"is {job.rw.name!r}: a stream is written in order; expected no step")
    if job.strides and job.rw.writes:
        raise job.error("zonesize", "is set: a stream is written in order; expected reads")
    stream = node.named(job.stream)
    for needed, access, verb in (
        (job.rw.reads, Access.READ, "read"),
        (job.rw.writes, Access.APPEND, "append to"),
    ):
        if not needed or access in stream.access(job.port):
            continue
        able = [port.name.lower() for port in Port if access in stream.access(port)]
        raise job.error(
            "port",
            f"is {job.port.name.lower()}, which may not {verb} stream {job.stream!r};"
            f" expected {' or '.join(able) or 'another stream'}",
        )  # fmt: skip
    if job.checks_at_end and port_with(stream, Access.READ, job.port) is None:
        raise job.error("verify", f"is set, and no port may read stream {job.stream!r}")
    if job.rw.reads and port_with(stream, Access.APPEND, job.port) is None:
        raise job.error("stream", f"is {job.stream!r}, to which no port may append")


def _sized_for_flash(jobs: Sequence[Job], config: FmsConfig, node: NodeTable) -> list[Job]:
    """Jobs without a size share what the others leave of their stream."""
    g = config.geometry
    zones, zone_bytes = node.zones(g.zones), g.zone_capacity * g.page_bytes
    by_stream: dict[str, list[Job]] = defaultdict(list)
    for job in jobs:
        by_stream[job.stream].append(job)
    rooms: dict[str, int] = {}
    for name, sharing in by_stream.items():
        is_ring = any(is_ring_job(job) for job in sharing)
        room = (len(zones[node.named(name).nsid]) - RING_ZONES * is_ring) * zone_bytes
        given = sum(job.numjobs * job.size for job in sharing if isinstance(job.size, int))
        if given > room:
            reason = ", a zone of the ring aside" if is_ring else ""
            raise sharing[0].error(
                "size",
                f"is {given} bytes over all jobs of stream {name!r};"
                f" expected at most {max(room, 0)}{reason}",
            )  # fmt: skip
        copies = sum(job.numjobs for job in sharing if not isinstance(job.size, int))
        rooms[name] = (room - given) // max(1, copies)
    most = MOST_FILE_BLOCKS * g.page_bytes
    sized = [_with_size(job, min(rooms[job.stream], most), g.page_bytes) for job in jobs]
    for job in sized:
        if job.bytes > most:
            raise job.error("size", f"is {job.bytes}; expected at most {most}")
    return sized


def is_ring_job(job: Job) -> bool:
    """Whether writes go on when `size` is stored, in the place of the oldest."""
    moves_more = job.loops > 1 or (isinstance(job.size, int) and (job.io_size or 0) > job.size)
    return job.rw.writes and (job.time_based or job.rw.reads or moves_more)
