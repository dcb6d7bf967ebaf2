"""The options of a job that have a meaning here: their names, values and limits."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from flashtrain.spec import Port

from .block_sizes import fixed, ranged, split
from .errors import JobError
from .job import ExitWhat, Job, Rates, Share, ZoneMode
from .offsets import distribution
from .patterns import pattern
from .units import ValueMistake, byte_count, flag, integer, size_bytes, time_in

MOST_DEPTH = 1024
MOST_JOBS = 256
MOST_PERCENTILES = 20
"""As in fio."""
VERIFIES = frozenset(
    "md5 crc64 crc32c crc32c-intel crc32 crc16 crc7 xxhash sha512 sha256 sha1 sha3-224 sha3-256 sha3-384"
    " sha3-512 meta pattern pattern_hdr".split()
)
"""fio's methods; each checks whole contents here, with a CRC32C in each logical block."""


def _text(text: str) -> str:
    if not text:
        raise ValueMistake("a name")
    return text


def _port(text: str) -> Port:
    ports = {port.name.lower(): port for port in Port}
    if text not in ports:
        raise ValueMistake(f"one of {', '.join(ports)}")
    return ports[text]


def _verify(text: str) -> bool:
    if text in ("0", "none", "null"):
        return False
    if text not in VERIFIES:
        raise ValueMistake("crc32c or another method of fio, or 0 for none")
    return True


def _size(text: str) -> int | Share:
    """Bytes, or a percentage of what the drive has."""
    if text.endswith("%"):
        try:
            share = float(text[:-1])
        except ValueError:
            share = 0.0
        if not 0 < share <= 100:
            raise ValueMistake("a percentage above 0, at most 100%")
        return Share(share)
    return size_bytes(text)


def _filesize(text: str) -> int:
    """Bytes of a file; of a range the most."""
    return size_bytes(text.rpartition("-")[2])


def _rates(text: str) -> Rates:
    """One limit for each direction, or `READS,WRITES[,TRIMS]`, of which one may be empty; 0 is no limit."""
    parts = text.split(",")
    try:
        rates = [byte_count(part) or None if part else None for part in parts]
    except ValueMistake:
        rates = []
    if not any(parts) or not 0 < len(rates) <= 3:
        raise ValueMistake("a number per second such as 100m, or two: READS,WRITES")
    return Rates(rates[0], rates[1] if len(rates) > 1 else rates[0], *rates[2:])


def _runtime(text: str) -> int | None:
    return _seconds(text) or None


def _identical(text: str) -> bool:
    if text not in ("sequential", "identical"):
        raise ValueMistake("sequential or identical")
    return text == "identical"


def _poisson(text: str) -> bool:
    if text not in ("linear", "poisson"):
        raise ValueMistake("linear or poisson")
    return text == "poisson"


def _one_of(kind: type[Enum]) -> Callable[[str], Enum]:
    """The kind of members of an enumeration, by their values."""

    def member(text: str) -> Enum:
        try:
            return kind(text)
        except ValueError:
            raise ValueMistake(f"one of {', '.join(str(each.value) for each in kind)}") from None

    return member


def _percentiles(text: str) -> tuple[float, ...]:
    try:
        values = tuple(float(part) for part in re.split("[:,]", text))
    except ValueError:
        values = ()
    if not 0 < len(values) <= MOST_PERCENTILES or not all(0 < value <= 100 for value in values):
        raise ValueMistake(f"at most {MOST_PERCENTILES} percentages, such as 50:99:99.9")
    return tuple(sorted(values))


@dataclass(frozen=True)
class Option:
    """An option: `parse` makes the value of the job's `field` from a text, and raises `ValueMistake`."""

    name: str
    metavar: str
    help: str
    parse: Callable[[str], Any]
    field: str = ""
    swept: bool = True

    @property
    def sets(self) -> str:
        """The field of `Job` that the option sets."""
        return self.field or self.name

    @property
    def is_flag(self) -> bool:
        """Whether the name alone sets it."""
        return self.parse is flag

    def value(self, text: str, place: str) -> Any:
        """The value of a text; :class:`JobError` with what is expected."""
        try:
            return self.parse(text)
        except ValueMistake as mistake:
            raise JobError(place, self.name, f"is {text!r}; expected {mistake}") from None


_seconds = time_in("s")

COMMON = frozenset("rw bs size stream port iodepth numjobs rwmixread runtime time_based rate verify".split())
"""Options that the help of the command shows; docs/io.md has all."""

