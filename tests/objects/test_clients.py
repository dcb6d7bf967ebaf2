"""Several clients of one stream at once, and clients in forked processes."""

import multiprocessing
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest

from flashtrain.objects.filesystem import FlashFileSystem
from flashtrain.objects.leases import Leases
from flashtrain.objects.session import Session
from flashtrain.objects.state import State, ZoneKey, ZoneNote
from flashtrain.spec import preset
from tests.host.test_processes import in_fork
from tests.nvme.helpers import served
from tests.objects.helpers import connect, kill
from tests.objects.model import content


def test_clients_at_once(target, fs):
    """Each object has the bytes of one of its writers, and nothing is lost."""

    def work(number: int) -> list[str]:
        one, won = connect(target), []
        for turn in range(12):
            one.pipe(f"objects/{number}/{turn}", bytes([number, turn]) * 3000)
            try:
                one.pipe_file(f"objects/once/{turn}", bytes([number]) * 5000, mode="create")
                won.append(f"objects/once/{turn}")
            except FileExistsError:
                pass
            one.pipe("objects/all", bytes([number]) * 20_000)
        one.close()
        return won

    with ThreadPoolExecutor(4) as threads:
        won = list(threads.map(work, range(4)))
    found = content(fs)
    assert sorted(path for paths in won for path in paths) == [
        f"objects/once/{n}" for n in sorted(map(str, range(12)))
    ]
    for number, paths in enumerate(won):
        assert all(found[path] == bytes([number]) * 5000 for path in paths)
        assert all(found[f"objects/{number}/{turn}"] == bytes([number, turn]) * 3000 for turn in range(12))
    assert found["objects/all"] == found["objects/all"][:1] * 20_000


def test_threads_of_one_client(fs):
    def work(number: int) -> bytes:
        with fs.open(f"objects/{number}", "wb", block_size=4096) as file:
            for _ in range(5):
                file.write(bytes([number]) * 3000)
        return fs.cat(f"objects/{number}")

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(work, range(24))) == [bytes([number]) * 15_000 for number in range(24)]


def _write(fs: FlashFileSystem, number: int) -> None:
    assert fs.cat("objects/before") == b"before"
    fs.pipe(f"objects/{number}", bytes([number]) * 10_000)


def test_forked_processes(fs):
    """Workers of a `DataLoader` inherit a client: each opens a connection of its own."""
    fs.pipe("objects/before", b"before")
    workers = [
        multiprocessing.get_context("fork").Process(target=_write, args=(fs, number)) for number in range(2)
    ]
    for worker in workers:
        worker.start()
    fs.pipe("objects/mine", b"mine")
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    assert fs.cat("objects/mine") == b"mine"
    assert [fs.cat(f"objects/{number}") for number in range(2)] == [bytes([n]) * 10_000 for n in range(2)]


def test_a_client_is_pickled(fs):
    import pickle

    fs.pipe("objects/x", b"x")
    again = pickle.loads(pickle.dumps(fs))
    assert again.cat("objects/x") == b"x" and again.address == fs.address
    again.close()


def test_a_file_that_is_being_written_stays_with_its_process(fs):
    """A forked process neither appends to it nor names or drops it; it writes objects of its own."""
    file: Any = fs.open("objects/mine", "wb", block_size=512)
    file.write(b"m" * 5000)

    def work() -> None:
        refused = [in_fork(lambda: file.write(b"x"))[0], in_fork(file.commit)[0]]
        file.close()
        fs.pipe("objects/other", b"o" * 5000)
        fs.close()
        assert refused == ["ForeignProcess"] * 2

    assert in_fork(work) == ("NoneType", "None")
    file.write(b"m" * 5000)
    file.close()
    assert content(fs) == {"objects/mine": b"m" * 10_000, "objects/other": b"o" * 5000}


def test_a_connection_belongs_to_its_process(target):
    with target.host() as host:
        before = host.identify(1)
        assert in_fork(lambda: host.identify(1))[0] == "ForeignProcess"
        assert in_fork(host.close)[0] == "NoneType"
        assert host.identify(1) == before


LEASE = 12.0
"""Seconds; a client whose connection has ended has lost its claims after a sixtieth."""


def _client(target) -> FlashFileSystem:
    return connect(target, lease=LEASE)


def _crash(target, data: bytes = b"x" * 700) -> None:
    """A client is killed while it writes an object."""
    one = _client(target)
    file: Any = one.open("objects/never", "wb", block_size=512)
    file.write(data)
    kill(one, file)


def test_clients_that_crash_lock_nobody_out():
    """There are more of them than active zones. The next client waits for no lease.

    A client that crashes takes the zone of the one before, so the zones do not run out.
    """
    with served("tiny", node="objects") as target:
        for _ in range(preset("tiny").max_active + 3):
            _crash(target)
        began = time.monotonic()
        late = _client(target)
        late.pipe("objects/x", b"x" * 50_000)
        assert late.cat("objects/x") == b"x" * 50_000 and late.ls("objects", detail=False) == ["objects/x"]
        assert time.monotonic() - began < LEASE / 4
        late.close()


def test_full_of_zones_of_clients_that_crashed():
    """Their data have no names: the room is there at once."""
    with served("tiny", node="objects") as target:
        for _ in range(5):
            _crash(target, bytes(2 * 24 * 512))
        late = _client(target)
        late.pipe("objects/x", b"x" * 9 * 24 * 512)
        assert len(late.cat("objects/x")) == 9 * 24 * 512
        late.close()


def test_a_client_whose_connection_broke_keeps_its_zones():
    """It renews its claims before another one misses it for long."""
    with served("tiny", node="objects") as target:
        slow, other = _client(target), _client(target)
        file: Any = slow.open("objects/slow", "wb", block_size=512)
        file.write(b"s" * 5000)
        other.pipe("objects/other", b"o" * 1000)
        slow.store._session.close()  # the next command opens another connection
        file.write(b"s" * 5000)
        time.sleep(LEASE / 30)
        with pytest.raises(OSError, match=r"full.*; other clients have \d zones"):
            other.pipe("objects/large", bytes(10 * 24 * 512))
        file.close()
        assert slow.cat("objects/slow") == b"s" * 10_000
        slow.close()
        other.close()


def test_a_target_that_lists_no_controllers(monkeypatch):
    """Any target of zoned namespaces will do: claims end with the lease."""
    monkeypatch.setattr(Session, "controllers", lambda self: None)
    with served("tiny", node="objects") as target:
        for _ in range(5):
            _crash(target, bytes(2 * 24 * 512))
        late = _client(target)
        with pytest.raises(OSError, match=r"full.*; other clients have \d+ zones, until 12 s after"):
            late.pipe("objects/x", bytes(9 * 24 * 512))
        late.store.leases.seconds = 0.0
        late.pipe("objects/x", bytes(9 * 24 * 512))
        late.close()


@pytest.mark.parametrize("controller, free", [(3, True), (7, False), (None, False)])
def test_a_claim_without_the_number_of_a_controller_lasts_for_the_lease(controller, free):
    """Earlier versions have made such claims. The claim of controller 3, which is gone, ends sooner."""

    class ListedSession:
        controller = 1

        def controllers(self) -> set[int]:
            return {1, 7}

    leases, state, key = Leases(cast(Session, ListedSession()), 6.0), State(), ZoneKey(1, 0)
    note = ZoneNote("another client", 1)
    state.zones[key] = note if controller is None else note._replace(controller=controller)
    leases.observe(state)
    time.sleep(1.5 * leases.grace)
    assert leases.free(state, key) is free
