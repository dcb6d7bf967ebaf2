"""Checks of jobs against a device's configuration, before the device is opened."""

from collections import defaultdict
from collections.abc import Sequence
from math import lcm

from flashtrain.host.queues.queue_pair import QueuePair
from flashtrain.spec import Access, FmsConfig, NodeTable, Port, Stream
from flashtrain.spec.streams import JOURNAL

from .errors import JobError
from .job import Job

MOST_QUEUE_ENTRIES = 4096
LEAST_QUEUE_ENTRIES = 64
LEAST_SPARE_BYTES = 16 << 20
"""Of the tensor buffer, for the data of the lay-out."""
MOST_MEMORY_BYTES = 2 << 30
RING_ZONES = 1
"""Zones of a ring beyond its size: the one that is filled next, in which all is dead."""


def check_jobs(jobs: Sequence[Job], config: FmsConfig, node: NodeTable) -> None:
    """:class:`JobError` for the first job that is impossible on such a device."""
    for job in jobs:
        _check_job(job, config, node)
    _check_room(jobs, config, node)
    for port in Port:
        entries = queue_entries(jobs, config, port)
        if entries > MOST_QUEUE_ENTRIES:
            place = next(job.place for job in jobs if job.port is port)
            raise JobError(
                place, "iodepth", f"takes queues of {entries} entries over all jobs of port"
                f" {port.name.lower()}; expected at most {MOST_QUEUE_ENTRIES}",
            )  # fmt: skip
    most = min(MOST_MEMORY_BYTES, 1 << config.address_bits)
    if (needed := memory_bytes(jobs, config)) > most:
        raise JobError(
            jobs[0].place, "iodepth",
            f"takes a tensor buffer of {needed} bytes over all jobs; expected at most {most}",
        )  # fmt: skip


def queue_entries(jobs: Sequence[Job], config: FmsConfig, port: Port | None = None) -> int:
    """Entries of a queue that holds all commands in flight of a port, or of the port with the most."""
    if port is None:
        return max(LEAST_QUEUE_ENTRIES, *(queue_entries(jobs, config, port) for port in Port))
    commands = sum(
        job.numjobs * job.iodepth * (1 + -(-job.bs // (config.max_blocks * config.geometry.page_bytes)))
        for job in jobs
        if job.port is port
    )
    return commands + LEAST_QUEUE_ENTRIES // 2 if commands else 0


def memory_bytes(jobs: Sequence[Job], config: FmsConfig) -> int:
    """Tensor buffer for the queues, the commands in flight, and the lay-out."""
    queues = len(Port) * QueuePair.size_bytes(min(queue_entries(jobs, config), MOST_QUEUE_ENTRIES))
    in_flight = sum(job.numjobs * job.iodepth * job.bs for job in jobs)
    spare = max(LEAST_SPARE_BYTES, *(4 * job.bs for job in jobs))
    unit = lcm(config.geometry.page_bytes, 4096)
    return -(-(queues + in_flight + spare) // unit) * unit


def port_with(stream: Stream, access: Access, first: Port) -> Port | None:
    """A port that has this access, `first` if it has; None if no port has it."""
    return next((port for port in (first, *Port) if access in stream.access(port)), None)


def _check_job(job: Job, config: FmsConfig, node: NodeTable) -> None:
    names = [stream.name for stream in node.streams if stream.name != JOURNAL]
    if job.stream not in names:
        raise JobError(job.place, "stream", f"is {job.stream!r}; expected one of {', '.join(names)}")
    page = config.geometry.page_bytes
    if job.bs % page:
        raise JobError(
            job.place, "bs", f"is {job.bs}; expected a multiple of {page}, a logical block of {config.name}"
        )
    stream = node.named(job.stream)
    for needed, access, verb in (
        (job.rw.reads, Access.READ, "read"),
        (job.rw.appends, Access.APPEND, "append to"),
    ):
        if not needed or access in stream.access(job.port):
            continue
        able = [port.name.lower() for port in Port if access in stream.access(port)]
        raise JobError(
            job.place, "port",
            f"is {job.port.name.lower()}, which may not {verb} stream {job.stream!r};"
            f" expected {' or '.join(able) or 'another stream'}",
        )  # fmt: skip
    if job.rw.appends and job.verify and port_with(stream, Access.READ, job.port) is None:
        raise JobError(job.place, "verify", f"is set, and no port may read stream {job.stream!r}")
    if job.rw.reads and port_with(stream, Access.APPEND, job.port) is None:
        raise JobError(job.place, "stream", f"is {job.stream!r}, to which no port may append")


def _check_room(jobs: Sequence[Job], config: FmsConfig, node: NodeTable) -> None:
    g = config.geometry
    zones, zone_bytes = node.zones(g.zones), g.zone_capacity * g.page_bytes
    by_stream: dict[str, list[Job]] = defaultdict(list)
    for job in jobs:
        by_stream[job.stream].append(job)
    for name, sharing in by_stream.items():
        is_ring = any(is_ring_job(job) for job in sharing)
        room = (len(zones[node.named(name).nsid]) - RING_ZONES * is_ring) * zone_bytes
        needed = sum(job.numjobs * job.blocks * job.bs for job in sharing)
        if needed > room:
            reason = ", a zone of the ring aside" if is_ring else ""
            raise JobError(
                sharing[0].place, "size",
                f"is {needed} bytes over all jobs of stream {name!r};"
                f" expected at most {max(room, 0)}{reason}",
            )  # fmt: skip


def is_ring_job(job: Job) -> bool:
    """Whether appends go on when `size` is stored, in the place of the oldest."""
    return job.rw.appends and (job.time_based or job.rw.reads)
