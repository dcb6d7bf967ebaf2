"""Checkpoints whose arrays come one after the other, and reads of their parts."""

from dataclasses import replace
from threading import Thread

import numpy as np
import pytest

from flashtrain.checkpoint import (
    AppendedCheckpoints,
    CheckpointDamaged,
    CheckpointError,
    CheckpointExists,
    NoCheckpoint,
    load,
    save,
)
from flashtrain.checkpoint.stores.stored_checkpoint import bytes_of
from flashtrain.host import FunctionalLink, StreamFull, open_device
from flashtrain.model import ModelLink
from flashtrain.spec import preset
from flashtrain.spec.streams import UPDATE_NODE, Codec


def larger(config):
    """With room for some checkpoints."""
    return replace(config, geometry=replace(config.geometry, blocks=160))


@pytest.fixture(params=["raw", "coded"])
def store(request):
    coded = request.param == "coded"
    node = UPDATE_NODE.with_codecs(trained=Codec.WINDOW32) if coded else UPDATE_NODE
    config = preset("tiny_codec" if coded else "tiny")
    with FunctionalLink(larger(config), 1 << 16) as link, open_device(link=link, node=node) as device:
        yield AppendedCheckpoints(device)


def random_arrays(random, count):
    """Of sizes around those of blocks and pieces."""
    sizes = random.choice([0, 1, 63, 64, 511, 512, 513, 5000, 7680, 9000], count)
    return {f"array {number}": random.integers(0, 256, size, np.uint8) for number, size in enumerate(sizes)}


def write(writer, arrays):
    for name, array in arrays.items():
        scratch = array.copy()
        writer.add(name, scratch)
        scratch[...] = 0


def test_as_a_save(store, random, arrays):
    arrays |= random_arrays(random, 9)
    writer = store.writer("written", 7)
    write(writer, arrays)
    assert store.checkpoints == ()
    made = writer.finish(b"host")
    assert store.checkpoints == (made,) and made.step == 7
    save(store, "saved", 7, arrays, b"host")
    one, other = (store.manifest(name) for name in ("written", "saved"))
    assert one == replace(other, name="written")
    found = load(store, "written")
    assert all(
        found[name].tobytes() == array.tobytes() and found[name].shape == array.shape
        for name, array in arrays.items()
    )


def test_reads_take_what_they_need(store, random):
    arrays = random_arrays(random, 12)
    write(writer := store.writer("a", 1), arrays)
    writer.finish()
    opened, read = store.open("a"), []
    source = opened._source
    stream = source._stream
    stream.read = lambda handle: read.append(handle) or type(stream).read(stream, handle)
    size = stream.block_bytes
    for entry in random.permutation(np.array(opened.manifest.arrays, object)):
        read.clear()
        assert np.array_equal(opened.read(entry), arrays[entry.name])
        blocks = sum(handle.blocks for handle in read)
        if not opened.pieces[0].data_blocks:
            assert blocks == -(-entry.end // size) - entry.offset // size if entry.nbytes else blocks == 0
    for piece in opened.pieces:
        whole = source.read(piece)
        for _ in range(5):
            first, last = sorted(random.choice(piece.nbytes + 1, 2, replace=False).tolist())
            assert np.array_equal(bytes_of(source, piece, first, last), whole[first:last])


def test_what_is_refused(store, arrays):
    writer = store.writer("a", 1)
    for begin in (lambda: store.writer("b", 1), lambda: save(store, "b", 1, arrays)):
        with pytest.raises(CheckpointError, match="'a' is being written; expected its end before another"):
            begin()
    writer.add("w", arrays["w/0"])
    with pytest.raises(CheckpointError, match="two arrays 'w' of checkpoint 'a'"):
        writer.add("w", arrays["w/0"])
    writer.finish()
    with pytest.raises(CheckpointError, match="'a' is finished or abandoned"):
        writer.add("v", arrays["w/0"])
    writer.abandon()
    with pytest.raises(CheckpointExists):
        store.writer("a", 2)
    with pytest.raises(CheckpointError, match="name is ''; expected a text"):
        store.writer("", 2)
    assert [one.name for one in store.checkpoints] == ["a"]


def test_what_is_abandoned_leaves_its_room(store, random):
    """Also after an error in the middle."""
    large = random.integers(0, 256, 40_000, np.uint8)
    for _ in range(9):
        writer = store.writer("a", 1)
        writer.add("w", large)
        writer.abandon()
        assert store.checkpoints == ()
    writer = store.writer("b", 1)
    with pytest.raises(StreamFull):
        for number in range(99):
            writer.add(str(number), large)
    assert store.checkpoints == ()
    write(writer := store.writer("c", 1), {"w": large})
    writer.finish()
    assert np.array_equal(store.read("c", "w"), large)
    with pytest.raises(NoCheckpoint):
        store.open("a")


def test_data_that_are_damaged(store, random):
    save(store, "a", 1, {"w": random.integers(0, 256, 3000, np.uint8), "v": np.ones(3)})
    opened = store.open("a")
    first, second = opened.manifest.arrays
    with pytest.raises(CheckpointDamaged, match="array 'w': its checksum is wrong"):
        opened.read(replace(first, crc=first.crc ^ 1))
    assert (opened.read(second) == 1).all()


def test_threads_save_one_after_the_other(random):
    """Each in another way; the main thread deletes meanwhile, and none of the catalogue's changes is lost."""
    with (
        ModelLink(larger(preset("tiny")), 1 << 16) as link,
        open_device(link=link, node=UPDATE_NODE) as device,
    ):
        store = AppendedCheckpoints(device)
        arrays = random_arrays(random, 3)
        old = [f"old {number}" for number in range(6)]
        for name in old:
            save(store, name, 0, {"w": np.zeros(9)})

        def stepwise(number):
            write(writer := store.writer(f"stepwise {number}", number), arrays)
            writer.finish()

        threads = [Thread(target=stepwise, args=(number,)) for number in range(3)]
        threads += [
            Thread(target=save, args=(store, f"at once {number}", number, arrays)) for number in range(3)
        ]
        for thread in threads:
            thread.start()
        for name in old:
            store.delete(name)
        for thread in threads:
            thread.join()
        names = {f"{kind} {number}" for kind in ("stepwise", "at once") for number in range(3)}
        assert {one.name for one in store.checkpoints} == names
        for name in names:
            assert all(np.array_equal(store.read(name, key), array) for key, array in arrays.items())
