"""DH-HMAC-CHAP: secrets, messages and responses (NVM Express Base 2.0, section 8.13.5)."""

import base64
import binascii
import hashlib
import hmac
import re
import struct
import zlib
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from flashtrain.nvme.errors import ServeError

from .ffdhe import DhGroup

COMMON_TYPE, DHCHAP_TYPE = 0, 1
PROTOCOL = 0x01
SECURITY_PROTOCOL = 0xE9
FAILED = 1
_SECRET = re.compile(r"DHHC-1:0([0-3]):([A-Za-z0-9+/=]+):", re.ASCII)
_DESCRIPTOR = struct.Struct("<BxBB60s")
_CHALLENGE = struct.Struct("<BBxxHBxBBHI")
_REPLY = struct.Struct("<BBxxHBxBxHI")


class Message(IntEnum):
    NEGOTIATE = 0x00
    CHALLENGE = 0x01
    REPLY = 0x02
    SUCCESS_1 = 0x03
    SUCCESS_2 = 0x04
    FAILURE_1 = 0xF0
    FAILURE_2 = 0xF1


class Hash(IntEnum):
    SHA256 = 1
    SHA384 = 2
    SHA512 = 3

    @property
    def algorithm(self) -> str:
        return self.name.lower()

    @property
    def bytes(self) -> int:
        return hashlib.new(self.algorithm).digest_size


@dataclass(frozen=True)
class Negotiation:
    """Hashes and groups that a host offers, in its order. secure: it asks for a secure channel, too."""

    transaction: int
    secure: int
    hashes: list[int]
    groups: list[int]


@dataclass(frozen=True)
class Reply:
    """A host's answer to a challenge. mutual: it challenges the controller, too."""

    transaction: int
    mutual: bool
    sequence: int
    response: bytes
    public: bytes


def parse_secret(text: str, nqn: str) -> bytes:
    """The key of a secret `DHHC-1:hash:base64:`, transformed for the host `nqn` as the secret asks for.

    :class:`ServeError` for a text that is no such secret.
    """
    try:
        form = _SECRET.fullmatch(text)
        if form is None:
            raise ValueError
        kind, raw = int(form[1]), base64.b64decode(form[2], validate=True)
        key, check = raw[:-4], raw[-4:]
        if len(key) not in (32, 48, 64) or zlib.crc32(key).to_bytes(4, "little") != check:
            raise ValueError
    except (ValueError, binascii.Error):
        raise ServeError("the secret is none of the form DHHC-1:00:...: with a right checksum") from None
    if not kind:
        return key
    return hmac.digest(key, nqn.encode() + b"NVMe-over-Fabrics", Hash(kind).algorithm)


def make_secret(key: bytes, kind: int = 0) -> str:
    """The text of a key."""
    return f"DHHC-1:{kind:02x}:{base64.b64encode(key + zlib.crc32(key).to_bytes(4, 'little')).decode()}:"


@dataclass(frozen=True)
class Challenge:
    """A challenge with its numbers. shared: the value of the key exchange, empty without one."""

    value: bytes
    shared: bytes
    sequence: int
    transaction: int


def response(key: bytes, kind: Hash, challenge: Challenge, host: str, subsystem: str) -> bytes:
    """The response of a host to a challenge."""
    value = challenge.value
    if challenge.shared:
        session = hashlib.new(kind.algorithm, challenge.shared).digest()
        value = hmac.digest(session, value, kind.algorithm)
    text = value + struct.pack("<IHB", challenge.sequence, challenge.transaction, 0) + b"HostHost"
    return hmac.digest(key, text + host.encode() + b"\0" + subsystem.encode(), kind.algorithm)


# Messages.


def kind_of(data: bytes) -> int | None:
    """The message that `data` begin with; None if they are none."""
    if len(data) < 8:
        return None
    own = COMMON_TYPE if data[1] in (Message.NEGOTIATE, Message.FAILURE_1, Message.FAILURE_2) else DHCHAP_TYPE
    return data[1] if data[0] == own else None


def negotiate(negotiation: Negotiation) -> bytes:
    """The message of a host that begins an authentication."""
    ids = bytes(negotiation.hashes).ljust(30, b"\0") + bytes(negotiation.groups).ljust(30, b"\0")
    descriptor = _DESCRIPTOR.pack(PROTOCOL, len(negotiation.hashes), len(negotiation.groups), ids)
    head = struct.pack(
        "<BBxxHBB", COMMON_TYPE, Message.NEGOTIATE, negotiation.transaction, negotiation.secure, 1
    )
    return head + descriptor


def parse_negotiate(data: bytes) -> Negotiation | None:
    """The offer of DH-HMAC-CHAP among the protocols of a host; None without one."""
    transaction, secure, count = struct.unpack_from("<HBB", data, 4)
    for number in range(count):
        place = 8 + number * _DESCRIPTOR.size
        if len(data) < place + _DESCRIPTOR.size:
            return None
        protocol, hashes, groups, ids = _DESCRIPTOR.unpack_from(data, place)
        if protocol == PROTOCOL and hashes <= 30 and groups <= 30:
            return Negotiation(transaction, secure, list(ids[:hashes]), list(ids[30 : 30 + groups]))
    return None


def challenge_message(
    transaction: int, kind: Hash, group: DhGroup, sequence: int, challenge: bytes, public: bytes
) -> bytes:
    head = _CHALLENGE.pack(
        DHCHAP_TYPE, Message.CHALLENGE, transaction, kind.bytes, kind, group, len(public), sequence
    )
    return head + challenge + public


class Challenged(NamedTuple):
    """The content of a challenge: `value` and `public` are the challenge and the public value."""

    transaction: int
    hash: int
    group: int
    sequence: int
    value: bytes
    public: bytes


def parse_challenge(data: bytes) -> Challenged | None:
    """The content of a challenge; None if its lengths are wrong."""
    if len(data) < _CHALLENGE.size:
        return None
    _, _, transaction, length, kind, group, public, sequence = _CHALLENGE.unpack_from(data)
    place = _CHALLENGE.size
    middle, end = place + length, place + length + public
    if len(data) < end or kind not in list(Hash) or length != Hash(kind).bytes:
        return None
    return Challenged(transaction, kind, group, sequence, data[place:middle], data[middle:end])


def reply_message(transaction: int, sequence: int, answer: bytes, public: bytes) -> bytes:
    head = _REPLY.pack(DHCHAP_TYPE, Message.REPLY, transaction, len(answer), 0, len(public), sequence)
    return head + answer + bytes(len(answer)) + public


def parse_reply(data: bytes, kind: Hash) -> Reply | None:
    """A host's answer; None if its lengths are wrong."""
    if len(data) < _REPLY.size:
        return None
    _, _, transaction, length, mutual, public, sequence = _REPLY.unpack_from(data)
    place = _REPLY.size
    if length != kind.bytes or len(data) < place + 2 * length + public:
        return None
    end = place + 2 * length
    return Reply(transaction, bool(mutual), sequence, data[place : place + length], data[end : end + public])


def success_message(transaction: int, kind: Hash) -> bytes:
    return struct.pack("<BBxxHBxB7x", DHCHAP_TYPE, Message.SUCCESS_1, transaction, kind.bytes, 0)


def failure_message(transaction: int, reason: int) -> bytes:
    return struct.pack("<BBxxHBB", COMMON_TYPE, Message.FAILURE_1, transaction, FAILED, reason)
