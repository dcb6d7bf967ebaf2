"""The host's side of DH-HMAC-CHAP."""

import struct
from dataclasses import dataclass

from flashtrain.nvme.errors import ProtocolError
from flashtrain.nvme.wire import dhchap
from flashtrain.nvme.wire.commands import FabricsType
from flashtrain.nvme.wire.dhchap import Hash, Message, Negotiation
from flashtrain.nvme.wire.ffdhe import DhGroup, KeyExchange

from .fabrics import fabrics
from .queue import ClientQueue

_MOST_BYTES = 4096
_TRANSACTION = 1


@dataclass(frozen=True)
class Offer:
    """A host's secret, and the hashes and groups that it offers; :class:`ServeError` for a wrong secret."""

    secret: str
    hashes: tuple[Hash, ...] = tuple(Hash)
    groups: tuple[DhGroup, ...] = tuple(DhGroup)

    def __post_init__(self) -> None:
        dhchap.parse_secret(self.secret, "nqn.")


def authenticate(queue: ClientQueue, offer: Offer, host: str, subsystem: str) -> None:
    """Prove to have the secret; :class:`ProtocolError` if the target does not believe it."""
    _send(queue, dhchap.negotiate(Negotiation(_TRANSACTION, 0, list(offer.hashes), list(offer.groups))))
    challenged = dhchap.parse_challenge(_receive(queue, Message.CHALLENGE))
    if challenged is None or challenged.transaction != _TRANSACTION:
        raise ProtocolError("authentication failed: the target's challenge is none of this transaction")
    if challenged.hash not in offer.hashes or challenged.group not in offer.groups:
        raise ProtocolError(
            f"authentication failed: the target chose hash {challenged.hash} and group {challenged.group};"
            " expected one of those that were offered"
        )
    kind, group = Hash(challenged.hash), DhGroup(challenged.group)
    own, shared = b"", b""
    if group:
        exchange = KeyExchange(group)
        own, found = exchange.public, exchange.shared(challenged.public)
        if found is None:
            raise ProtocolError("authentication failed: the target's public value is none of its group")
        shared = found
    key = dhchap.parse_secret(offer.secret, host)
    exchanged = dhchap.Challenge(challenged.value, shared, challenged.sequence, _TRANSACTION)
    answer = dhchap.response(key, kind, exchanged, host, subsystem)
    _send(queue, dhchap.reply_message(_TRANSACTION, challenged.sequence, answer, own))
    _receive(queue, Message.SUCCESS_1)


def _send(queue: ClientQueue, message: bytes) -> None:
    entry = fabrics(FabricsType.AUTHENTICATION_SEND, _fields(len(message)))
    if status := queue.execute(entry, message).answer.status:
        raise ProtocolError(f"a message of the authentication was refused with status {status:#05x}")


def _receive(queue: ClientQueue, expected: Message) -> bytes:
    entry = fabrics(FabricsType.AUTHENTICATION_RECEIVE, _fields(_MOST_BYTES))
    done = queue.execute(entry._replace(sgl_length=_MOST_BYTES))
    data = bytes(done.data)
    kind = dhchap.kind_of(data)
    if done.answer.status or kind != expected:
        reason = f"reason {data[7]}" if kind == Message.FAILURE_1 else f"message {kind}"
        raise ProtocolError(f"authentication failed: {reason} in the place of {expected.name.lower()}")
    return data


def _fields(length: int) -> bytes:
    return struct.pack("<xBBBI16x", 1, 1, dhchap.SECURITY_PROTOCOL, length)
