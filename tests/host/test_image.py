"""An image: content from one process to the next, its checks, and what it does with files that are none."""

import errno
import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from flashtrain.host import (
    ForeignContent,
    FunctionalLink,
    HostError,
    ImageDamaged,
    ImageError,
    ImageLocked,
    ImageMismatch,
    MediaError,
    StaleHandle,
    open_device,
)
from flashtrain.host.image import open_image
from flashtrain.host.image.page_cells import PageCells
from flashtrain.host.image.places import PageRun
from flashtrain.model import ModelLink
from flashtrain.spec import ConfigError, preset
from flashtrain.spec.image import (
    HEADER,
    HEADER_AT,
    MAGIC,
    PAGE,
    BlockFlag,
    ImageLayout,
    PageState,
    opened,
    sealed,
)
from flashtrain.spec.streams import UPDATE_NODE

TINY, ECC = preset("tiny"), preset("tiny_ecc")
ARRAY = np.arange(700, dtype=np.uint8)


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "flash.img"


def stored_in(path: Path, config=TINY, array=ARRAY):
    with open_device(config, image=path) as device:
        kept = device.stream("trained").append(array)
        device.shutdown()
    return kept


@pytest.mark.parametrize("config", [TINY, ECC], ids=lambda config: config.name)
@pytest.mark.parametrize("orderly", [True, False])
def test_handles_are_valid_in_the_next_process(path, config, orderly):
    with open_device(config, image=path) as device:
        assert device.recovered is None
        first = device.stream("trained").append(ARRAY)
        device.stream("activations").append(ARRAY)
        if orderly:
            device.shutdown()
    for link in (FunctionalLink, ModelLink):
        with open_device(link=link, image=path) as device:  # the configuration is that of the image
            assert device.config == config and device.recovered is not None
            assert device.recovered.clean is (orderly and link is FunctionalLink)
            assert np.array_equal(device.stream("trained").read(first), ARRAY)


def test_handles_go_stale_across_processes(path):
    kept = stored_in(path)
    with open_device("tiny", image=path) as device:
        stream = device.stream("trained")
        stream.reset()
        other = stream.append(ARRAY[::-1])
        assert other.lba == kept.lba
    with open_device("tiny", image=path) as device:
        stream = device.stream("trained")
        with pytest.raises(StaleHandle):
            stream.read(kept)
        assert np.array_equal(stream.read(other), ARRAY[::-1])
        device.format()
    with open_device("tiny", image=path) as device, pytest.raises(StaleHandle):
        device.stream("trained").read(other)


def test_open_device_decides(path):
    with pytest.raises(ImageError, match=r"flash\.img: no such file; expected an image to recover from"):
        open_device("tiny", image=path, recover=True)
    kept = stored_in(path)
    with pytest.raises(ConfigError, match="factory is True; expected False or None"):
        open_device("tiny", image=path, factory=True)
    with FunctionalLink(TINY) as link, pytest.raises(ConfigError, match=r"image is .* None for an open Link"):
        open_device(link=link, image=path)
    with open_device("tiny", image=path, factory=False) as device, pytest.raises(StaleHandle):
        device.stream("trained").read(kept)


def test_the_time_never_goes_back(path):
    with FunctionalLink(TINY) as link:
        link.use_image(open_image(path, TINY))
        link.pass_time(1000.5)
    image = open_image(path, TINY)
    assert image.clock == 1001
    with FunctionalLink(TINY) as link:
        link.use_image(image)
        assert link.seconds == 1001
        link.pass_time(10)
    with looked_at(path) as image:
        assert image.clock == 1011


def looked_at(path: Path, config=TINY):
    """An image without a device."""
    return closing(open_image(path, config))


def test_the_file_is_sparse(path):
    """A terabyte of erased flash is some megabytes of tables, and an erase frees its cells."""
    large = preset("behemoth")
    open_image(path, large).close()
    found = path.stat()
    assert found.st_size > 1 << 40 and found.st_blocks * 512 < 16 << 20
    path.unlink()
    stored_in(path, preset("small"), np.ones(1 << 20, np.uint8))
    full = path.stat().st_blocks
    with open_device("small", image=path) as device:
        device.stream("trained").reset()
        device.shutdown()
    assert path.stat().st_blocks * 512 < full * 512 - (1 << 19)


