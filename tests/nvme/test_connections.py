"""Wrong PDUs, half connections, connections that come and go, and hosts that never read."""

import asyncio
import resource
import socket
import struct
import time

import pytest

from flashtrain.nvme.client.fabrics import connect_command
from flashtrain.nvme.client.host import DEFAULT_HOST, Host, data_command, read_command
from flashtrain.nvme.client.queue import ClientQueue
from flashtrain.nvme.errors import CommandFailed, ProtocolError
from flashtrain.nvme.subsystem.settings import DEFAULT_NQN, DISCOVERY_NQN
from flashtrain.nvme.wire.commands import AdminOpcode, Entry
from flashtrain.nvme.wire.digest import digest
from flashtrain.nvme.wire.pdu import (
    COMMON,
    Connection,
    Fatal,
    Flags,
    PduType,
    Transfer,
    connection_pdu,
    parse_header,
    parse_termination,
    transfer_header,
)
from flashtrain.spec import Opcode
from tests.nvme.helpers import BLOCK, ZONE, Served, served

HOST = "nqn.2014-08.org.nvmexpress:uuid:00000000-0000-4000-8000-000000000002"
REQUEST = connection_pdu(PduType.IC_REQUEST, Connection(0, 0, 0, 0))


def received(sock: socket.socket) -> bytes:
    """All that the target sends until it ends the connection."""
    sock.settimeout(10)
    data = b""
    while part := sock.recv(1 << 16):
        data += part
    return data


def ended_by(target: Served, *sent: bytes) -> tuple[int, int, bytes]:
    """Reason and information of the termination request after these bytes, and the header in it."""
    with socket.create_connection(target.address) as sock:
        sock.sendall(b"".join(sent))
        data = received(sock)
    while (header := parse_header(data)).kind != PduType.CONTROLLER_TERMINATION:
        data = data[header.pdu_bytes :]
    assert header.pdu_bytes == len(data)
    return *parse_termination(data), data[24:]


def capsule(entry: Entry, data: bytes = b"", **fields: int) -> bytes:
    values = {"flags": 0, "header": 72, "offset": 72 if data else 0, "length": 72 + len(data), **fields}
    head = COMMON.pack(4, values["flags"], values["header"], values["offset"], values["length"])
    return head + entry.packed() + data


@pytest.mark.parametrize(
    "sent, reason, place",
    [
        (COMMON.pack(0x44, 0, 8, 0, 8), Fatal.INVALID_HEADER_FIELD, 0),
        (COMMON.pack(PduType.RESPONSE, 0, 24, 0, 24), Fatal.INVALID_HEADER_FIELD, 0),
        (COMMON.pack(PduType.COMMAND, 0, 72, 0, 72), Fatal.SEQUENCE_ERROR, 0),
        (COMMON.pack(PduType.IC_REQUEST, 0, 127, 0, 128), Fatal.INVALID_HEADER_FIELD, 2),
        (COMMON.pack(PduType.IC_REQUEST, 0, 128, 0, 1 << 30), Fatal.INVALID_HEADER_FIELD, 4),
        (connection_pdu(PduType.IC_REQUEST, Connection(1, 0, 0, 0)), Fatal.UNSUPPORTED_PARAMETER, 8),
        (connection_pdu(PduType.IC_REQUEST, Connection(0, 32, 0, 0)), Fatal.INVALID_HEADER_FIELD, 10),
        (connection_pdu(PduType.IC_REQUEST, Connection(0, 0, 4, 0)), Fatal.INVALID_HEADER_FIELD, 11),
        (REQUEST + REQUEST, Fatal.SEQUENCE_ERROR, 0),
        (REQUEST + capsule(Entry(6), header=64), Fatal.INVALID_HEADER_FIELD, 2),
        (REQUEST + capsule(Entry(6), flags=1), Fatal.INVALID_HEADER_FIELD, 1),
        (REQUEST + capsule(Entry(6), length=71), Fatal.INVALID_HEADER_FIELD, 4),
        (REQUEST + capsule(Entry(6), length=1 << 20, offset=72), Fatal.INVALID_HEADER_FIELD, 4),
        (REQUEST + capsule(Entry(6), b"1234", offset=71), Fatal.INVALID_HEADER_FIELD, 3),
        (REQUEST + capsule(Entry(6), b"1234", offset=80), Fatal.INVALID_HEADER_FIELD, 3),
        (REQUEST + transfer_header(PduType.HOST_DATA, 4, Transfer(0, 9, 0, 4), 24, 28) + b"1234",
         Fatal.INVALID_HEADER_FIELD, 10),
        (REQUEST + transfer_header(PduType.HOST_DATA, 4, Transfer(0, 9, 0, 0), 24, 1 << 20),
         Fatal.LIMIT_EXCEEDED, 4),
        (REQUEST + transfer_header(PduType.HOST_DATA, 4, Transfer(0, 9, 0, 0), 0, 24),
         Fatal.INVALID_HEADER_FIELD, 4),
    ],
)  # fmt: skip
def test_a_wrong_pdu_ends_its_connection_and_no_other(target, host, sent, reason, place):
    found, information, header = ended_by(target, sent)
    assert (found, information) == (reason, place)
    assert header and header in sent
    assert host.read(1, 0, 1) == bytes(BLOCK)


