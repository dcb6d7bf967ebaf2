"""Targets that send anything: the client ends with what is wrong, and soon."""

import random
import socket
import struct
import time

import pytest

from flashtrain.nvme.client.authentication import Offer, authenticate
from flashtrain.nvme.client.host import read_command
from flashtrain.nvme.client.queue import ClientQueue
from flashtrain.nvme.errors import ProtocolError, ServeError
from flashtrain.nvme.wire.commands import Entry, answer_bytes
from flashtrain.nvme.wire.dhchap import Hash, challenge_message, make_secret
from flashtrain.nvme.wire.ffdhe import DhGroup
from flashtrain.nvme.wire.pdu import (
    COMMON,
    Connection,
    Flags,
    PduType,
    Transfer,
    connection_pdu,
    transfer_header,
)
from flashtrain.nvme.wire.stream_area import StreamArea
from tests.nvme.helpers import BLOCK, served

SECRET = make_secret(bytes(range(32)))
RESPONSE = connection_pdu(PduType.IC_RESPONSE, Connection(0, 0, 0, 256 << 10))
BOTH = Flags.HEADER_DIGEST | Flags.DATA_DIGEST


def data(transfer: Transfer, content: bytes, flags: int = Flags.LAST) -> bytes:
    return transfer_header(PduType.CONTROLLER_DATA, flags, transfer, 24, 24 + len(content)) + content


def answer(cid: int, status: int = 0) -> bytes:
    return COMMON.pack(PduType.RESPONSE, 0, 24, 0, 24) + answer_bytes(0, 0, cid, status, False)


def ready(transfer: Transfer) -> bytes:
    return transfer_header(PduType.READY_TO_TRANSFER, 0, transfer, 0, 24)


def read_from(sent: bytes, end: bool = False, timeout: float = 1.0) -> bytes:
    """Read two blocks, by command 0, from a target that sends all this, and then nothing or the end."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(timeout)
        theirs.sendall(RESPONSE + sent)
        if end:
            theirs.shutdown(socket.SHUT_WR)
        return bytes(ClientQueue(ours).execute(read_command(1, 0, 2, BLOCK)).data)


@pytest.fixture(autouse=True)
def of_any_family(monkeypatch):
    """A pair of sockets has no TCP_NODELAY."""
    real = socket.socket.setsockopt

    def setsockopt(sock, level, *rest):
        if sock.family != socket.AF_UNIX:
            real(sock, level, *rest)

    monkeypatch.setattr(socket.socket, "setsockopt", setsockopt)


WHOLE = data(Transfer(0, 0, 0, BLOCK), bytes(BLOCK), 0) + data(Transfer(0, 0, BLOCK, BLOCK), bytes(BLOCK))


def test_data_that_are_right():
    assert read_from(WHOLE + answer(0)) == bytes(2 * BLOCK)


@pytest.mark.parametrize(
    "sent, message",
    [
        (COMMON.pack(PduType.CONTROLLER_DATA, 0, 24, 24, 0) * 9, "a header of 24 bytes and 0 in all"),
        (COMMON.pack(PduType.CONTROLLER_DATA, 0, 24, 24, 24) + bytes(16), "and from 25"),
        (COMMON.pack(PduType.CONTROLLER_DATA, 0, 24, 8, 64) + bytes(56), "data at byte 8"),
        (COMMON.pack(PduType.CONTROLLER_DATA, 0, 24, 24, 1 << 31), "2147483648 in all"),
        (COMMON.pack(PduType.RESPONSE, 0, 24, 0, 0), "0 in all"),
        (COMMON.pack(0x55, 0, 24, 0, 24) + bytes(16), "PDU of type 0x55"),
        (RESPONSE, "PDU of type 0x1 in the place of an answer"),
        (data(Transfer(7, 0, 0, 4), bytes(4)), "a PDU of command 7, which is not in flight"),
        (answer(7), "a PDU of command 7, which is not in flight"),
        (ready(Transfer(7, 0, 0, 4)), "a PDU of command 7, which is not in flight"),
        (ready(Transfer(0, 0, 0, BLOCK)), "a request for data of command 0"),
        (data(Transfer(0, 0, 4, 4), bytes(4)), "data of command 0: 4 bytes from 4 on; expected from 0"),
        (data(Transfer(0, 0, 0, 8), bytes(4)), "a PDU with 4 bytes of data; expected 8"),
        (WHOLE + data(Transfer(0, 0, 2 * BLOCK, 4), bytes(4)), "expected from 8192 on, up to 8192"),
        (answer(0), "command 0 has succeeded with 0 of 8192 bytes"),
        (WHOLE[: 24 + BLOCK] + answer(0), "command 0 has succeeded with 4096 of 8192 bytes"),
    ],
)  # fmt: skip
def test_a_pdu_that_has_no_place(sent, message):
    with pytest.raises(ProtocolError, match=message):
        read_from(sent)


def test_a_pdu_that_never_ends(monkeypatch):
    """Bytes that come all the time do not keep a command waiting."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(0.3)
        theirs.sendall(RESPONSE + WHOLE[:24])
        queue = ClientQueue(ours)
        cid = queue.submit(read_command(1, 0, 2, BLOCK))
        started = time.monotonic()

        receive = queue._receive

        def drip() -> None:
            time.sleep(0.05)
            theirs.sendall(b"\0")
            receive()

        monkeypatch.setattr(queue, "_receive", drip)
        with pytest.raises(TimeoutError, match=r"no whole PDU for 0\.3 s"):
            queue.wait(cid)
        assert time.monotonic() - started < 3