def test_conditions_of_blocks_stay(path):
    def use(link: FunctionalLink) -> None:
        link.use_image(open_image(path, ECC))

    with FunctionalLink(ECC) as link:
        use(link)
        link.mark_block(1, 0, 1, 3, page=5, whole=False)
        link.mark_block(0, 0, 0, 2)
        link.break_block(0, 0, 1, 4)
        with open_device(link=link) as device:
            bad = device.bad_blocks
            kept = device.stream("trained").append(ARRAY)
        assert len(bad) == 2
    with FunctionalLink(ECC) as link:
        use(link)
        with open_device(link=link, recover=True) as device:
            assert set(device.bad_blocks) == set(bad)
            assert np.array_equal(device.stream("trained").read(kept), ARRAY)
    with looked_at(path, ECC) as image:
        flags = {image.place(number): record.flags for number, record in image.flagged_blocks()}
    assert flags == {
        (1, 0, 1, 3): BlockFlag.MARKED, (0, 0, 0, 2): BlockFlag.MARKED, (0, 0, 1, 4): BlockFlag.BROKEN
    }  # fmt: skip


# Bad input.


def overwrite(path: Path, at: int, content: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(content)


def flip(path: Path, at: int, bit: int = 0) -> None:
    with path.open("rb") as file:
        file.seek(at)
        byte = file.read(1)[0]
    overwrite(path, at, bytes([byte ^ 1 << bit]))


def refused(path: Path, kind: type[ImageError], *words: str, config=TINY) -> None:
    """A message of one line that names the file; the file stays as it is."""
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(kind) as error:
        open_device(config, image=path)
    message = str(error.value)
    assert str(path) in message and "\n" not in message
    assert all(word in message for word in words), message
    assert before is None or path.read_bytes() == before


@pytest.fixture
def image(path) -> Path:
    stored_in(path)
    return path


def test_a_locked_image(image):
    with open_device("tiny", image=image):
        refused(image, ImageLocked, "another device has it open")
    open_device("tiny", image=image).close()


def test_other_configurations(image):
    fewer = replace(TINY, name="fewer", geometry=replace(TINY.geometry, blocks=12))
    refused(image, ImageMismatch, "blocks is 16; expected 12", config=fewer)
    with_key = replace(TINY, name="key", randomizer=True)
    refused(image, ImageMismatch, "randomizer is 0; expected 1", config=with_key)
    slower = replace(TINY, name="slower", read_queue=2 * TINY.read_queue)
    open_device(slower, image=image).close()  # the cells do not depend on it


@pytest.mark.parametrize("size", [0, 5, HEADER.size - 1, 4096, -1])
def test_a_truncated_image(image, size):
    os.truncate(image, size if size >= 0 else image.stat().st_size - 1)
    refused(image, ImageDamaged, "expected")


def test_no_image(path, tmp_path):
    path.write_bytes(b"GIF89a, and more")
    refused(path, ImageDamaged, "begins with b'GIF89a, '; expected b'FLASHIMG'")
    refused(tmp_path, ImageError, "Is a directory")
    refused(tmp_path / "none" / "flash.img", ImageError, "No such file")
    assert not (tmp_path / "none").exists()
    (tmp_path / "link").symlink_to(tmp_path / "none")
    refused(tmp_path / "link", ImageError, "a link to", "which is not there; expected an image")
    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path / "pipe", ImageError, "not a regular file")


def test_a_newer_version(image):
    fields = opened(HEADER, HEADER_AT, image.read_bytes()[: HEADER.size])
    overwrite(image, HEADER_AT, sealed(HEADER, HEADER_AT, MAGIC, 2, *fields[2:]))
    refused(image, ImageMismatch, "format version 2; expected at most 1: a newer program made it")


@pytest.mark.parametrize("at", [HEADER_AT + 13, HEADER_AT + HEADER.size - 1])
def test_a_damaged_header(image, at):
    flip(image, at)
    refused(image, ImageDamaged, "checksum")


def test_no_permission(image):
    if os.geteuid() == 0:
        pytest.skip("nothing is forbidden to the superuser")
    image.chmod(0o444)
    refused(image, ImageError, "Permission denied")


def test_links_without_an_image(image):
    def dataless(config, memory_bytes):
        return ModelLink(config, memory_bytes, keep_data=False)

    with pytest.raises(HostError, match="without data cannot keep its flash"):
        open_device("tiny", dataless, image=image)
    open_device("tiny", image=image).close()  # it is not locked any more


# Bits that have changed in the file.


def data_page(path: Path, config) -> tuple[int, int]:
    """The first page with data of ARRAY: its block and number."""
    with looked_at(path, config) as image:
        pages = [
            (number, page.number)
            for number in range(image.layout.block_count)
            for page in image.pages(number)
            if ARRAY[:64].tobytes() in PageCells(config).decode(
                image.cells(number, page.number), page.number, image.place(number).plane, correct=False
            ).data
        ]  # fmt: skip
    return pages[0]