def test_wrong_digests(target):
    request = connection_pdu(PduType.IC_REQUEST, Connection(0, 0, 3, 0))
    header = capsule(Entry(6), flags=1, length=76)
    reason, place, _ = ended_by(target, request, header, bytes(4))
    assert reason == Fatal.HEADER_DIGEST_ERROR and place == 0
    # Wrong data are no reason to end: the host may send the command again.
    with target.host(digests=Flags(3)) as host:
        entry = data_command(Opcode.WRITE, 1, 0, 1)._replace(cid=500, sgl_length=BLOCK, sgl_type=1)
        header = COMMON.pack(PduType.COMMAND, 3, 72, 76, 76 + BLOCK + 4) + entry.packed()
        queue = host.io[0]
        from flashtrain.nvme.client.queue import _Sent

        queue._sent[500] = _Sent(b"", bytearray())
        queue.socket.sendall(header + digest(header) + bytes(BLOCK) + bytes(4))
        answer = queue.wait(500).answer
        assert (answer.status, answer.do_not_retry) == (0x022, False)
        host.identify(1)


def with_request(
    target: Served, wrong: Transfer, flags: int = 4, data: bytes = bytes(BLOCK)
) -> tuple[int, int]:
    """The end of a connection that answers the request for a write's data (5 blocks) with this transfer."""
    with target.host() as host:
        queue = host.io[0]
        entry = data_command(Opcode.WRITE, 1, 0, 5)._replace(cid=3, sgl_length=5 * BLOCK)
        queue.socket.sendall(capsule(entry))
        ready = queue.socket.recv(24)
        assert parse_header(ready).kind == PduType.READY_TO_TRANSFER
        tag = struct.unpack_from("<H", ready, 10)[0]
        wrong = wrong._replace(tag=tag)
        queue.socket.sendall(transfer_header(PduType.HOST_DATA, flags, wrong, 24, 24 + len(data)) + data)
        return parse_termination(received(queue.socket))


@pytest.mark.parametrize(
    "wrong, flags, end",
    [
        (Transfer(4, 0, 0, BLOCK), 0, (Fatal.INVALID_HEADER_FIELD, 8)),
        (Transfer(3, 0, 0, BLOCK - 4), 0, (Fatal.INVALID_HEADER_FIELD, 16)),
        (Transfer(3, 0, BLOCK, BLOCK), 0, (Fatal.SEQUENCE_ERROR, 12)),
        (Transfer(3, 0, 5 * BLOCK, BLOCK), 0, (Fatal.OUT_OF_RANGE, 12)),
        (Transfer(3, 0, 0, BLOCK), 4, (Fatal.INVALID_HEADER_FIELD, 1)),
    ],
)
def test_wrong_transfers_of_data(target, host, wrong, flags, end):
    assert with_request(target, wrong, flags) == end
    assert host.read(1, 0, 1) == bytes(BLOCK)


