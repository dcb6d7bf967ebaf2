"""Opening of images: creation, the lock, and all checks before anything is written."""

import fcntl
import os
import stat
from pathlib import Path
from secrets import token_bytes
from typing import TypeVar
from zlib import crc32

from flashtrain.reading import toml_value
from flashtrain.reading.errors import ContentError
from flashtrain.spec import ConfigError, FmsConfig
from flashtrain.spec.config_file import config_of, config_text
from flashtrain.spec.image import (
    CLOCK,
    CLOCK_AT,
    HEADER,
    HEADER_AT,
    MAGIC,
    TEXT_AT,
    TEXT_ROOM,
    VERSION,
    ImageHeader,
    ImageLayout,
    opened,
    sealed,
)
from flashtrain.writing import begun_file

from ..errors import ImageDamaged, ImageError, ImageLocked, ImageMismatch
from .flash_image import FlashImage
from .image_view import ImageView
from .repair import repair

ImageT = TypeVar("ImageT", bound=FlashImage)

_COMPARED = ImageHeader._fields[2:12]


def open_image(path: str | Path, config: FmsConfig) -> FlashImage:
    """The image at `path`, for this process alone; it is created if there is none.

    An :class:`ImageError` names the file and what was expected, and leaves the file as it was.
    """
    path = Path(path)
    try:
        descriptor, new = _open(path, os.O_RDWR), False
    except FileNotFoundError:
        new = _create(path, config)
        descriptor = _open_existing(path, os.O_RDWR)
    try:
        _lock(path, descriptor, fcntl.LOCK_EX)
        header = _header(path, descriptor)
        _compare(path, header, config)
        _check_size(path, descriptor, ImageLayout(config.geometry))
        image = FlashImage(path, descriptor, config.geometry, header.serial, new)
    except BaseException:
        os.close(descriptor)
        raise
    return _repaired(image)


