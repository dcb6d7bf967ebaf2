"""Footprint of a command: all that it may touch once it passes checks 1 to 7, whatever the others find."""

from typing import NamedTuple

from flashtrain.spec import Opcode, Submission

from .checks import DATA, Surroundings, data_bytes, is_commit

_READ_MEMORY = frozenset({Opcode.ZONE_APPEND, Opcode.WRITE, Opcode.SET_CONSTANTS})


class Footprint(NamedTuple):
    """streams: whose state it depends on or changes; start, end: its bytes of the tensor buffer, which it
    writes to where `writes`; none where both are 0.
    """

    streams: tuple[int, ...]
    start: int
    end: int
    writes: bool


def footprint(entry: int, around: Surroundings) -> Footprint:
    s, opcode = Submission, Submission.opcode.get(entry)
    streams = (s.nsid.get(entry),)
    if opcode == Opcode.UPDATE or is_commit(entry):
        streams += (s.source.get(entry),)
    if opcode not in DATA:
        return Footprint(streams, 0, 0, False)
    address = s.address.get(entry)
    return Footprint(streams, address, address + data_bytes(entry, around), opcode not in _READ_MEMORY)
