"""Checkpoints that are appended, and in files: one interface, the same arrays back."""

from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest

from flashtrain.checkpoint import (
    AppendedCheckpoints,
    Checkpoint,
    CheckpointDamaged,
    CheckpointError,
    CheckpointExists,
    FileCheckpoints,
    NoCheckpoint,
    Retention,
    load,
    prune,
    save,
)
from flashtrain.checkpoint.stores.manifest import Manifest
from flashtrain.checkpoint.stores.stored_checkpoint import StoredCheckpoint
from flashtrain.checkpoint.stores.stream_catalogue import CatalogueEntry, Piece
from flashtrain.host import FunctionalLink, NoteTooLong, StreamFull, open_device
from flashtrain.host.functional.executor import Executor
from flashtrain.model import ModelLink
from flashtrain.spec import ConfigError, preset
from flashtrain.spec.streams import UPDATE_NODE, Codec


@pytest.fixture(params=["appended", "coded", "files"])
def store(request, tmp_path):
    if request.param == "files":
        yield FileCheckpoints(tmp_path / "run")
        return
    coded = request.param == "coded"
    node = UPDATE_NODE.with_codecs(trained=Codec.WINDOW32) if coded else UPDATE_NODE
    config = preset("tiny_codec" if coded else "tiny")
    config = replace(config, geometry=replace(config.geometry, blocks=40))
    with FunctionalLink(config, 1 << 17) as link, open_device(link=link, node=node) as device:
        yield AppendedCheckpoints(device)


def same(found, expected):
    return found.keys() == expected.keys() and all(
        found[name].dtype == array.dtype and found[name].shape == array.shape
        and found[name].tobytes() == array.tobytes()
        for name, array in expected.items()
    )  # fmt: skip


def test_what_was_saved_is_loaded(store, arrays):
    assert store.checkpoints == ()
    before = {name: array.copy() for name, array in arrays.items()}
    saving = store.save_async("first", 7, arrays, b"host")
    arrays["w/0"][:] = 0  # the snapshot is taken
    first = saving.result()
    assert saving.done and first == store.checkpoints[0] and (first.name, first.step) == ("first", 7)
    assert same(load(store, "first"), before)
    assert np.array_equal(store.read("first", "order"), before["order"])
    manifest = store.manifest("first")
    assert manifest.host == b"host" and [entry.name for entry in manifest.arrays] == list(arrays)
    save(store, "second/of run 1", 8, arrays)
    assert [one.name for one in store.checkpoints] == ["first", "second/of run 1"]
    store.delete("first")
    assert same(load(store, "second/of run 1"), arrays)
    save(store, "nothing", 9, {})
    assert load(store, "nothing") == {}


def test_what_is_refused(store, arrays):
    with pytest.raises(NoCheckpoint, match=r"no checkpoint 'a' in .*; it has none"):
        store.manifest("a")
    save(store, "a", 1, arrays)
    with pytest.raises(CheckpointExists, match="a checkpoint 'a' "):
        save(store, "a", 2, arrays)
    with pytest.raises(NoCheckpoint, match="has no array 'v'; it has w/0, w/1, order"):
        store.read("a", "v")
    with pytest.raises(NoCheckpoint, match=r"it has a$"):
        store.delete("b")
    with pytest.raises(CheckpointError, match="array 'x' is object; expected an array of a fixed size"):
        save(store, "b", 2, {"x": np.array([None])})
    with pytest.raises(CheckpointError, match="name is ''; expected a text"):
        save(store, "", 2, arrays)
    assert [one.name for one in store.checkpoints] == ["a"]
    assert same(load(store, "a"), arrays)


def test_retention(store, random):
    for step in range(1, 12):
        save(store, str(step), step, {"step": np.full(300, step)})
        prune(store, Retention(last=2, every=5))
    assert [one.step for one in store.checkpoints] == [5, 10, 11]
    assert all((load(store, str(step))["step"] == step).all() for step in (5, 10, 11))
    for last, every in ((0, 0), (1, -1)):
        with pytest.raises(ConfigError):
            Retention(last, every)


def test_files_that_are_damaged(tmp_path, arrays):
    store = FileCheckpoints(tmp_path)
    save(store, "a", 1, arrays)
    (path,) = tmp_path.iterdir()
    good = path.read_bytes()
    path.write_bytes(good[:-200] + bytes([good[-200] ^ 1]) + good[-199:])
    with pytest.raises(CheckpointDamaged, match="its checksum is wrong"):
        load(store, "a")
    path.write_bytes(good[:20] + b"?" + good[21:])
    with pytest.raises(CheckpointDamaged, match="checksum of its manifest is wrong"):
        _ = store.checkpoints
    path.write_bytes(b"GIF89a")
    with pytest.raises(CheckpointDamaged, match="begins with b'GIF8'"):
        load(store, "a")


# In a stream.


@pytest.fixture
def timed():
    """A device on which things take time."""
    with (
        ModelLink(preset("tiny"), 1 << 15) as link,
        open_device(link=link, node=UPDATE_NODE) as opened,
    ):
        yield opened