OPTIONS = {
    option.name: option
    for option in (
        Option("name", "NAME", "of the job", _text, swept=False),
        Option("rw", "PATTERN", "read, write, rw or trim, or the same behind rand (default: read)", pattern),
        Option("bs", "SIZE", "bytes of a command, whole logical blocks (default: 4k)", fixed),
        Option("blocksize_range", "RANGE", "LEAST-MOST: multiples of the least size", ranged, "bs"),
        Option("bssplit", "LIST", "SIZE/PERCENT:SIZE/PERCENT...", split, "bs"),
        Option("size", "SIZE", "bytes of the job's file (default: all that is free)", _size, swept=False),
        Option("io_size", "SIZE", "bytes that the job moves (default: size)", size_bytes),
        Option("number_ios", "N", "most commands", integer(1, 10**15)),
        Option("loops", "N", "rounds of io_size (default: 1)", integer(1, 10**9)),
        Option("offset", "SIZE", "begin of the job's part of a shared file, on ssd", byte_count),
        Option("offset_increment", "SIZE", "the same for each copy of the job, on ssd", byte_count),
        Option("filename", "NAME", "file that jobs share, on ssd", _text, swept=False),
        Option("stream", "NAME", "stream of the device (default: activations)", _text, swept=False),
        Option("port", "PORT", "port that the commands come from: host, core (default)", _port, swept=False),
        Option("iodepth", "N", "commands in flight (default: 1)", integer(1, MOST_DEPTH)),
        Option("numjobs", "N", "copies of the job, at the same time (default: 1)", integer(1, MOST_JOBS)),
        Option("rwmixread", "PERCENT", "reads of a mix (default: 50)", integer(0, 100)),
        Option("rwmixwrite", "PERCENT", "writes of a mix (default: 50)",
               lambda text: 100 - integer(0, 100)(text), "rwmixread"),
        Option("percentage_random", "PERCENT", "random offsets of a random pattern (default: 100)",
               integer(0, 100)),
        Option("norandommap", "1", "random offsets may repeat before all have had their turn", flag),
        Option("random_distribution", "SHAPE", "random, zipf:THETA, pareto:POWER, zoned:LIST and others",
               distribution),
        Option("startdelay", "TIME", "simulated time before the job begins", _seconds),
        Option("runtime", "TIME", "most simulated time", _runtime),
        Option("ramp_time", "TIME", "simulated time before anything counts", _seconds),
        Option("time_based", "1", "start over at the end of size, until the end of runtime", flag),
        Option("rate", "SIZE", "most bytes per second of each direction; or READS,WRITES", _rates),
        Option("rate_iops", "N", "most commands per second of each direction", _rates),
        Option("rate_process", "KIND", "linear (default), or poisson: random gaps", _poisson, "poisson"),
        Option("thinktime", "TIME", "time without a command", time_in("us")),
        Option("thinktime_blocks", "N", "commands between two of those (default: 1)", integer(1, 10**9)),
        Option("fsync", "N", "writes between two flushes", integer(0, 10**9)),
        Option("fdatasync", "N", "the same", integer(0, 10**9), "fsync"),
        Option("end_fsync", "1", "flush at the end of the job", flag),
        Option("verify", "crc32c", "check what is read, and read what was written", _verify, swept=False),
        Option("do_verify", "0", "with 0: do not read what was written to check it", flag, swept=False),
        Option("randseed", "N", "seed of contents and of random orders (default: 1)", integer(0, 2**32 - 1)),
        Option("stonewall", "1", "begin when all jobs before have ended", flag, swept=False),
        Option("new_group", "1", "begin a new group of reports", flag, swept=False),
        Option("group_reporting", "1", "one report for all jobs of a group", flag, swept=False),
        Option("exitall", "1", "end all jobs of a group with the first that ends", flag, swept=False),
        Option("zonemode", "MODE", "zbd, strided or none", _one_of(ZoneMode), swept=False),
        Option("zonesize", "SIZE", "bytes that move in a strided zone before the next one", size_bytes),
        Option("zonerange", "SIZE", "bytes of a strided zone (default: zonesize)", size_bytes),
        Option("zoneskip", "SIZE", "bytes between strided zones", byte_count),
        Option("wait_for", "NAME", "begin when all jobs of this name have ended", _text, swept=False),
        Option("exit_what", "WHICH", "group, stonewall or all", _one_of(ExitWhat), swept=False),
        Option("flow", "N", "commands in proportion to those of the other jobs", integer(0, 10**6)),
        Option("flow_id", "N", "jobs in proportion to each other", integer(0, 10**6), swept=False),
        Option("ba", "SIZE", "random offsets are its multiples (default: the least bs)", size_bytes, "align"),
        Option("rw_sequencer", "KIND", "sequential, or identical", _identical, "same_offset", swept=False),
        Option("filesize", "SIZE", "the size of a job without one", _filesize, swept=False),
        Option("fill_device", "1", "take all that is free", flag, swept=False),
        Option("percentile_list", "LIST", "percentages, such as 50:99:99.9", _percentiles, swept=False),
    )
}  # fmt: skip


def job_of(values: Mapping[str, Any], **more: Any) -> Job:
    """A job of parsed options, by field, and of `more`; :class:`JobError` for what does not fit together."""
    job = Job(**{**more, **values})
    size = job.filesize if job.size is None else job.size
    job = replace(job, size=None if job.fill_device else size)
    if isinstance(job.size, int) and job.size < job.bs.most:
        raise job.error("size", f"is {job.size}; expected at least bs, {job.bs.most}")
    if job.zonemode is ZoneMode.STRIDED and job.zonesize is None:
        raise job.error("zonesize", "is missing; expected bytes, since zonemode is strided")
    if job.zoneskip and job.strides is None:
        raise job.error("zoneskip", "is set; expected strided zones, with a zonesize")
    if job.time_based and job.runtime is None:
        raise job.error("runtime", "is missing; expected a time, since time_based is set")
    return job
