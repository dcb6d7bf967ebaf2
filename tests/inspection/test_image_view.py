"""Views of images: what is written stays in memory; and the table of streams in the file."""

import random
from contextlib import closing

import pytest

from flashtrain.host import ImageDamaged, ImageError, ImageLocked, ImageMismatch, open_device
from flashtrain.host.image import open_image, view_image
from flashtrain.inspection.link_scrub import copy_sparse
from flashtrain.spec import preset
from flashtrain.spec.image import NODE, NODE_AT, UNIT, sealed
from flashtrain.spec.node_text import node_of, node_text
from flashtrain.spec.streams import NODES, SINGLE_NODE, UPDATE_NODE, Codec


def _node(path):
    _, view = view_image(path)
    with closing(view):
        return view.node


@pytest.mark.parametrize("node", [*NODES.values(), SINGLE_NODE.with_codecs(activations=Codec.ROUND16)])
def test_a_table_of_streams_comes_back_from_its_text(node):
    assert node_of(node_text(node)) == node


def test_writes_to_a_view_stay_in_memory(trained_image, seed):
    rng, before = random.Random(seed), trained_image.read_bytes()
    _, view = view_image(trained_image)
    twin = bytearray(before)
    for _ in range(300):
        at, size = rng.randrange(len(twin) - 3 * UNIT), rng.randrange(1, 3 * UNIT)
        if rng.random() < 0.5:
            raw = rng.randbytes(size)
            view._write(at, raw)
            twin[at : at + size] = raw
        assert view._read(at, size) == twin[at : at + size]
    view.close()
    view.close()
    assert trained_image.read_bytes() == before


def test_readers_share_an_image_and_a_device_does_not(trained_image, copy_of):
    path = copy_of(trained_image)
    config, view = view_image(path)
    _, other = view_image(path)
    with pytest.raises(ImageLocked):
        open_image(path, config)
    view.close()
    other.close()
    with open_device(image=path, node=UPDATE_NODE), pytest.raises(ImageLocked):
        view_image(path)


def test_the_table_of_streams_is_that_of_the_last_device(tmp_path):
    path = tmp_path / "flash.img"
    open_image(path, preset("tiny")).close()
    assert _node(path) is None
    for node in (SINGLE_NODE, UPDATE_NODE):
        with open_device(image=path, node=node, factory=False):
            pass
        assert _node(path) == node


@pytest.mark.parametrize(
    ("record", "error"),
    [
        (sealed(NODE, NODE_AT, b'{"name": "new", "streams": [{"nsid": 1}]}'), ImageMismatch),
        (sealed(NODE, NODE_AT, b"nonsense"), ImageMismatch),
        (sealed(NODE, 0, b"{}"), ImageDamaged),
    ],
)
def test_a_table_of_streams_that_is_damaged_or_unknown(trained_image, copy_of, record, error):
    path = copy_of(trained_image)
    with path.open("r+b") as file:
        file.seek(NODE_AT)
        file.write(record)
    with pytest.raises(error, match="table of streams"):
        _node(path)


def test_a_table_of_streams_that_is_too_long(tmp_path):
    image = open_image(tmp_path / "flash.img", preset("tiny"))
    long = SINGLE_NODE.__class__("n" * UNIT, SINGLE_NODE.streams)
    with pytest.raises(ImageError, match="expected at most 4092"):
        image.keep_node(long)
    image.close()


def test_a_sparse_copy(tmp_path):
    source, target = tmp_path / "from", tmp_path / "to"
    with source.open("wb") as file:
        file.write(b"begin")
        file.seek(1 << 20)
        file.write(bytes(100) + b"middle")
        file.truncate(1 << 24)
    copy_sparse(source, target)
    assert target.read_bytes() == source.read_bytes()
    assert target.stat().st_blocks * 512 < 1 << 20
