"""The contract of host commands beside the commands that the function in software gives to the device."""

import random
import struct

import numpy as np
import pytest

from flashtrain.host import open_device
from flashtrain.host.queues.entries import CompletionEntry
from flashtrain.nvme.subsystem.io_commands import IoCommands, Refusal
from flashtrain.nvme.subsystem.jobs import CapsuleData, Space
from flashtrain.nvme.subsystem.namespaces import namespaces_of
from flashtrain.nvme.wire.commands import Entry, parse_entry
from flashtrain.nvme.wire.statuses import TargetStatus
from flashtrain.spec import (
    NODES,
    Access,
    NodeTable,
    Opcode,
    Persistency,
    Status,
    Submission,
    ZoneAction,
    preset,
)
from flashtrain.spec.host_commands import EVERY_NAMESPACE, HOST_OPCODES, Answer, HostCommands
from flashtrain.spec.pcie import RESERVED_PSDT
from flashtrain.spec.streams import Retention, Stream

MOST_BYTES, ADDRESS, CID = 4096, 0x2000, 7
TRIALS = 4000


def tables() -> NodeTable:
    """Streams with each right; two are volatile, one is inactive, the last is the journal."""
    volatile, non_volatile = Persistency
    return NodeTable(
        "host",
        (
            *(
                Stream(nsid, name, persistency, Retention.YEARS, host, Access.READ | Access.APPEND)
                for nsid, name, persistency, host in (
                    (1, "whole", non_volatile, Access.READ | Access.APPEND),
                    (2, "volatile", volatile, Access.READ | Access.APPEND),
                    (3, "read", non_volatile, Access.READ),
                    (4, "none", non_volatile, Access.NONE),
                    (6, "appended", volatile, Access.APPEND),
                )
            ),
            *(one for one in NODES["serve"].streams if one.nsid == 8),
        ),
    )


def any_entry(chance: random.Random, limit: int) -> bytes:
    opcode = chance.choice([*HOST_OPCODES] * 4 + [Opcode.INSPECT, chance.getrandbits(8)])
    nsid = chance.choice([1, 1, 2, 2, 3, 6, 4, 5, 7, 8, 9, 0, EVERY_NAMESPACE, EVERY_NAMESPACE - 1])
    slba = chance.choice([chance.randrange(limit), limit - 1, limit, chance.getrandbits(64)])
    dword_12 = chance.choice([0, chance.randrange(10), 15, 1023, 1024]) | chance.getrandbits(1) << 30
    action = chance.choice([*ZoneAction, 0, chance.getrandbits(8)])
    dword_13 = action | chance.choice([0, 1, chance.getrandbits(24)]) << 8
    flags = chance.choice([0] * 8 + [1, 0x40, 0x80, 0xC0])
    return struct.pack("<BBHIQQQQQ4I", opcode, flags, CID, nsid, 0, 0, 0, 0, slba, dword_12, dword_13, 0, 0)


def software_refusal(io: IoCommands, entry: Entry) -> int:
    if entry.flags >> 6 == RESERVED_PSDT:
        return TargetStatus.INVALID_FIELD
    try:
        io.transfer(entry)
    except Refusal as refusal:
        return refusal.status
    return TargetStatus.SUCCESS


def comparable(entry: int) -> int:
    """An entry without what has no meaning, or is a choice of the software."""
    s = Submission
    if s.opcode.get(entry) == Opcode.ZONE_MANAGEMENT_RECEIVE:
        # The software asks for whole reports, and cuts them.
        entry &= ~s.dwords.put((1 << 32) - 1) & ~s.length.put((1 << 32) - 1)
    if s.opcode.get(entry) == Opcode.ZONE_MANAGEMENT_SEND and s.select_all.get(entry):
        entry &= ~s.slba.put((1 << 64) - 1)
    return entry


@pytest.fixture
def device():
    with open_device("tiny", "functional", tables()) as device:
        yield device


def test_refusals_and_steps_are_those_of_the_software(device, seed):
    chance, config = random.Random(seed), preset("tiny")
    namespaces = namespaces_of(config, device.node, "serial")
    io = IoCommands(device, namespaces, MOST_BYTES)
    model = HostCommands.of(config, device.node, MOST_BYTES)
    assert set(model.namespaces) == set(namespaces)
    space = Space(ADDRESS, np.zeros(1 << 14, np.uint8))
    refused, ended = set(), set()
    for _ in range(TRIALS):
        raw = any_entry(chance, namespaces[1].blocks)
        entry, word = parse_entry(raw), int.from_bytes(raw, "little")
        expected = software_refusal(io, entry)
        assert model.refusal(word) == expected, f"seed {seed}: {entry}"
        refused.add(int(expected))
        action = entry.dword_13 & 0xFF
        recorded = entry.opcode == Opcode.ZONE_MANAGEMENT_SEND and action in (
            ZoneAction.RESET, ZoneAction.OFFLINE,
        )  # fmt: skip
        if expected or recorded:  # what the driver records does not pass as a command
            continue
        job = io.job(entry, CapsuleData(b""), True, lambda reply: None)
        ended.add(follow(job.start(space), model.steps(word, CID, ADDRESS), chance))
    assert len(refused) == 5 and len(ended) == 3


def follow(theirs, ours, chance: random.Random) -> int:
    """Give both the same answers, until both have the same end; its status."""
    command, entry = next(theirs, None), next(ours, None)
    while True:
        assert comparable(int.from_bytes(command.entry(CID), "little")) == comparable(entry), command
        status = chance.choice([Status.SUCCESS] * 3 + [Status.WRITE_FAULT, Status.ZONE_IS_FULL])
        result = 0 if status else chance.getrandbits(64)
        reply = answer = None
        try:
            command = theirs.send(CompletionEntry(CID, status, result, 0, 0))
        except StopIteration as end:
            reply = end.value
        try:
            entry = ours.send(Answer(status, result))
        except StopIteration as end:
            answer = end.value
        assert (reply is None) == (answer is None), f"another number of steps than {command}"
        if answer is not None:
            assert (reply.status, reply.result) == (answer.status, answer.result)
            return int(answer.status)
