"""Peers whose host is not admitted: what they can hold, and for how long."""

import asyncio
import socket
import struct
import time
from collections.abc import Callable

import pytest

from flashtrain.host import Device, open_device
from flashtrain.nvme.client.authentication import Offer, authenticate
from flashtrain.nvme.client.fabrics import connect_command, fabrics
from flashtrain.nvme.client.host import DEFAULT_HOST, Host, read_command
from flashtrain.nvme.client.queue import ClientQueue
from flashtrain.nvme.errors import ProtocolError, ServeError
from flashtrain.nvme.subsystem.notices import MOST_LINES, Notice, Notices
from flashtrain.nvme.subsystem.settings import DEFAULT_NQN
from flashtrain.nvme.target.authentication import MOST_MESSAGE_BYTES
from flashtrain.nvme.target.framing import MOST_UNSENT_BYTES
from flashtrain.nvme.target.queue import MOST_ENTERING_IN_ALL, Queue
from flashtrain.nvme.target.server import Target
from flashtrain.nvme.target.settings import Settings
from flashtrain.nvme.wire.commands import AdminOpcode, Entry, FabricsType
from flashtrain.nvme.wire.dhchap import SECURITY_PROTOCOL, Hash, Negotiation, make_secret, negotiate
from flashtrain.nvme.wire.ffdhe import DhGroup
from flashtrain.nvme.wire.pdu import Fatal, parse_header, parse_termination
from tests.nvme.helpers import BLOCK, Served, served, serving
from tests.nvme.test_connections import REQUEST, capsule, received

SECRET = make_secret(bytes(range(32)))
OFFER = Offer(SECRET, groups=(DhGroup.NULL,))


def until(condition: Callable[[], bool], seconds: float = 20) -> bool:
    """Whether the condition holds at some time soon."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def peer(target: Served, queue: int = 0, controller: int = 0xFFFF) -> ClientQueue:
    """A peer that names itself like a good host, and has no secret; its Connect is accepted."""
    sock = socket.create_connection(target.address, 10)
    one = ClientQueue(sock)
    answer = one.execute(*connect_command(queue, 32, controller, DEFAULT_NQN, DEFAULT_HOST)).answer
    assert answer.status == 0 and answer.result >> 16 & 2
    return one


def message(kind: FabricsType, length: int) -> Entry:
    return fabrics(kind, struct.pack("<xBBBI16x", 1, 1, SECURITY_PROTOCOL, length))


def test_room_for_an_answer_is_not_its_length():
    """A peer names 1 GiB for the answer, and gets a message."""
    with served(secret=SECRET) as target:
        one = peer(target)
        offer = negotiate(Negotiation(1, 0, [Hash.SHA256], [DhGroup.NULL]))
        assert one.execute(message(FabricsType.AUTHENTICATION_SEND, len(offer)), offer).answer.status == 0
        entry = message(FabricsType.AUTHENTICATION_RECEIVE, 1 << 30)
        one.socket.sendall(capsule(entry._replace(cid=9, sgl_length=1 << 30, sgl_type=0x5A)))
        assert parse_header(one.socket.recv(8)).pdu_bytes == 24 + MOST_MESSAGE_BYTES
        one.close()


def test_peers_without_a_proof_hold_no_controllers():
    """They leave a place for a host with its secret, and are gone after a while."""
    with served(secret=SECRET, controllers=1, stalled_seconds=1.5) as target:
        peers = [peer(target) for _ in range(5)]
        with target.host(offer=OFFER) as host:
            with pytest.raises((ProtocolError, OSError)):
                for one in peers:
                    for _ in range(50):  # for 5 s, if it is not ended
                        assert one.execute(Entry(AdminOpcode.KEEP_ALIVE)).answer.status == 0x191
                        time.sleep(0.1)
            assert until(lambda: target.connections() == 2)
            assert list(target.target.subsystem.controllers) == [host.controller]
            assert host.read(1, 0, 1) == bytes(BLOCK)
        assert until(lambda: not target.target.subsystem.controllers)
        for one in peers:
            one.close()


def test_a_peer_without_a_proof_takes_nothing_of_another_host():
    """Neither a queue's number nor room in the error log; and its commands are no life of the host."""
    with served(secret=SECRET) as target:
        with target.host(offer=OFFER, queues=1, keep_alive=1500) as host:
            controller = target.target.subsystem.controllers[host.controller]
            one = peer(target, 2, host.controller)
            refused = [one.execute(read_command(1, 0, 1, BLOCK)).answer.status for _ in range(3)]
            assert refused == [0x191] * 3
            assert controller.error_count == 0 and set(controller.connections) == {0, 1}
            host.io.append(host._open(2))
            assert set(controller.connections) == {0, 1, 2}
            for _ in range(50):
                one.execute(read_command(1, 0, 1, BLOCK))
                if host.controller not in target.target.subsystem.controllers:
                    break
                time.sleep(0.1)
            assert host.controller not in target.target.subsystem.controllers
            one.close()