def image_configuration(path: str | Path) -> FmsConfig | None:
    """The configuration that the image at `path` was created with; None if there is no such file.

    The image is neither locked nor changed. :class:`ImageError` as of :func:`open_image`.
    """
    path = Path(path)
    try:
        descriptor = _open(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        return _configuration(path, descriptor)
    finally:
        os.close(descriptor)


def view_image(path: str | Path) -> tuple[FmsConfig, ImageView]:
    """The image at `path` with its configuration; changes stay in memory, and the file is never written.

    Several processes may view an image. :class:`ImageLocked` while a device uses it; :class:`ImageError` as
    of :func:`open_image`, also if there is no such file.
    """
    path = Path(path)
    descriptor = _open_existing(path, os.O_RDONLY)
    try:
        _lock(path, descriptor, fcntl.LOCK_SH)
        config = _configuration(path, descriptor)
        _check_size(path, descriptor, ImageLayout(config.geometry))
        view = ImageView(path, descriptor, config.geometry, _header(path, descriptor).serial)
    except BaseException:
        os.close(descriptor)
        raise
    return config, _repaired(view)


def _repaired(image: ImageT) -> ImageT:
    try:
        repair(image)
    except BaseException:
        image.close()
        raise
    return image


def _open(path: Path, how: int) -> int:
    try:
        descriptor = os.open(path, how | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        raise
    except OSError as error:
        expected = f"expected a file that may be read{' and written' if how == os.O_RDWR else ''}"
        raise ImageError(f"{path}: {error.strerror}; {expected}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ImageError(f"{path}: not a regular file; expected an image of a flash")
    return descriptor


def _open_existing(path: Path, how: int) -> int:
    try:
        return _open(path, how)
    except FileNotFoundError as error:
        what = f"a link to {path.readlink()}, which is not there" if path.is_symlink() else "no such file"
        raise ImageError(f"{path}: {what}; expected an image of a flash") from error


def _lock(path: Path, descriptor: int, how: int) -> None:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except OSError as error:
        raise ImageLocked(f"{path}: another device has it open; expected an image that none uses") from error


def _create(path: Path, config: FmsConfig) -> bool:
    """Make an image of an erased flash; whether it is ours and not that of another process.

    It gets its name when it is complete, so that an end of the process leaves no part of one.
    """
    text, layout = config_text(config).encode(), ImageLayout(config.geometry)
    if len(text) > TEXT_ROOM:
        raise ImageError(f"{path}: a configuration of {len(text)} bytes; expected at most {TEXT_ROOM}")
    try:
        with begun_file(path) as (begun, descriptor):
            os.posix_fallocate(descriptor, 0, layout.pages_at)
            os.ftruncate(descriptor, layout.size)
            os.pwrite(descriptor, text, TEXT_AT)
            os.pwrite(descriptor, sealed(CLOCK, CLOCK_AT, 0.0), CLOCK_AT)
            header = ImageHeader.of(config, token_bytes(8), text)
            os.pwrite(descriptor, sealed(HEADER, HEADER_AT, *header), HEADER_AT)
            os.fsync(descriptor)
            os.link(begun, path)
        return True
    except FileExistsError:
        return False
    except OSError as error:
        expected = f"expected room for a new image, {layout.pages_at:,} bytes at first"
        raise ImageError(f"{path}: {error.strerror}; {expected}") from error


def _header(path: Path, descriptor: int) -> ImageHeader:
    """The header, of a version that this program can read."""
    raw = os.pread(descriptor, HEADER.size, HEADER_AT)
    if not raw.startswith(MAGIC):
        begin = raw[: len(MAGIC)]
        raise ImageDamaged(f"{path}: begins with {begin!r}; expected {MAGIC!r}, an image of a flash")
    if len(raw) < HEADER.size:
        raise ImageDamaged(f"{path}: {len(raw)} bytes; expected a header of {HEADER.size}: it is truncated")
    version = ImageHeader(*HEADER.unpack(raw)[:-1]).version
    if version > VERSION:
        raise ImageMismatch(
            f"{path}: format version {version}; expected at most {VERSION}: a newer program made it"
        )
    fields = opened(HEADER, HEADER_AT, raw)
    if fields is None:
        raise ImageDamaged(f"{path}: its header has another checksum than it says")
    return ImageHeader._make(fields)


def _configuration(path: Path, descriptor: int) -> FmsConfig:
    header = _header(path, descriptor)
    if header.text_bytes > TEXT_ROOM:
        raise ImageDamaged(
            f"{path}: its header: text_bytes is {header.text_bytes:,}; expected at most {TEXT_ROOM:,}"
        )
    text = os.pread(descriptor, header.text_bytes, TEXT_AT)
    if len(text) < header.text_bytes or crc32(text) != header.text_crc:
        raise ImageDamaged(f"{path}: its configuration has another checksum than its header says")
    try:
        config = config_of(toml_value(text.decode()), path.stem)
    except UnicodeDecodeError as error:
        raise ImageDamaged(f"{path}: its configuration: byte {error.start} is not UTF-8") from error
    except (ConfigError, ContentError) as error:
        raise ImageMismatch(f"{path}: its configuration: {error}") from error
    _compare(path, header, config)
    return config


def _compare(path: Path, header: ImageHeader, config: FmsConfig) -> None:
    wanted = ImageHeader.of(config, b"", b"")
    for name in _COMPARED:
        found, expected = getattr(header, name), getattr(wanted, name)
        if found != expected:
            raise ImageMismatch(
                f"{path}: {name} is {found}; expected {expected}, as configuration {config.name!r} has it"
            )


def _check_size(path: Path, descriptor: int, layout: ImageLayout) -> None:
    size = os.fstat(descriptor).st_size
    if size != layout.size:
        raise ImageDamaged(f"{path}: {size:,} bytes; expected {layout.size:,}, as its geometry needs")
