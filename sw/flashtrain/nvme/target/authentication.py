"""The authentication of a host on one queue, by DH-HMAC-CHAP (NVM Express Base 2.0, section 8.13.5)."""

import hmac
import secrets
from enum import Enum, IntEnum, auto

from flashtrain.nvme.wire import dhchap
from flashtrain.nvme.wire.dhchap import Challenge, Hash, Message, Negotiation
from flashtrain.nvme.wire.ffdhe import DhGroup, KeyExchange

MOST_MESSAGE_BYTES = 4096
"""Of a message: the longest has a response, a challenge and a public value, 1,168 bytes."""

LARGEST_GROUP = DhGroup.FFDHE4096
"""A peer without a proof costs the processor no key exchange of a larger group."""


class Reason(IntEnum):
    """Explanation of a failure (NVM Express Base 2.0, Figure 433)."""

    AUTHENTICATION_FAILED = 1
    PROTOCOL_NOT_USABLE = 2
    SECURE_CHANNEL_MISMATCH = 3
    HASH_NOT_USABLE = 4
    GROUP_NOT_USABLE = 5
    INCORRECT_PAYLOAD = 6
    INCORRECT_MESSAGE = 7


class Stage(Enum):
    NEGOTIATION = auto()
    CHALLENGE = auto()
    REPLY = auto()
    DONE = auto()
    FAILED = auto()


class Authentication:
    """Takes the messages of a host, and has the answer to each.

    `stage` is DONE when the host has proved to have the key, and FAILED when it cannot any more.
    """

    def __init__(self, key: bytes, host: str, subsystem: str) -> None:
        self._key, self._host, self._subsystem = key, host, subsystem
        self.stage = Stage.NEGOTIATION
        self._transaction = 0
        self._answer = b""
        self._hash, self._group = Hash.SHA256, DhGroup.NULL
        self._exchange: KeyExchange | None = None
        self._challenge, self._sequence = b"", 0

    @property
    def over(self) -> bool:
        """Whether it has failed, and the host has taken the reason."""
        return self.stage is Stage.FAILED and not self._answer

    def receive(self, data: bytes) -> None:
        """A message of the host."""
        kind = dhchap.kind_of(data)
        if self.stage is Stage.NEGOTIATION and kind == Message.NEGOTIATE:
            self._negotiate(dhchap.parse_negotiate(data))
        elif self.stage is Stage.REPLY and kind == Message.REPLY:
            self._check(data)
        elif self.stage is Stage.DONE and kind == Message.SUCCESS_2:
            pass
        elif kind == Message.FAILURE_2:
            self.stage = Stage.FAILED
        else:
            self._fail(Reason.INCORRECT_MESSAGE)

    def answer(self, length: int) -> bytes:
        """The message for the host, which may be cut if the host has room for less."""
        if self.stage is Stage.CHALLENGE:
            self.stage = Stage.REPLY
        elif not self._answer:
            self._fail(Reason.INCORRECT_MESSAGE)
        answer, self._answer = self._answer, b""
        return answer.ljust(length, b"\0")[:length]

    def _negotiate(self, offer: Negotiation | None) -> None:
        if offer is None:
            self._fail(Reason.PROTOCOL_NOT_USABLE)
            return
        self._transaction = offer.transaction
        hashes = [one for one in offer.hashes if one in list(Hash)]
        groups = [one for one in offer.groups if one <= LARGEST_GROUP]
        if offer.secure:
            self._fail(Reason.SECURE_CHANNEL_MISMATCH)
        elif not hashes:
            self._fail(Reason.HASH_NOT_USABLE)
        elif not groups:
            self._fail(Reason.GROUP_NOT_USABLE)
        else:
            self._begin(Hash(hashes[0]), DhGroup(max(groups)))

    def _begin(self, kind: Hash, group: DhGroup) -> None:
        self._hash, self._group = kind, group
        self._exchange = KeyExchange(group) if group else None
        self._challenge, self._sequence = secrets.token_bytes(kind.bytes), secrets.randbits(31) + 1
        public = b"" if self._exchange is None else self._exchange.public
        self._answer = dhchap.challenge_message(
            self._transaction, kind, group, self._sequence, self._challenge, public
        )
        self.stage = Stage.CHALLENGE

    def _check(self, data: bytes) -> None:
        reply = dhchap.parse_reply(data, self._hash)
        if reply is None or reply.transaction != self._transaction:
            self._fail(Reason.INCORRECT_PAYLOAD)
            return
        shared: bytes | None = b""
        if self._exchange is not None:
            shared = self._exchange.shared(reply.public)
        if shared is None:
            self._fail(Reason.INCORRECT_PAYLOAD)
            return
        challenge = Challenge(self._challenge, shared, self._sequence, self._transaction)
        expected = dhchap.response(self._key, self._hash, challenge, self._host, self._subsystem)
        if reply.mutual or not hmac.compare_digest(expected, reply.response):
            self._fail(Reason.AUTHENTICATION_FAILED)
            return
        self._answer = dhchap.success_message(self._transaction, self._hash)
        self.stage = Stage.DONE

    def _fail(self, reason: Reason) -> None:
        self._answer = dhchap.failure_message(self._transaction, reason)
        self.stage = Stage.FAILED