def test_a_save_goes_on_beside_other_work(timed):
    store, other = AppendedCheckpoints(timed), timed.stream("activations")
    saving = store.save_async("a", 1, {"large": np.arange(4000, dtype=np.int32)})
    for number in range(100):
        stored = other.append(np.full(100, number))
        assert (other.read(stored) == number).all()
        if number == 3:
            assert not saving.done and store.checkpoints == ()
        other.drop(stored)
        store.advance()
        if saving.done:
            break
    assert saving.done and 3 < number < 99
    assert (load(store, "a")["large"] == np.arange(4000)).all()


def test_a_save_waits_for_the_one_before(timed, arrays):
    store = AppendedCheckpoints(timed)
    first = store.save_async("a", 1, arrays)
    second = store.save_async("b", 2, arrays)
    assert first.done
    second.result()
    assert [one.name for one in store.checkpoints] == ["a", "b"]


def test_a_loss_of_power_leaves_whole_checkpoints(timed, random):
    """Also many of them: the room of what was not completed is reclaimed."""
    store, step = AppendedCheckpoints(timed), 0
    kept = None
    for number in range(12):
        data = {"w": random.integers(0, 99, 900)}
        saving = store.save_async(str(number), number, data)
        for _ in range(int(random.integers(0, 3))):
            saving.advance()
        if number % 3 == 2:
            saving.result()
            if kept is not None:
                store.delete(kept[0])
            kept = (str(number), data["w"])
        timed.link.power_cycle()
        timed.recover()
        store = AppendedCheckpoints(timed)
        store.reclaim()
        assert [one.name for one in store.checkpoints] == ([] if kept is None else [kept[0]])
        if kept is not None:
            assert np.array_equal(load(store, kept[0])["w"], kept[1])
            step += 1
    assert step > 5


def test_a_stream_that_is_full(device, arrays):
    store = AppendedCheckpoints(device)
    save(store, "a", 1, arrays)
    with pytest.raises(StreamFull):
        save(store, "b", 2, {"w": np.zeros(30_000)})
    assert [one.name for one in store.checkpoints] == ["a"]
    assert same(load(store, "a"), arrays)
    save(store, "b", 2, arrays)


def test_a_catalogue_that_is_full(device):
    """Checkpoints without data, so that only the journal's record limits them."""
    store = AppendedCheckpoints(device)
    with pytest.raises(NoteTooLong):
        for number in range(1000):
            save(store, f"{number:0500}", number, {})
    names = [one.name for one in store.checkpoints]
    assert len(names) > 5
    store.delete(names[0])
    save(store, "last", 1000, {})


def test_the_note_of_another_user(device):
    device.stream("trained").annotate(b"mine")
    with pytest.raises(CheckpointDamaged, match="begins with b'mine'; expected b'FTC1'"):
        _ = AppendedCheckpoints(device).checkpoints


def test_every_page_in_turn(monkeypatch):
    """A lost page costs one array or one checkpoint, by name. One without its manifest can be deleted."""
    arrays = {f"w/{number}": np.arange(number * 50 + 9) for number in range(6)}
    lost: list[int] = []
    original = Executor._fetch

    def fetch(self, entry, content, index, offset):
        first = index * self._config.geometry.zone_size + offset
        missing = original(self, entry, content, index, offset)
        own = entry.nsid == UPDATE_NODE.named("trained").nsid
        return missing + (own and any(first <= lba < first + entry.blocks for lba in lost))

    monkeypatch.setattr(Executor, "_fetch", fetch)
    config = replace(preset("tiny"), geometry=replace(preset("tiny").geometry, blocks=40))
    with open_device(config, node="update") as device:
        store = AppendedCheckpoints(device)
        for name in ("a", "b", "c"):
            save(store, name, 1, arrays)
        used = {name: store._entry(name).manifest.extents for name in "abc"}
        blocks = max(sum(extent) for found in used.values() for extent in found)
        for lba in range(blocks):
            lost[:] = [lba]
            wrong = []
            for name in "abc":
                try:
                    opened = store.open(name)
                except CheckpointDamaged as error:
                    assert f"checkpoint '{name}': a page of its manifest is lost" in str(error)
                    wrong.append(name)
                    continue
                for entry in opened.manifest.arrays:
                    try:
                        assert np.array_equal(opened.read(entry), arrays[entry.name])
                    except CheckpointDamaged as error:
                        assert f"array '{entry.name}': a page of it is lost" in str(error)
                        wrong.append(name)
            assert len(set(wrong)) <= 1 and len(store.checkpoints) == 3
        lost[:] = [used["b"][0].lba]
        store.delete("b")
        store.reclaim()
        assert [one.name for one in store.checkpoints] == ["a", "c"]
        assert same(load(store, "a"), arrays) and same(load(store, "c"), arrays)


def test_a_manifest_that_asks_for_much():
    for fields in (
        ["w", "<f4", [1 << 60], 0, 1 << 62, 0],
        ["w", "|O", [1], 0, 8, 0],
        ["w", "<f4", [-1], 0, -4, 0],
    ):
        raw = Manifest("a", 0, b"", ()).pack(arrays=[fields], pieces=[])
        entry = CatalogueEntry.of(Checkpoint("a", 0, 0), Piece((), len(raw)), raw)
        source = Mock()
        source.read.return_value = np.frombuffer(raw, np.uint8)
        with pytest.raises(CheckpointDamaged):
            opened = StoredCheckpoint(source, entry)
            opened.read(opened.manifest.arrays[0])