def test_the_oldest_makes_room():
    with served(secret=SECRET, entering=8) as target:
        socks = [socket.create_connection(target.address) for _ in range(8)]
        for _ in range(20):
            with target.host(offer=OFFER) as host:
                host.identify(1)
        assert until(lambda: target.connections() <= 8)
        for sock in socks:
            sock.close()


def test_a_proof_that_comes_too_late_finds_no_controller():
    """Two hosts enter while there is one place."""
    with served(secret=SECRET, controllers=1) as target:
        one = peer(target)
        with target.host(offer=OFFER):
            authenticate(one, OFFER, DEFAULT_HOST, DEFAULT_NQN)
            with pytest.raises((ProtocolError, OSError)):
                while True:
                    one.execute(Entry(AdminOpcode.KEEP_ALIVE))
        one.close()


def test_half_a_pdu_ends_its_connection():
    """After the host is admitted, and also if bytes come all the time."""
    with served(stalled_seconds=1.5) as target, target.host() as host:
        host.admin.socket.sendall(capsule(Entry(AdminOpcode.KEEP_ALIVE))[:50])
        with pytest.raises(OSError):
            for _ in range(22):  # a capsule has 72 bytes
                host.admin.socket.sendall(b"\0")
                time.sleep(0.2)
        assert until(lambda: target.connections() == 0)


def test_a_flood_before_connect_ends():
    """Commands that are refused, of a peer that reads now and then."""
    with served(stalled_seconds=0.5) as target:
        sock = socket.create_connection(target.address, 5)
        sock.sendall(REQUEST)
        with pytest.raises(OSError):
            for _ in range(2000):
                sock.sendall(capsule(Entry(AdminOpcode.KEEP_ALIVE)))
                sock.recv(24)
                time.sleep(0.01)
        assert until(lambda: target.connections() == 0)
        sock.close()


def test_a_peer_has_some_commands_and_no_more():
    """Whatever it reads: a flood would take the processor's time from other hosts."""
    with served(secret=SECRET) as target:
        one, answered = peer(target), 0
        with pytest.raises(ProtocolError, match="ended the connection: sequence error"):
            for _ in range(2 * MOST_ENTERING_IN_ALL):
                one.execute(Entry(AdminOpcode.KEEP_ALIVE))
                answered += 1
        assert answered == MOST_ENTERING_IN_ALL - 1  # beside Connect
        one.close()


@pytest.mark.parametrize(
    "entry",
    [
        Entry(0x77),
        Entry(AdminOpcode.IDENTIFY, dword_10=1, sgl_length=4096, sgl_type=0x5A),
        Entry(AdminOpcode.GET_LOG_PAGE, dword_10=5 | 0x3FFF << 16, sgl_length=64 << 10, sgl_type=0x5A),
    ],
    ids=["refused", "answered", "with-much-data"],
)
def test_a_host_that_reads_nothing_is_bounded(entry):
    """Its commands wait, whatever their answers are; one too many ends the connection."""
    with served(stalled_seconds=1.0) as target, target.host() as host:
        host.admin.socket.settimeout(0.2)
        (queue,) = (one for one in target.target._fabrics.open if isinstance(one, Queue) and not one._number)
        transport = queue.framing._transport
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        most, flood = 0, b"".join(capsule(entry._replace(cid=cid)) for cid in range(1000))
        try:
            for _ in range(100):
                host.admin.socket.sendall(flood)
                most = max(most, target.run(_unsent(transport)))
        except OSError:
            pass
        assert most < 2 * MOST_UNSENT_BYTES
        assert until(lambda: target.connections() <= 1)


async def _unsent(transport) -> int:
    return transport.get_write_buffer_size()


def test_before_the_proof_pdus_are_small_and_few():
    with served(secret=SECRET) as target:
        for sent in (
            struct.pack("<BBBBIHHIIxxxx", 6, 4, 24, 24, 24 + (20 << 10), 0, 0, 0, 20 << 10),
            b"".join(
                capsule(message(FabricsType.AUTHENTICATION_SEND, 99)._replace(cid=cid, sgl_length=99,
                                                                             sgl_type=0x5A))
                for cid in range(9)
            ),
        ):  # fmt: skip
            one = peer(target)
            one.socket.sendall(sent)
            reason, _ = parse_termination(received(one.socket)[-24 if sent[0] == 4 else 0 :])
            assert reason in (Fatal.LIMIT_EXCEEDED, Fatal.SEQUENCE_ERROR)
            one.close()