@pytest.mark.parametrize(
    "response, message",
    [
        (Connection(0, 0, 1, 1 << 18), "the target grants digests 1; expected 3, as asked"),
        (Connection(0, 0, 0, 1 << 18), "the target grants digests 0; expected 3, as asked"),
        (Connection(1, 0, 3, 1 << 18), "with version 1"),
        (Connection(0, 9, 3, 1 << 18), "alignment 9"),
        (Connection(0, 0, 3, 0), "0 bytes of data; expected 0, 0 and at least 4096"),
    ],
)
def test_a_connection_without_what_was_asked_for(response, message):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(connection_pdu(PduType.IC_RESPONSE, response))
        with pytest.raises(ProtocolError, match=message):
            ClientQueue(ours, BOTH)


@pytest.mark.parametrize(
    "challenge, message",
    [
        (challenge_message(1, Hash.SHA256, DhGroup.NULL, 1, bytes(32), b""), "chose hash 1 and group 0"),
        (challenge_message(2, Hash.SHA512, DhGroup.FFDHE2048, 1, bytes(64), bytes(256)), "of this tr"),
        (challenge_message(1, Hash.SHA512, DhGroup.FFDHE2048, 1, bytes(64), bytes(256)), "none of its group"),
        (challenge_message(1, Hash.SHA512, DhGroup.FFDHE2048, 1, bytes(64), bytes(4080)), "of this tr"),
        (b"", "message 0"),
    ],
)  # fmt: skip
def test_a_challenge_that_was_not_offered(challenge, message):
    """Above all not a weaker one, by which the target would learn something of the secret."""
    ours, theirs = socket.socketpair()
    offer = Offer(SECRET, (Hash.SHA512,), (DhGroup.FFDHE2048,))
    with ours, theirs:
        theirs.sendall(
            RESPONSE + answer(0) + data(Transfer(1, 0, 0, 4096), challenge.ljust(4096, b"\0")[:4096])
        )
        theirs.sendall(answer(1))
        with pytest.raises(ProtocolError, match=f"authentication failed.*{message}"):
            authenticate(ClientQueue(ours), offer, "nqn.2014-08.a", "nqn.2014-08.b")


def test_a_secret_is_used_or_the_connection_is_refused(target):
    with pytest.raises(ProtocolError, match="the target does not demand the secret's proof"):
        target.host(offer=Offer(SECRET))
    with pytest.raises(ServeError, match="the secret is none"):
        Offer("")
    with served(secret=SECRET) as other, other.host(offer=Offer(SECRET)) as host:
        host.identify(1)


def test_streams_with_fields_that_are_none():
    head = bytes(384) + b"FTSTREAM"
    for wrong in (struct.pack("<5B", 1, 3, 9, 1, 1) + b"a", struct.pack("<5B", 1, 3, 1, 1, 2) + b"\xff\xfe"):
        with pytest.raises(ProtocolError, match="a stream with a name, rights or a class that is none"):
            StreamArea.parse((head + wrong).ljust(4096, b"\0"))


def test_a_list_of_more_controllers_than_it_has_room_for(host, monkeypatch):
    monkeypatch.setattr(host, "identify", lambda structure: b"\xff" * 4096)
    with pytest.raises(ProtocolError, match="a list of 65535 controllers; expected at most 2047"):
        host.controllers()


def test_random_pdus_of_a_target(seed):
    """Mutations of a right answer end in data that are right, or in an error of the client, at once."""
    rng = random.Random(seed)
    whole, read = WHOLE + answer(0), 0
    for _ in range(2000):
        changed = bytearray(whole)
        for _ in range(rng.randrange(1, 4)):
            place = rng.choice((0, 24 + BLOCK, len(whole) - 24)) + rng.randrange(24)
            changed[place] = rng.choice((0, 1, 0xFF, rng.randrange(256)))
        try:
            assert read_from(bytes(changed), end=True) == bytes(2 * BLOCK)
            read += 1
        except (ProtocolError, TimeoutError):
            pass
    assert 0 < read < 1500


def test_an_answer_of_an_admin_command_is_whole(host):
    assert len(host.admin.execute(Entry(6, dword_10=1, sgl_length=4096)).data) == 4096
