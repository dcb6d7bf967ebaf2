"""Comparison of two devices: the same commands for both, and every answer and every byte compared."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.device import STATE_STREAMS, Device
from flashtrain.host.link import Link
from flashtrain.host.opening import open_device
from flashtrain.host.queues.entries import CompletionEntry, defined_result
from flashtrain.host.streams.zone_info import blank_sequences
from flashtrain.spec import FlashtrainError, FmsConfig, NodeTable, Opcode, Submission
from flashtrain.spec.registers import Control, Register
from flashtrain.spec.streams import SINGLE_NODE, Retention

from .random_commands import RandomCommands, RawCommand
from .random_updates import random_step, state_nsids

_PASSES, _SECONDS = 0.2, (1, 29, 31, *(end for which in Retention for end in (which.due, which.limit)))
"""The probability that time passes between two batches, and the seconds that may pass."""
_QUEUE_ENTRIES = 12
"""Few entries, so that queues are often full and wrap."""


class Mismatch(FlashtrainError):
    """Two Links gave different answers; the message has the seed and the command."""


@dataclass
class _Side:
    """One device, and the part of its tensor buffer that holds the commands' data."""

    name: str
    device: Device
    arena: NDArray[np.uint8]

    def run(self, commands: list[RawCommand], data: NDArray[np.uint8]) -> dict[int, CompletionEntry]:
        """Submit a batch over fresh data; the answers by command identifier."""
        self.arena[:] = data
        answers = self.device.submit_raw_batch((command.port, command.entry()) for command in commands)
        return {answer.cid: answer for answer in answers}


def compare_links(
    config: FmsConfig,
    seed: int,
    commands: int,
    link_a: Link,
    link_b: Link,
    node: NodeTable = SINGLE_NODE,
    recovering: bool = False,
) -> dict[str, int]:
    """Run `commands` random commands on two open Links of `config`; returns the count of each status.

    Both ports have commands in flight in a batch, and the order of completion is free. After each batch the
    statuses, results, ports and all data in the tensor buffer are compared. :class:`Mismatch` names the
    first difference, which the same seed reproduces.

    recovering: run the commands during a recovery of empty flash; pages are inspected raw, too.
    """
    random, raw = Random(seed), Random(f"{seed}/raw")
    most = 2 * _QUEUE_ENTRIES
    piece_bytes = RandomCommands.piece_blocks(config) * config.geometry.page_bytes
    statuses: dict[str, int] = {}
    with _open(config, link_a, node) as device_a, _open(config, link_b, node) as device_b:
        sides = [
            _Side(name, device, device.buffer(most * piece_bytes, np.uint8))
            for name, device in (("first", device_a), ("second", device_b))
        ]
        if recovering:
            for device in (device_a, device_b):
                device.disable()
                device.begin_recovery()
        elif state_nsids(node):
            for device in (device_a, device_b):
                device.state_stream(STATE_STREAMS[0]).set_constants_async(random_step(config)).result()
        base = device_a.address_of(sides[0].arena)
        source = RandomCommands(
            random, config, node, lambda number: base + number * piece_bytes, len(link_a.memory), recovering
        )
        done = now = 0
        while done < commands:
            for name in STATE_STREAMS if state_nsids(node) and not recovering else ():
                stream = device_a.stream(name)
                source.learn(stream.nsid, stream.report())
            if not recovering and random.random() < _PASSES:
                now = (now + random.choice(_SECONDS)) % (1 << 32)
                for link in (link_a, link_b):
                    link.write_register(Register.TIME, now)
            if recovering:
                how = Control.ENABLE | Control.RECOVER | raw.choice([Control(0), Control.RAW])
                for link in (link_a, link_b):
                    link.write_register(Register.CONTROL, how)
            batch = source.batch(min(commands - done, random.randint(1, most)))
            data = np.frombuffer(random.randbytes(len(sides[0].arena)), np.uint8)
            answers = [side.run(batch, data) for side in sides]
            for report in (place for command in batch for place in _report(command, base)):
                for side in sides:
                    blank_sequences(side.arena[report])
            for number, command in enumerate(batch):
                where = f"seed {seed}, command {done + number}, {command}"
                status = _compare(
                    config, where, command, answers[0].get(command.cid), answers[1].get(command.cid)
                )
                statuses[status] = statuses.get(status, 0) + 1
                piece = slice(number * piece_bytes, (number + 1) * piece_bytes)
                if not np.array_equal(sides[0].arena[piece], sides[1].arena[piece]):
                    raise Mismatch(f"{where}: the data differ from byte {_first(sides, piece)} on")
            done += len(batch)
    return statuses


def _open(config: FmsConfig, link: Link, node: NodeTable) -> Device:
    return open_device(config, link=link, node=node, queue_entries=_QUEUE_ENTRIES)


def _report(command: RawCommand, base: int) -> Iterator[slice]:
    """The bytes of a report in the arena, which begins at `base`."""
    s, entry = Submission, int.from_bytes(command.entry(), "little")
    start = s.address.get(entry) - base
    if s.opcode.get(entry) == Opcode.ZONE_MANAGEMENT_RECEIVE and start >= 0:
        yield slice(start, start + s.length.get(entry))


def _compare(
    config: FmsConfig,
    where: str,
    command: RawCommand,
    first: CompletionEntry | None,
    second: CompletionEntry | None,
) -> str:
    if first is None or second is None:
        raise Mismatch(f"{where}: not answered by the {'first' if first is None else 'second'} Link")
    if first.port != command.port or second.port != command.port:
        raise Mismatch(f"{where}: answered as port {first.port} and {second.port}")
    results = [defined_result(command.opcode, answer, config) for answer in (first, second)]
    if first.do_not_retry != second.do_not_retry:
        raise Mismatch(f"{where}: DNR is {first.do_not_retry} of the first Link, another of the second")
    if first.status != second.status or results[0] != results[1]:
        raise Mismatch(
            f"{where}: status {first.status!r}, result {first.result:#x} of the first Link; "
            f"status {second.status!r}, result {second.result:#x} of the second"
        )
    return getattr(first.status, "name", f"{first.status:#x}")


def _first(sides: list[_Side], piece: slice) -> int:
    return int(np.nonzero(sides[0].arena[piece] != sides[1].arena[piece])[0][0])
