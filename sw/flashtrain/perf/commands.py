"""How fast commands are taken."""

from flashtrain.host import Device
from flashtrain.spec import Opcode, Port, Submission, ZoneAction

from .append import STREAM
from .measurement import BenchmarkError, Measurement

COMMANDS = 4000
QUICK_COMMANDS = 1000
MOST_CLOCKS = 16
"""A command has to be accepted in as many clocks."""


def command_interval(device: Device, quick: bool = False) -> Measurement:
    """Clocks per command of a long burst from one port, from the doorbell to the last answer.

    The commands open a zone that is open: they are fetched, decoded, checked against the zone's entry,
    executed and answered, and no data moves that would be the limit.
    """
    stream = device.stream(STREAM, Port.CORE)
    stream.open_zone(0)
    count = QUICK_COMMANDS if quick else COMMANDS
    s = Submission
    entry = (
        s.opcode.put(Opcode.ZONE_MANAGEMENT_SEND) | s.nsid.put(stream.nsid) | s.action.put(ZoneAction.OPEN)
    )
    first_clock = device.clocks
    answers = device.submit_raw_batch((Port.CORE, entry | s.cid.put(cid)) for cid in range(count))
    clocks = device.clocks - first_clock
    refused = [answer for answer in answers if not answer.ok]
    if refused:
        raise BenchmarkError(f"a command of the burst was refused: {refused[0]}")
    return Measurement(
        value=clocks / count,
        unit="clocks",
        bound=MOST_CLOCKS,
        clocks=clocks,
        note=f"{count} commands without data, answers included; to reach: {MOST_CLOCKS} clocks",
    )
