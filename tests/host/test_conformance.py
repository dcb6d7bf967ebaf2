"""The comparison of two Links finds what differs, says where, and can be repeated."""

from random import Random

import pytest

from flashtrain.host import FunctionalLink
from flashtrain.host.conformance import Mismatch, RandomCommands, compare_links
from flashtrain.host.functional.storage import Storage
from flashtrain.host.functional.zones import StreamZones
from flashtrain.spec import Status, preset
from flashtrain.spec.streams import SINGLE_NODE

TINY = preset("tiny")
SEED = 1


def compare(commands=300):
    return compare_links(TINY, SEED, commands, FunctionalLink(TINY), FunctionalLink(TINY))


def spoil_one(monkeypatch, owner, name, spoil):
    """Spoil what one call of a method gives, with its last argument, so that one of two Links is wrong."""
    original, calls = getattr(owner, name), []

    def method(*arguments):
        calls.append(name)
        result = original(*arguments)
        return spoil(result, arguments[-1]) if len(calls) == 12 else result

    monkeypatch.setattr(owner, name, method)


def test_equal_links_agree():
    statuses = compare()
    assert sum(statuses.values()) == 300
    assert statuses == compare()


def test_a_wrong_status_is_found(monkeypatch):
    spoil_one(monkeypatch, StreamZones, "append", lambda *_: Status.WRITE_FAULT)
    with pytest.raises(Mismatch, match=rf"seed {SEED}, command \d+, .*WRITE_FAULT"):
        compare()


def test_wrong_data_are_found(monkeypatch):
    def spoilt(lost, out):
        out[:, 0] ^= 1
        return lost

    spoil_one(monkeypatch, Storage, "read", spoilt)
    with pytest.raises(Mismatch, match=r"the data differ from byte 0 on"):
        compare()


def test_random_commands_keep_apart(seed):
    """Within a batch a stream has one port, and every command a piece of the tensor buffer of its own."""
    source = RandomCommands(Random(seed), TINY, SINGLE_NODE, lambda i: 0x1000 * (i + 1), 1 << 20)
    kinds = set()
    for _ in range(50):
        batch = source.batch(24)
        assert [command.cid for command in batch] == list(range(24))
        owners: dict[int, int] = {}
        for i, command in enumerate(batch):
            kinds.add(command.kind)
            fields = dict(command.fields)
            if not command.flipped and fields["nsid"] in range(1, 5):
                assert owners.setdefault(fields["nsid"], command.port) == command.port
            if command.kind == "valid" and "address" in fields:
                assert fields["address"] // 0x1000 == i + 1
                pages = RandomCommands.piece_blocks(TINY) * TINY.geometry.page_bytes
                assert fields["address"] % 0x1000 + fields["length"] <= max(0x1000, pages)
    assert {"valid", "flipped", "spoilt (opcode)", "spoilt (length)"} <= kinds
