"""Random PDUs: the target ends what is wrong, and serves the others; 100,000 with `--long`."""

import pytest

from flashtrain.nvme.subsystem.settings import DEFAULT_NQN
from flashtrain.stress.pdus import run
from flashtrain.stress.pdus.run import BrokenTarget, fuzz
from tests.nvme.helpers import BLOCK, served


@pytest.mark.parametrize("pdus", [3_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_random_pdus(seed, pdus):
    with served(stalled_seconds=5.0) as target, target.host() as host:
        seen = fuzz(target.address, DEFAULT_NQN, pdus, seed * 1_000_000)
        print(seen)
        assert seen.terminations > seen.connections // 10 and seen.answers > seen.connections
        assert target.target.subsystem.fault is None
        assert len(host.read(1, 0, 1)) == BLOCK
        assert target.connections() <= 3


def test_a_broken_target_is_found(monkeypatch):
    monkeypatch.setattr(run, "_exchange", lambda address, stream: bytes(8))
    with pytest.raises(BrokenTarget, match="seed 7: PDU of type 0x0"):
        fuzz(("127.0.0.1", 1), DEFAULT_NQN, 1, 7)