def test_a_failed_authentication_is_a_line_and_then_a_count():
    with served(secret=SECRET) as target:
        for _ in range(12):
            with pytest.raises(ProtocolError):
                target.host(offer=Offer(make_secret(bytes(32)), groups=(DhGroup.NULL,)))
    assert [line for line in target.log if "authentication" in line] == [
        f"host {DEFAULT_HOST}: authentication failed", "11 more authentications failed",
    ]  # fmt: skip


def test_limits_of_time_hold_without_a_reader_of_the_log():
    with open_device("tiny", node="serve") as device:
        assert asyncio.run(_left_of_silent_peers(device)) == 0


async def _left_of_silent_peers(device: Device) -> int:
    """The connections that a target has left of two silent ones, one after the other."""

    def say(line: str) -> None:
        raise BrokenPipeError

    async with Target(device, Settings(port=0, stalled_seconds=0.2), say) as target:
        writers = []
        for _ in range(2):
            writers.append((await asyncio.open_connection("127.0.0.1", target.port))[1])
            await asyncio.sleep(0.5)
        left = target.connections
        for writer in writers:
            writer.close()
        return left


def test_lines_of_peers_are_bounded():
    lines: list[str] = []
    notices = Notices(lines.append)
    for now in range(60):
        notices.pass_time(float(now))
        for kind in Notice:
            for _ in range(100):
                notices.note(kind, "a line")
    notices.pass_time(60.0)
    assert len(lines) == MOST_LINES
    assert f"5,999 more {Notice.FAILED_PROOF.words}" in lines


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"secret": ""}, "the secret is none of the form"),
        ({"secret": "DHHC-1:-1:AAAA:"}, "the secret is none of the form"),
        ({"hosts": frozenset()}, "no host may connect"),
        ({"hosts": frozenset({""})}, "a host that may connect is ''"),
        ({"hosts": frozenset({"foo"})}, "a host that may connect is 'foo'; expected a name such as nqn."),
        ({"hosts": frozenset({"nqn.2014-08.org.example:\x1b[2J"})}, "a host that may connect"),
        ({"nqn": "nqn.2014-13.org"}, "the name of the subsystem"),
        ({"address": ""}, "the address is ''; expected one of IP"),
        ({"address": "example.org"}, "the address is 'example.org'"),
        ({"serial": " "}, "the serial number is ' '"),
        ({"serial": "a" * 21}, "expected 1 to 20 printable ASCII"),
    ],
)
def test_settings_that_protect_nothing_are_refused(wrong, message):
    with pytest.raises(ServeError, match=message.replace("[", r"\[")):
        Settings(**wrong)


@pytest.mark.parametrize("name", ["nqn.2014-08.org.example:\x1b]0;owned\a", "nqn.2014-08.org.example:a\nb"])
def test_names_that_would_move_a_terminal_are_refused(target, name):
    with socket.create_connection(target.address) as sock:
        answer = ClientQueue(sock).execute(*connect_command(0, 32, 0xFFFF, DEFAULT_NQN, name)).answer
        assert (answer.status, answer.result) == (0x182, 512 | 1 << 16)


def test_each_device_has_an_identity(tmp_path):
    """Two targets have none of it in common; an image has its own in each run; an option sets it."""

    def identity(**settings) -> tuple[bytes, bytes, bytes]:
        device = settings.pop("device", None)
        with open_device("tiny", "functional", "serve", image=device) as opened:
            with serving(opened, **settings) as target, target.host() as host:
                found = _identity(host)
            with serving(opened, **settings) as target, target.host() as host:
                assert _identity(host) == found
            return found

    one, other = identity(), identity()
    assert all(a != b for a, b in zip(one, other, strict=True))
    kept = identity(device=tmp_path / "flash.img")
    assert identity(device=tmp_path / "flash.img") == kept not in (one, other)
    assert identity(serial="mine")[0] == b"mine".ljust(20)
    assert identity(serial="mine") == identity(serial="mine", device=tmp_path / "flash.img")


def _identity(host: Host) -> tuple[bytes, bytes, bytes]:
    """Serial number, NGUID and UUID."""
    return host.identify(1)[4:24], host.identify(0, nsid=1)[104:120], host.identify(3, nsid=1)[4:20]
