"""The options of a job: their names, values and limits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flashtrain.spec import Port

from .errors import JobError
from .job import Job, Rates
from .patterns import NAMES, pattern
from .units import ValueMistake, flag, integer, nanoseconds, size_bytes

MOST_DEPTH = 1024
MOST_JOBS = 256


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
    if text not in ("crc32c", "0"):
        raise ValueMistake("crc32c, or 0 for none")
    return text == "crc32c"


def _rates(text: str) -> Rates:
    """One limit for each direction, or `READS,APPENDS`, of which one may be empty."""
    first, comma, second = text.partition(",")
    try:
        read = size_bytes(first) if first else None
        append = size_bytes(second) if second else None
    except ValueMistake:
        read = append = None
    if read is append is None:
        raise ValueMistake("a number per second such as 100m, or two: READS,APPENDS")
    return Rates(read, append if comma else read)


@dataclass(frozen=True)
class Option:
    """An option: `parse` makes its value of a text, and raises `ValueMistake`."""

    name: str
    metavar: str
    help: str
    parse: Callable[[str], Any]

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


OPTIONS = {
    option.name: option
    for option in (
        Option("name", "NAME", "of the job", _text),
        Option("rw", "PATTERN", f"{', '.join(NAMES)} (default: read)", pattern),
        Option("bs", "SIZE", "bytes of a command, whole logical blocks (default: 4k)", size_bytes),
        Option("size", "SIZE", "bytes that the job appends or reads, or its ring holds", size_bytes),
        Option("stream", "NAME", "stream of the device (default: activations)", _text),
        Option("port", "PORT", "port that the commands come from: host, core (default)", _port),
        Option("iodepth", "N", "commands in flight (default: 1)", integer(1, MOST_DEPTH)),
        Option("numjobs", "N", "copies of the job, at the same time (default: 1)", integer(1, MOST_JOBS)),
        Option("rwmixread", "PERCENT", "reads of a mix (default: 50)", integer(0, 100)),
        Option("runtime", "TIME", "most simulated time", nanoseconds),
        Option("ramp_time", "TIME", "simulated time before anything counts", nanoseconds),
        Option("time_based", "1", "start over at the end of size, until the end of runtime", flag),
        Option("rate", "SIZE", "most bytes per second of each direction; or READS,APPENDS", _rates),
        Option("rate_iops", "N", "most commands per second of each direction", _rates),
        Option("verify", "crc32c", "check all that is read, and read all that was appended", _verify),
        Option("randseed", "N", "seed of contents and of random orders (default: 1)", integer(0, 2**32 - 1)),
    )
}  # fmt: skip


def job_of(values: Mapping[str, Any], name: str, place: str) -> Job:
    """A job of parsed options; :class:`JobError` for options that do not fit together."""
    if "size" not in values:
        raise JobError(place, "size", "is missing; expected a number of bytes, such as 16m")
    job = Job(**{"name": name, **values}, place=place)
    if job.size < job.bs:
        raise JobError(place, "size", f"is {job.size}; expected at least bs, {job.bs}")
    if job.time_based and job.runtime is None:
        raise JobError(place, "runtime", "is missing; expected a time, since time_based is set")
    return job