def test_more_data_than_were_asked_for(target, host):
    wrong = Transfer(3, 0, 0, 6 * BLOCK)
    assert with_request(target, wrong, 4, bytes(6 * BLOCK)) == (Fatal.OUT_OF_RANGE, 16)


@pytest.mark.parametrize(
    "changes, status, result",
    [
        ({"queue": 1, "controller": 0xFFF0}, 0x182, 16 | 1 << 16),
        ({"queue": 99}, 0x182, 42),
        ({"entries": 1}, 0x182, 44),
        ({"entries": 129}, 0x182, 44),
        ({"queue": 0, "controller": 5}, 0x182, 16 | 1 << 16),
        ({"subsystem": "nqn.other"}, 0x182, 256 | 1 << 16),
        ({"host": "me"}, 0x182, 512 | 1 << 16),
    ],
)
def test_refused_connects(target, host, changes, status, result):
    values = {"queue": 2, "entries": 32, "controller": host.controller, "subsystem": DEFAULT_NQN,
              "host": DEFAULT_HOST, **changes}  # fmt: skip
    with socket.create_connection(target.address) as sock:
        queue = ClientQueue(sock)
        answer = queue.execute(*connect_command(**values)).answer
        assert (answer.status, answer.result, answer.do_not_retry) == (status, result, True)
        # What is not connected does nothing else.
        assert queue.execute(Entry(AdminOpcode.IDENTIFY, sgl_length=4096)).answer.status == 0x00C


def test_a_queue_is_connected_once(target, host):
    values = {"queue": 1, "entries": 32, "controller": host.controller, "subsystem": DEFAULT_NQN}
    own = DEFAULT_HOST
    with socket.create_connection(target.address) as sock:
        answer = ClientQueue(sock).execute(*connect_command(**values, host=own)).answer
        assert (answer.status, answer.result) == (0x182, 42)
    with socket.create_connection(target.address) as sock:  # another host's controller
        answer = ClientQueue(sock).execute(*connect_command(**{**values, "queue": 2}, host=HOST)).answer
        assert (answer.status, answer.result) == (0x182, 512 | 1 << 16)  # the wrong field is HOSTNQN
    with socket.create_connection(target.address) as sock:  # another subsystem's
        other = {**values, "queue": 2, "subsystem": DISCOVERY_NQN}
        answer = ClientQueue(sock).execute(*connect_command(**other, host=own)).answer
        assert (answer.status, answer.result) == (0x182, 256 | 1 << 16)
    answer = host.io[0].execute(*connect_command(**values, host=own)).answer
    assert answer.status == 0x00C


def test_only_allowed_hosts_connect():
    with served(hosts=frozenset({HOST})) as target:
        with pytest.raises(CommandFailed) as refused:
            target.host()
        assert (refused.value.status, refused.value.do_not_retry) == (0x184, True)
        with target.host(host=HOST) as host:
            host.identify(1)
        assert any("not allowed" in line for line in target.log)


def test_more_commands_than_the_queue_has_entries(target):
    with target.host(entries=4) as host:
        queue = host.io[0]
        queue.socket.sendall(b"".join(capsule(Entry(Opcode.FLUSH, nsid=1, cid=cid)) for cid in range(16)))
        assert parse_termination(received(queue.socket)[-24:])[0] == Fatal.SEQUENCE_ERROR


def test_a_cid_is_used_once(target):
    with target.host() as host:
        queue = host.admin
        event = capsule(Entry(AdminOpcode.ASYNC_EVENT_REQUEST, cid=7))
        queue.socket.sendall(event + event)
        answer = queue.socket.recv(24)
        assert struct.unpack_from("<H", answer, 22)[0] >> 1 & 0x7FF == 0x003
        host.identify(1)


