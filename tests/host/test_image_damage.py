"""Damaged records of an image: each is named with what was expected, and what is whole is there."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from struct import Struct
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from flashtrain.host import FunctionalLink, ImageDamaged, ImageError, ImageMismatch, StaleHandle, open_device
from flashtrain.host.image import open_image, view_image
from flashtrain.model import ModelLink
from flashtrain.spec import preset
from flashtrain.spec.image import (
    BLOCK,
    BLOCKS_AT,
    CLOCK,
    CLOCK_AT,
    DIE,
    DIES_AT,
    HEADER,
    HEADER_AT,
    NODE,
    NODE_AT,
    PAGE,
    STREAM,
    TEXT_AT,
    UNIT,
    ZONE,
    BlockFlag,
    ImageHeader,
    ImageLayout,
    sealed,
)

TINY, ECC = preset("tiny"), preset("tiny_ecc")
LAYOUT = ImageLayout(TINY.geometry)
ARRAY = np.arange(700, dtype=np.uint8)


@pytest.fixture
def stored(tmp_path):
    """An image with an array by handle and one by name."""
    path = tmp_path / "flash.img"
    with open_device(TINY, node="store", image=path) as device:
        kept = device.stream("trained").append(ARRAY)
        device.catalog["name"] = ARRAY
        device.shutdown()
    return path, kept


def change(path: Path, layout: Struct, at: int, *fields: Any, right: bool = True) -> None:
    """Write a record; right: so is its checksum."""
    with path.open("r+b") as file:
        file.seek(at)
        file.write(sealed(layout, at if right else at + 1, *fields))


def block_of(path: Path) -> int:
    """A block with pages."""
    _, view = view_image(path)
    number = next(view.blocks_with_pages())
    view.close()
    return number


CHANGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "clock": (lambda p: change(p, CLOCK, CLOCK_AT, float("inf")), "the clock: seconds is inf; expected"),
    "past": (lambda p: change(p, CLOCK, CLOCK_AT, -1.0), "clock: seconds is -1.0; expected seconds from 0"),
    "die": (lambda p: change(p, DIE, DIES_AT, 6), "channel 0 die 0: flags are 0x6; expected bits of 0x1"),
    "erases": (
        lambda p: change(p, BLOCK, BLOCKS_AT + 16 * block_of(p), (1 << 32) - 1, 0, 0),
        "erases is 4,294,967,295; expected at most",
    ),
    "flags": (lambda p: change(p, BLOCK, BLOCKS_AT + 16 * 9, 1, 0, 1 << 20), "flags are 0x100000; expected"),
    "checksum": (lambda p: change(p, BLOCK, BLOCKS_AT + 16 * block_of(p), 1, 0, 0, right=False), "checksum"),
    "zone": (lambda p: change(p, ZONE, LAYOUT.zone(2, 3), 1 << 63), "zone 3 of stream 2: drop is 9,223"),
    "marked": (
        lambda p: change(p, BLOCK, BLOCKS_AT + 16 * block_of(p), 1, 0, BlockFlag.MARKED),
        "MARKED, and pages of data; expected a mark alone",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("damage", "message"), CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("link", [FunctionalLink, ModelLink])
def test_what_is_whole_is_there(stored, damage, message, link):
    path, kept = stored
    damage(path)
    with open_device(link=link, image=path) as device:
        assert device.link.image is not None
        (said,) = device.link.image.damage
        assert str(path) in said and message in said
        assert np.array_equal(device.stream("trained").read(kept), ARRAY)
        assert np.array_equal(device.catalog["name"], ARRAY)
        device.stream("trained").append(ARRAY)
    with open_device(link=link, image=path) as device:
        assert device.link.image is not None and not device.link.image.damage


@pytest.mark.parametrize("fields", [(1, 5, 0), (1 << 63, 0, 0)], ids=["drop", "generation"])
def test_handles_of_a_damaged_stream_are_stale(stored, fields):
    path, kept = stored
    change(path, STREAM, LAYOUT.stream(kept.nsid), *fields)
    with open_device(image=path) as device:
        stream = device.stream("trained")
        with pytest.raises(StaleHandle):
            stream.read(kept)
        assert np.array_equal(stream.read(new := stream.append(ARRAY)), ARRAY)
        assert np.array_equal(device.catalog["name"], ARRAY)
    with open_device(image=path) as device:
        assert np.array_equal(device.stream("trained").read(new), ARRAY)


@pytest.mark.parametrize(("state", "time"), [(7, 1.0), (1, float("nan")), (1, -5.0)])
def test_an_impossible_record_of_a_page(stored, state, time):
    """The checksum of its cells is right, and so is the page."""
    path, kept = stored
    number = block_of(path)
    with closing(open_image(path, TINY)) as image:
        (page, *_) = image.pages(number)
    change(
        path, PAGE, LAYOUT.page_record(number, page.number), page.record.erases, state, time, page.record.crc
    )
    with open_device(image=path) as device:
        assert device.link.image is not None and len(device.link.image.damage) == 1
        assert np.array_equal(device.stream("trained").read(kept), ARRAY)


@pytest.mark.parametrize("link", [FunctionalLink, ModelLink])
def test_zeros_over_the_records_of_a_marked_block(tmp_path, link):
    """As a crash of the operating system leaves a unit that was never written."""
    path = tmp_path / "flash.img"
    with FunctionalLink(ECC) as made:
        made.use_image(open_image(path, ECC))
        made.mark_block(0, 0, 0, 3)
        with open_device(link=made, node="store") as device:
            kept = device.stream("trained").append(ARRAY)
            number = made.image.layout.block(0, 0, 0, 3) if made.image else 0
            device.shutdown()
    at = ImageLayout(ECC.geometry).page_record(number, 0)
    with path.open("r+b") as file:
        file.seek(at)
        file.write(bytes(PAGE.size * ECC.geometry.pages))
    with open_device(link=link, image=path) as device:
        assert [bad.block for bad in device.bad_blocks] == [3]
        assert np.array_equal(device.stream("trained").read(kept), ARRAY)


def with_text(path: Path, text: bytes, size: int | None = None) -> None:
    raw = path.read_bytes()
    header = ImageHeader._make(HEADER.unpack(raw[: HEADER.size])[:-1])
    header = header._replace(text_bytes=len(text) if size is None else size, text_crc=crc32(text))
    with path.open("r+b") as file:
        file.seek(TEXT_AT)
        file.write(text.ljust(UNIT, b"\0"))
    change(path, HEADER, HEADER_AT, *header)


@pytest.mark.parametrize(
    ("text", "size", "kind", "message"),
    [
        (b"\xff", None, ImageDamaged, "its configuration: byte 0 is not UTF-8"),
        (b"a = " + b"[" * 3000, None, ImageMismatch, "its configuration"),
        (b"a = " + b"9" * 3900, None, ImageMismatch, "a: an integer of 12956 bits"),
        (b"base = 'tiny'", 1 << 31, ImageDamaged, "text_bytes is 2,147,483,648; expected at most 12,288"),
        (b"base = 'small'", None, ImageMismatch, "channels is 2; expected 4, as configuration"),
    ],
)
def test_configurations_of_others(stored, text, size, kind, message):
    path, _ = stored
    with_text(path, text, size)
    for opened in (lambda: open_device(image=path), lambda: view_image(path)):
        with pytest.raises(kind, match=message) as error:
            opened()
        assert str(path) in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 4000,
        b"\xff",
        b"9" * 4090,
        b"null",
        b'{"name": 1, "streams": []}',
        b'{"name": "x", "streams": [1]}',
    ],
)
def test_a_table_of_streams_of_others(stored, text):
    """It is named, and a device with the right table has everything."""
    path, kept = stored
    change(path, NODE, NODE_AT, text)
    with pytest.raises(ImageError, match=r"flash\.img: table of streams"):
        open_device(image=path)
    with open_device(image=path, node="store") as device:
        assert np.array_equal(device.stream("trained").read(kept), ARRAY)
    open_device(image=path).close()
