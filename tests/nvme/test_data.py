"""Reads, writes, appends and flushes by a host."""

import random

import pytest

from flashtrain.nvme.client.host import data_command, read_command
from flashtrain.nvme.errors import CommandFailed
from flashtrain.nvme.wire.commands import Entry
from flashtrain.nvme.wire.pdu import COMMAND_BYTES, COMMON, Flags, PduType
from flashtrain.spec import Opcode, Status
from tests.nvme.helpers import BLOCK, ZONE, zones


def test_what_is_appended_is_read(host, seed):
    data = random.Random(seed).randbytes(5 * BLOCK)
    assert host.append(1, ZONE, data) == ZONE
    assert host.append(1, ZONE, data[:BLOCK]) == ZONE + 5
    assert host.read(1, ZONE, 6) == data + data[:BLOCK]


@pytest.mark.parametrize("flow_control", [False, True])
def test_heads_of_the_submission_queue(target, host, flow_control):
    """With flow control each completion has the head; without it the data of a read carry the completion."""
    host.append(1, 0, bytes(BLOCK))
    reads = [read_command(1, 0, 1, BLOCK) for _ in range(6)]
    with target.host(entries=4, flow_control=flow_control) as other:
        queue = other.io[0]
        heads = [one.answer.sq_head for one in queue.execute_all(reads, 3)]
        heads.append(queue.execute(Entry(Opcode.FLUSH, nsid=1)).answer.sq_head)
    # The Connect is the first command of the queue.
    assert heads == ([2, 3, 0, 1, 2, 3, 0] if flow_control else [*[0] * 6, 0xFFFF])


@pytest.mark.parametrize("digests", [Flags(0), Flags.HEADER_DIGEST, Flags.DATA_DIGEST, Flags(3)])
@pytest.mark.parametrize("blocks", [1, 3, 4, 5, 100, 256])
def test_data_in_capsules_and_by_request(host, target, digests, blocks, seed):
    data = random.Random(seed + blocks).randbytes(blocks * BLOCK)
    with target.host(digests=digests, in_capsule=16384) as other:
        other.write(1, 0, data)
        assert other.read(1, 0, blocks) == data


def test_many_commands_in_flight_on_several_queues(host, target, seed):
    data = random.Random(seed).randbytes(8 * BLOCK)
    with target.host(queues=3) as other:
        for number in range(60):
            other.io[number % 3].submit(data_command(Opcode.ZONE_APPEND, 1, number % 4 * ZONE, 8), data)
        lbas = []
        for queue in other.io:
            while queue.in_flight or queue._completed:
                answer = queue.wait_any().answer
                assert answer.status == 0
                lbas.append(answer.result)
        assert sorted(lbas) == sorted(zone * ZONE + 8 * place for zone in range(4) for place in range(15))
        for lba in lbas:
            assert other.read(1, lba, 8) == data


def test_unwritten_blocks_are_zeros_unless_the_host_wants_an_error(host):
    data = bytes([7]) * 3 * BLOCK
    host.write(1, 0, data)
    assert host.read(1, 0, 8) == data + bytes(5 * BLOCK)
    assert host.read(1, 2, 2) == data[:BLOCK] + bytes(BLOCK)
    assert host.read(1, ZONE, 4) == bytes(4 * BLOCK)
    host.set_feature(0x05, 1 << 16, nsid=1)
    with pytest.raises(CommandFailed) as refused:
        host.read(1, 0, 8)
    assert refused.value.status == Status.UNWRITTEN_BLOCK and refused.value.do_not_retry
    assert host.read(1, 0, 3) == data


def test_more_zones_than_may_be_open(host):
    """The target closes a zone that was opened implicitly, and no other one."""
    from flashtrain.spec import ZoneAction, ZoneState

    host.manage(1, 0, ZoneAction.OPEN)
    for zone in range(1, 11):
        host.write(1, zone * ZONE, bytes(BLOCK))
    states = [state for state, _, _ in zones(host)][:11]
    assert states[0] == ZoneState.EXPLICITLY_OPEN
    assert states.count(ZoneState.IMPLICITLY_OPEN) == 7 and states.count(ZoneState.CLOSED) == 3
    host.write(1, 11 * ZONE, bytes(BLOCK))
    with pytest.raises(CommandFailed) as refused:
        host.write(1, 12 * ZONE, bytes(BLOCK))
    assert refused.value.status == Status.TOO_MANY_ACTIVE_ZONES


def test_flushes(host):
    host.write(1, 0, bytes(BLOCK), durable=True)
    host.flush(1)
    host.flush(0xFFFF_FFFF)


@pytest.mark.parametrize(
    "entry, status",
    [
        (data_command(Opcode.WRITE, 1, 5, 1), Status.ZONE_INVALID_WRITE),
        (data_command(Opcode.ZONE_APPEND, 1, 5, 1), Status.INVALID_FIELD),
        (data_command(Opcode.WRITE, 1, 30 * ZONE, 1), Status.LBA_OUT_OF_RANGE),
        (data_command(Opcode.WRITE, 2, 0, 1), Status.INVALID_NAMESPACE),
        (data_command(Opcode.WRITE, 0, 0, 1), Status.INVALID_NAMESPACE),
        (data_command(Opcode.WRITE, 8, 0, 1), Status.INVALID_NAMESPACE),
        (data_command(Opcode.WRITE, 1, 0, 1)._replace(flags=0x41), Status.INVALID_FIELD),
        (data_command(Opcode.WRITE, 1, 0, 1)._replace(flags=0), Status.INVALID_FIELD),
        (data_command(Opcode.WRITE, 1, 0, 2), Status.SGL_LENGTH_INVALID),
        (data_command(0x80, 1, 0, 1), Status.INVALID_OPCODE),
    ],
)
def test_refused_commands_are_not_to_be_sent_again(host, entry, status):
    answer = host.io[0].execute(entry, bytes(BLOCK)).answer
    assert (answer.status, answer.do_not_retry) == (status, True)


def test_wrong_data_pointers(host):
    read = data_command(Opcode.READ, 1, 0, 2)
    assert host.io[0].execute(read._replace(sgl_length=BLOCK)).answer.status == Status.SGL_LENGTH_INVALID
    queue = host.io[0]
    entry = Entry(Opcode.READ, nsid=1, cid=900, sgl_length=BLOCK, sgl_type=0x0F)
    from flashtrain.nvme.client.queue import _Sent

    queue._sent[900] = _Sent(b"", bytearray(BLOCK))
    queue.socket.sendall(COMMON.pack(PduType.COMMAND, 0, COMMAND_BYTES, 0, COMMAND_BYTES) + entry.packed())
    assert queue.wait(900).answer.status == Status.SGL_TYPE_INVALID


def test_a_longer_transfer_than_the_target_takes(host):
    entry = data_command(Opcode.READ, 1, 0, 257)._replace(sgl_length=257 * BLOCK)
    assert host.io[0].execute(entry).answer.status == Status.INVALID_FIELD