@pytest.mark.parametrize(
    ("config", "wrong", "lost"), [(TINY, 1, True), (ECC, 3, False), (ECC, 40, True)],
    ids=["without a code", "correctable", "uncorrectable"],
)  # fmt: skip
def test_wrong_cells(path, config, wrong, lost):
    kept, place = stored_in(path, config), data_page(path, config)
    for bit in range(wrong):
        flip(path, ImageLayout(config.geometry).cells(*place) + 3 * bit + 1)
    with looked_at(path, config) as image:
        assert len(list(image.damaged_pages())) == 1
    with open_device(config, image=path) as device:
        if lost:
            with pytest.raises(MediaError):
                device.stream("trained").read(kept)
        else:
            assert np.array_equal(device.stream("trained").read(kept), ARRAY)


@pytest.mark.parametrize("at", [0, 4, PAGE.size - 1], ids=["erases", "state", "checksum"])
def test_wrong_records_of_pages(path, at):
    """The page is there, or it is a media error; other pages are not affected."""
    kept = stored_in(path, ECC, np.concatenate([ARRAY, ARRAY]))
    flip(path, ImageLayout(ECC.geometry).page_record(*data_page(path, ECC)) + at)
    with open_device(ECC, image=path) as device:
        found = device.stream("trained").read(kept)
    assert np.array_equal(found, np.concatenate([ARRAY, ARRAY]))


# A disk without room.


def test_a_full_disk(path, monkeypatch):
    kept = stored_in(path)
    written = os.pwrite

    def full(descriptor: int, raw: bytes, at: int) -> int:
        if at >= ImageLayout(TINY.geometry).cells_at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return written(descriptor, raw, at)

    with open_device("tiny", image=path) as device:
        monkeypatch.setattr(os, "pwrite", full)
        with pytest.raises(ImageError, match="No space left on device; what it holds stays valid"):
            device.stream("trained").append(ARRAY)
        monkeypatch.undo()
    with open_device("tiny", image=path) as device:
        assert np.array_equal(device.stream("trained").read(kept), ARRAY)


def test_no_room_for_a_new_image(path, monkeypatch):
    def full(descriptor: int, at: int, size: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(ImageError, match="No space left on device; expected room for a new image"):
        open_device("tiny", image=path)
    assert not list(path.parent.iterdir())


def test_cells_and_back(seed):
    random = np.random.default_rng(seed)
    cells = PageCells(ECC)
    pages = random.integers(0, 256, (2, ECC.geometry.page_bytes), dtype=np.uint8)
    identities = random.integers(0, 256, (2, 16), dtype=np.uint8)
    encoded = cells.encode(pages, identities, 2, 1)
    for number, one in enumerate(encoded):
        data, identity = pages[number].tobytes(), identities[number].tobytes()
        assert cells.decode(one.tobytes(), 2 + number, 1, correct=False) == (data, identity)
    raw = bytearray(encoded[1])
    for bit in random.choice(8 * ECC.bus_page_bytes, ECC.code_strength, replace=False):
        raw[bit // 8] ^= 1 << bit % 8
    assert cells.decode(bytes(raw), 3, 1, correct=True) == (data, identity)
    erased = cells.encode(pages[1:], None, 3, 1)[0].tobytes()
    assert cells.decode(erased, 3, 1, correct=True)[1] != identity


@pytest.mark.parametrize(("zeros", "lost"), [(2, False), (60, True)])
def test_torn_pages(path, zeros, lost):
    """Their checksum is right, and the code has to correct them."""
    kept = stored_in(path, ECC)
    number, page = data_page(path, ECC)
    with looked_at(path, ECC) as image:
        bits = np.unpackbits(np.frombuffer(image.cells(number, page), np.uint8))
        bits[np.flatnonzero(bits == 0)[:zeros]] = 1
        image.program([PageRun.of(number, page, np.packbits(bits).tobytes())], 0.0, PageState.TORN)
        assert not list(image.damaged_pages())
    with open_device(ECC, image=path) as device:
        if lost:
            with pytest.raises(MediaError):
                device.stream("trained").read(kept)
        else:
            assert np.array_equal(device.stream("trained").read(kept), ARRAY)


def test_a_new_image_has_a_catalogue_and_later_devices_have_its_streams(tmp_path):
    with open_device("tiny", image=tmp_path / "store.img") as device:
        device.catalog["run1/w0"] = np.arange(5)
    with open_device(image=tmp_path / "store.img") as device:
        assert np.array_equal(device.catalog["run1/w0"], np.arange(5))
    with open_device("small", image=tmp_path / "update.img", node="update") as device:
        stored = device.state_stream("state_a").append(np.ones(9))
    with open_device(image=tmp_path / "update.img") as device:
        assert device.node == UPDATE_NODE
        assert np.array_equal(device.state_stream("state_a").read(stored), np.ones(9))
    with pytest.raises(ForeignContent):
        open_device(image=tmp_path / "update.img", node="single")
