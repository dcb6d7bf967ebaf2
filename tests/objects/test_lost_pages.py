"""A lost page of the log of names costs no name."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from flashtrain.host.functional.executor import Executor
from flashtrain.objects import record
from tests.nvme.helpers import Served, served
from tests.objects.helpers import connect
from tests.objects.model import content


@contextmanager
def lost(target: Served, nsid: int, lba: int) -> Iterator[None]:
    """This block cannot be read."""
    original = Executor._fetch

    def fetch(self, entry, stream, index, offset):
        first = index * self._config.geometry.zone_size + offset
        missing = original(self, entry, stream, index, offset)
        return missing + (entry.nsid == nsid and first <= lba < first + entry.blocks)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Executor, "_fetch", fetch)
        yield


@pytest.mark.parametrize("names", [3, 24], ids=["changes of a block", "a snapshot of several"])
def test_every_page_of_the_names(names):
    with served("tiny", node="objects") as target:
        fs = connect(target)
        fs.pipe({f"objects/{number:03}-{number * 7919:032x}": bytes([number]) for number in range(names)})
        fs.mv(f"objects/{1:03}-{7919:032x}", "objects/moved")
        for turn in range(4):
            fs.pipe("objects/last", bytes([turn]))
        expected, log = content(fs), fs.store.names._log
        assert log is not None
        stream, first = fs.store.names._stream, log.zone * fs.store.names._stream.zone_size
        began = time.monotonic()
        for lba in range(first, log.pointer):
            with lost(target, stream.nsid, lba):
                late = connect(target)
                assert content(late) == expected, lba - first
                late.pipe("objects/last", b"more")
                expected["objects/last"] = b"more"
                late.close()
        assert time.monotonic() - began < 30, "no reader waits for an append in flight"
        assert content(connect(target)) == expected
        fs.close()


def test_a_log_of_single_records(monkeypatch):
    """The format before: it is read, and goes on."""
    packed = record.packed

    def single(*arguments):
        return [part[: len(part) // 2] for part in packed(*arguments)]

    with served("tiny", node="objects") as target:
        with monkeypatch.context() as patch:
            patch.setattr("flashtrain.objects.names.packed", single)
            fs = connect(target)
            for number in range(4):
                fs.pipe(f"objects/{number}", bytes([number]))
            fs.close()
        late = connect(target)
        late.pipe("objects/4", bytes([4]))
        late.rm("objects/0")
        assert content(connect(target)) == {f"objects/{number}": bytes([number]) for number in range(1, 5)}
        late.close()
