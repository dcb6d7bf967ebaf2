"""`InFlight`: a command of a connection between its capsule and its completion."""

from dataclasses import dataclass

from flashtrain.nvme.wire.commands import Entry


@dataclass(eq=False, slots=True)
class InFlight:
    """A command in flight.

    - size: bytes that it moves. to_device: those from the host; data, received: what has come of them.
    - intact: whether all of them agreed with their digests.
    - started: it has its room among the data in transit.
    - refusal: the status of a refusal that waits for its turn.
    """

    entry: Entry
    size: int = 0
    to_device: int = 0
    data: bytes | bytearray = b""
    received: int = 0
    intact: bool = True
    started: bool = False
    refusal: int | None = None
