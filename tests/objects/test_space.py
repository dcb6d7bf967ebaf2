"""Room: streams that are full, zones that are emptied, and names that are compacted."""

import errno
import random

import pytest

from flashtrain.objects.errors import ClaimLost, ObjectReplaced
from flashtrain.spec import Port, ZoneState
from tests.nvme.helpers import served
from tests.objects.helpers import connect
from tests.objects.model import content

ZONE = 24 * 512
"""Bytes of a zone of `tiny`. The stream of objects has 11 zones."""


def test_a_full_stream():
    """All but the reserve can be used, a failure leaves no trace, and deletions make room."""
    with served("tiny", node="objects") as target:
        fs = connect(target)
        stored = 0
        with pytest.raises(OSError, match="stream 'objects' is full") as caught:
            for number in range(100):
                fs.pipe(f"objects/{number}", bytes([number]) * 4096)
                stored += 4096
        assert caught.value.errno == errno.ENOSPC
        assert stored >= 10 * ZONE - 4096
        with pytest.raises(OSError, match="is full"), fs.open("objects/big", "wb", block_size=512) as file:
            file.write(bytes(8192))
        assert len(fs.find("objects")) == stored // 4096
        for number in range(0, stored // 4096, 2):  # each zone keeps some
            fs.rm(f"objects/{number}")
        fs.pipe("objects/big", b"b" * (stored // 2 - 4096))
        for path, data in content(fs).items():
            expected = b"b" if path == "objects/big" else bytes([int(path.rpartition("/")[2])])
            assert data == expected * len(data)
        fs.rm("objects", recursive=True)
        fs.pipe("objects/all", bytes(10 * ZONE))
        fs.close()


def test_replacing_for_ever(seed):
    """Objects of a third of the stream, replaced again and again, while a reader has an old one open."""
    rng = random.Random(seed)
    with served("tiny", node="objects") as target:
        fs = connect(target)
        for _ in range(25):
            data = rng.randbytes(3 * ZONE + rng.randrange(2000))
            fs.pipe("objects/x", data)
            assert fs.cat("objects/x") == data
        fs.close()


def test_names_of_a_full_stream():
    """Names end with an error that leaves room to delete some."""
    with served("tiny", node="objects") as target:
        fs = connect(target)
        rng = random.Random(1)
        with pytest.raises(OSError, match="stream 'names' has no room for more names") as caught:
            for _ in range(1000):
                fs.mkdir(f"objects/{rng.randbytes(60).hex()}")
        assert caught.value.errno == errno.ENOSPC
        names = fs.ls("objects", detail=False)
        assert len(names) > 40
        fs.rm(names[:20], recursive=True)
        for number in range(30):
            fs.pipe("objects/x", bytes([number]))
        assert len(fs.ls("objects")) == len(names) - 19
        assert connect(target).ls("objects") == fs.ls("objects")
        fs.close()


def test_zones_of_others_are_left_alone():
    """Data that a host has appended by itself are neither overwritten nor reset."""
    with served("tiny", node="objects") as target, target.host() as host:
        host.append(1, 0, b"raw" + bytes(509))
        fs = connect(target)
        with pytest.raises(OSError, match="is full"):
            for number in range(100):
                fs.pipe(f"objects/{number}", bytes(4096))
        fs.rm("objects", recursive=True)
        fs.pipe("objects/all", bytes(9 * ZONE))
        assert host.read(1, 0, 1)[:3] == b"raw"
        fs.close()


def test_a_zone_that_retires():
    """An object in a zone that is offline cannot be read, and says so; the others can."""
    with served("tiny", node="objects") as target:
        fs = connect(target)
        fs.pipe("objects/lost", bytes(ZONE))
        fs.pipe("objects/kept", b"kept")
        zone = fs.store.names.state.entries["objects/lost"].extents[0].lba // 32

        def retire(device) -> None:
            device.stream("objects", Port.HOST).retire_zone(zone, ZoneState.OFFLINE)

        target.run(target.target.subsystem.thread.ask(retire))
        with pytest.raises(OSError, match="objects/lost: stream 'objects': read failed"):
            fs.cat("objects/lost")
        assert fs.cat("objects/kept") == b"kept"
        fs.pipe("objects/lost", b"anew")
        assert fs.cat("objects/lost") == b"anew"
        fs.close()


def test_a_writer_that_was_silent_for_too_long():
    """Another client takes its zones once it needs them: the object does not appear."""
    with served("tiny", node="objects") as target:
        slow, other = connect(target), connect(target)
        file = slow.open("objects/slow", "wb", block_size=512)
        file.write(b"s" * 2 * ZONE)
        with pytest.raises(OSError, match=r"full.*; other clients have 2 zones, until 60 s after"):
            other.pipe("objects/other", b"o" * 9 * ZONE)
        other.store.leases.seconds = 0.0  # as if a minute had passed
        other.pipe("objects/other", b"o" * 9 * ZONE)
        with pytest.raises(ClaimLost, match="objects/slow: no byte was written for 60 s"):
            file.close()
        assert content(slow) == {"objects/other": b"o" * 9 * ZONE}
        slow.close()
        other.close()


def test_a_reader_of_an_object_that_is_gone():
    with served("tiny", node="objects") as target:
        writer, reader = connect(target), connect(target)
        writer.pipe({"objects/x": b"x" * 5000, "objects/y": b"y" * 2000})
        gone, moved = (reader.open(f"objects/{name}", cache_type="none") for name in "xy")
        writer.rm("objects/x")
        writer.mv("objects/y", "objects/z")
        assert gone.read(100) == b"x" * 100  # its zone has not been reset
        writer.pipe("objects/other", bytes(9 * ZONE))
        writer.pipe("objects/next", bytes(18 * 512))  # needs the room of x
        with pytest.raises(ObjectReplaced, match="objects/x: the object was replaced or deleted"):
            gone.read(100)
        assert moved.read() == b"y" * 2000
        for one in (gone, moved, writer, reader):
            one.close()
