"""The machine's trace of a load, by blktrace and iostat, beside the drive's own."""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from .run import Step

TRACE = "trace"
"""The step whose load is compared."""

_SECTOR, _BLOCK = 512, 4096
_KINDS = {
    "read": "R", "write": "W", "zone_append": "W", "flush": "F",
    "zone_management_send": "N", "zone_management_receive": "D",
}  # fmt: skip
"""What blktrace calls a command: a read, a write, a flush, a change of a zone, and one of a program's own."""

_LINES = ("@marks", "@counts")
"""Of the machine: the marked blocks; KiB and requests, read and written."""

Request = tuple[str, int, int]
"""Kind, first block, number of blocks; without data, both are 0."""


def compare(console: Sequence[str], trace: Path) -> Step:
    """The result as a step: all requests are the same, and so are the sums that the kernel has."""
    found = {words[0]: words[1:] for line in console if (words := line.split()) and words[0] in _LINES}
    if len(found) < len(_LINES):
        return _step(False, "the machine has no trace")
    first, second = (int(text) for text in found["@marks"])
    ours, theirs = Counter(_between(trace, first, second)), _requests(console)
    if ours != theirs:
        return _step(False, f"the drive has also {_some(ours - theirs)}, the machine {_some(theirs - ours)}")
    kinds, sums = _sums(ours)
    # A change of a zone counts as a write of nothing, and a program's own command not at all.
    expected = [sums["R"], sums["W"], kinds["R"], kinds["W"] + kinds["N"]]
    counts = [int(text) for text in found["@counts"]]
    if counts != expected:
        return _step(False, f"KiB and requests, read and written, are {counts}; the drive has {expected}")
    data = f"{kinds['R']} reads of {sums['R']} KiB, {kinds['W']} writes of {sums['W']} KiB"
    return _step(True, f"the same in both: {data}, {kinds['N']} changes of zones, {kinds['D']} reports")


def _between(trace: Path, first: int, second: int) -> Iterator[Request]:
    """The commands of the first drive between the last reads of these two blocks."""
    with trace.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["drive"] == "1"]
    blocks = [int(row["slba"]) if row["opcode"] == "read" else -1 for row in rows]
    places = [[n for n, block in enumerate(blocks) if block == one] for one in (first, second)]
    if not all(places):
        return
    for row in rows[places[0][-1] + 1 : places[1][-1]]:
        yield _request(_KINDS.get(row["opcode"], row["opcode"]), int(row["slba"]), int(row["blocks"]))


def _requests(console: Sequence[str]) -> "Counter[Request]":
    """The requests that blktrace has seen. A program's request has sector 0, and the length of its data."""
    events = Counter(tuple(line.split()[1:]) for line in console if line.startswith("@event"))
    programs = Counter(tuple(line.split()[1:]) for line in console if line.startswith("@program"))
    found: Counter[Request] = Counter()
    for (kinds, sector, sectors), count in (events - programs).items():
        blocks = int(sectors) * _SECTOR // _BLOCK
        # A write of nothing is a change of a zone.
        kind = kinds[0] if blocks or kinds[0] != "W" else "N"
        found[_request(kind, int(sector) * _SECTOR // _BLOCK, blocks)] += count
    if programs:
        found[_request("D", 0, 0)] = programs.total()
    return found


def _request(kind: str, block: int, blocks: int) -> Request:
    return (kind, block, blocks) if kind in ("R", "W") else (kind, 0, 0)


def _sums(requests: "Counter[Request]") -> "tuple[Counter[str], Counter[str]]":
    """Requests and KiB of each kind."""
    kinds: Counter[str] = Counter()
    sums: Counter[str] = Counter()
    for (kind, _, blocks), count in requests.items():
        kinds[kind] += count
        sums[kind] += count * blocks * _BLOCK // 1024
    return kinds, sums


def _some(requests: "Counter[Request]") -> str:
    found = [f"{count} x {request}" for request, count in list(requests.items())[:4]]
    return f"{requests.total()} ({', '.join(found)})" if found else "none"


def _step(good: bool, detail: str) -> Step:
    return Step("trace-compared", good, 0.0, detail)
