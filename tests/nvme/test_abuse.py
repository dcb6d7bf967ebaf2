"""Peers without the secret, beside a host that has it; 10 minutes through each Link with `--long`."""

import pytest

from flashtrain.cli.links import LINKS
from flashtrain.stress.pdus.abuse import abuse

MOST_BYTES = 256 << 20


@pytest.mark.parametrize(
    "link, preset, seconds, dialogues",
    [
        ("functional", "small", 2, 20),
        pytest.param("functional", "small", 0, 10_000, marks=pytest.mark.long),
        pytest.param("functional", "small", 600, 1, marks=pytest.mark.long),
        pytest.param("rtl", "tiny", 600, 1, marks=pytest.mark.long),
    ],
)
def test_abuse(link, preset, seconds, dialogues, seed):
    """The host's data are right, no peer is let in, the memory is bounded, and nothing is left of them."""
    stalled, peers = (5.0, 8) if seconds == 2 else (30.0, 24)
    endured = abuse(
        preset, LINKS[link].factory, seconds, seed, peers=peers, dialogues=dialogues,
        stalled_seconds=stalled, progress=print,
    )  # fmt: skip
    print(endured)
    assert endured.operations >= 20 and endured.dialogues >= dialogues
    assert endured.counts.most_memory_bytes < MOST_BYTES
    assert endured.gone_seconds < stalled + 10
