"""DH-HMAC-CHAP: secrets, groups, and hosts that have the secret or not."""

import pytest

from flashtrain.nvme.client.authentication import Offer
from flashtrain.nvme.errors import CommandFailed, ProtocolError, ServeError
from flashtrain.nvme.target.server import Target
from flashtrain.nvme.target.settings import Settings
from flashtrain.nvme.wire.dhchap import Hash, make_secret, parse_secret
from flashtrain.nvme.wire.ffdhe import DhGroup, KeyExchange, prime
from tests.nvme.helpers import served

KEY = bytes(range(32))
SECRET = make_secret(KEY)


def test_secrets():
    assert parse_secret(SECRET, "nqn.x") == KEY
    transformed = parse_secret(make_secret(KEY, 2), "nqn.x")
    assert len(transformed) == 48 and transformed != parse_secret(make_secret(KEY, 2), "nqn.y")
    for wrong in (
        "",
        "DHHC-1:00:AAAA:",
        SECRET[:-1],
        SECRET.replace("DHHC-1:00", "DHHC-1:04"),
        SECRET.replace("A", "B", 1),
    ):
        with pytest.raises(ServeError, match="the secret is none"):
            parse_secret(wrong, "nqn.x")


def test_the_primes_are_those_of_the_rfc():
    """The ends that RFC 7919 prints; and the smallest one is a safe prime."""
    p = prime(DhGroup.FFDHE2048)
    assert p >> 2048 - 128 == 0xFFFFFFFFFFFFFFFF_ADF85458A2BB4A9A
    ends = {1: 0x886B423861285C97, 2: 0x25E41D2B66C62E37, 3: 0xC68A007E5E655F6A}
    for group, end in ends.items():
        assert prime(DhGroup(group)) & (1 << 128) - 1 == end << 64 | (1 << 64) - 1
    for number in (p, p >> 1):
        assert pow(3, number - 1, number) == 1 and pow(5, number - 1, number) == 1


def test_an_exchange_refuses_values_outside_of_the_group():
    one, other = KeyExchange(DhGroup.FFDHE2048), KeyExchange(DhGroup.FFDHE2048)
    assert one.shared(other.public) == other.shared(one.public) != None  # noqa: E711
    for wrong in (0, 1, prime(DhGroup.FFDHE2048) - 1):
        assert one.shared(wrong.to_bytes(256, "big")) is None
    assert one.shared(other.public[1:]) is None


@pytest.fixture(scope="module")
def target():
    with served(secret=SECRET) as running:
        yield running


@pytest.mark.parametrize("kind", list(Hash))
@pytest.mark.parametrize("group", [DhGroup.NULL, DhGroup.FFDHE2048, DhGroup.FFDHE3072])
def test_a_host_with_the_secret(target, kind, group):
    with target.host(offer=Offer(SECRET, (kind,), (group,))) as host:
        assert host.read(1, 0, 1) == bytes(4096)


def test_a_host_with_another_secret(target):
    with pytest.raises(ProtocolError, match="reason 1 in the place of success_1"):
        target.host(offer=Offer(make_secret(bytes(32)), groups=(DhGroup.NULL,)))
    assert any("authentication failed" in line for line in target.log)


def test_a_host_without_a_secret_does_nothing(target):
    with pytest.raises(CommandFailed) as refused:
        target.host()
    assert (refused.value.status, refused.value.do_not_retry) == (0x191, True)


@pytest.mark.parametrize(
    "offer, reason",
    [(Offer(SECRET, ()), 4), (Offer(SECRET, groups=()), 5), (Offer(SECRET, groups=(DhGroup.FFDHE6144,)), 5)],
)
def test_offers_that_fit_nothing(target, offer, reason):
    with pytest.raises(ProtocolError, match=f"reason {reason} in the place of challenge"):
        target.host(offer=offer)


def test_a_secret_that_is_none_is_found_at_the_start():
    with pytest.raises(ServeError):
        Target(None, Settings(secret="mine"))  # type: ignore[arg-type]