def test_half_connections_end():
    """Without a PDU, with half of one, without a Connect, and with half of its data."""
    with served(stalled_seconds=0.3) as target:
        socks = [socket.create_connection(target.address) for _ in range(4)]
        socks[1].sendall(REQUEST[:50])
        socks[2].sendall(REQUEST)
        entry, data = connect_command(0, 32, 0xFFFF, DEFAULT_NQN, HOST)
        socks[3].sendall(REQUEST + capsule(entry._replace(sgl_type=1, sgl_length=1024), data)[:500])
        with target.host() as host:
            for sock in socks:
                sock.settimeout(5)
                with pytest.raises(ConnectionResetError):
                    while sock.recv(4096):
                        pass
                    raise ConnectionResetError
                sock.close()
            time.sleep(0.1)
            assert target.connections() == 2
            host.identify(1)


def test_connections_that_come_and_go(target, host):
    """A thousand, some of them in the middle of something; nothing of them is left."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    entry, data = connect_command(0, 32, 0xFFFF, DEFAULT_NQN, HOST)
    connect = capsule(entry._replace(sgl_type=1, sgl_length=1024), data)
    for number in range(1000):
        with socket.create_connection(target.address) as sock:
            sock.sendall((b"", REQUEST[:9], REQUEST, REQUEST + connect)[number % 4])
    deadline = time.monotonic() + 60  # a loaded machine is slow
    while target.connections() > 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert target.connections() == 2
    assert len(target.target.subsystem.controllers) == 1
    assert host.read(1, 0, 1) == bytes(BLOCK)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 32 << 10  # KiB


def test_a_connection_too_many():
    with served(connections=3) as target:
        socks = [socket.create_connection(target.address) for _ in range(4)]
        socks[0].settimeout(5)  # the oldest of those that enter
        assert socks[0].recv(1) == b""
        for sock in socks:
            sock.close()


def test_a_host_that_never_reads():
    """Its commands wait, the memory is bounded, others go on, and it is gone after a while."""
    with served(stalled_seconds=0.5) as target, target.host() as host:
        for zone in range(2):
            for place in range(8):
                host.write(1, zone * ZONE + place * 256, bytes([place + 1]) * 256 * BLOCK)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        greedy = target.host(host=HOST, entries=128)
        queue = greedy.io[0]
        for number in range(120):  # 120 MiB are asked for
            entry = read_command(1, number % 16 * 256, 256, BLOCK)
            queue.socket.sendall(capsule(entry._replace(cid=number)))
        for _ in range(5):
            assert host.read(1, 0, 256) == bytes([1]) * 256 * BLOCK
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10
        deadline = time.monotonic() + 10
        while target.connections() > 3 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert target.connections() == 3
        greedy.close()


def test_connections_end_at_once():
    """The host of one of them reads nothing of what is on its way to it."""
    with served() as target, target.host(host=HOST) as host:
        for number in range(8):
            host.write(1, number * 256, bytes(256 * BLOCK))
        for number in range(32):
            entry = read_command(1, number % 8 * 256, 256, BLOCK)
            host.io[0].socket.sendall(capsule(entry._replace(cid=number)))
        time.sleep(0.3)
        assert target.run(ended_connections(target)) == 0


async def ended_connections(target: Served) -> int:
    """The connections that are left a moment after the end of all."""
    target.target.end_connections()
    await asyncio.sleep(0.1)
    return target.target.connections


def test_a_terminating_host(target):
    with socket.create_connection(target.address) as sock:
        sock.sendall(REQUEST + COMMON.pack(PduType.HOST_TERMINATION, 0, 24, 0, 24) + bytes(16))
        assert received(sock)[:1] == b"\1"


def test_a_client_of_what_is_no_target():
    with socket.create_server(("127.0.0.1", 0)) as server:
        import threading

        def answer() -> None:
            sock, _ = server.accept()
            sock.sendall(COMMON.pack(PduType.RESPONSE, 0, 24, 0, 24) + bytes(16))
            sock.close()

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(ProtocolError, match="in the place of a connection response"):
            Host(server.getsockname(), DEFAULT_NQN)
        thread.join()
