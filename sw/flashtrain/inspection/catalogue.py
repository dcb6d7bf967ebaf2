"""The named content of an image: arrays of catalogues, and checkpoints."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from flashtrain.checkpoint.pins.pin_note import PinNote
from flashtrain.checkpoint.stores.stream_catalogue import MAGIC as CHECKPOINTS
from flashtrain.checkpoint.stores.stream_catalogue import unpack
from flashtrain.host import Catalog
from flashtrain.host.catalog.segment import MAGIC as ARRAYS
from flashtrain.spec import Access, FlashtrainError, Port, Stream
from flashtrain.spec.streams import CATALOG

from .inspected import Recovered


@dataclass(frozen=True)
class NamedArray:
    """An array of a catalogue; number: of its assignment; extents: first block in the stream, and blocks."""

    stream: str
    name: str
    dtype: str
    shape: list[int]
    bytes: int
    number: int
    extents: list[list[int]]


@dataclass(frozen=True)
class NamedCheckpoint:
    """A checkpoint; pinned: it is a generation of optimizer state, which has no step and no bytes here."""

    stream: str
    name: str
    step: int | None
    bytes: int | None
    pinned: bool


@dataclass(frozen=True)
class Catalogue:
    """All named content; streams: those that a catalogue of arrays is in, or may be."""

    streams: list[str]
    arrays: list[NamedArray]
    checkpoints: list[NamedCheckpoint]


def catalogue(image: Recovered) -> Catalogue:
    """The entries. A part that is damaged is left out, and is a line of `image.damage`."""
    streams, arrays, checkpoints = [], [], []
    for stream in image.node.streams:
        note = _note(image, stream)
        if stream.name == CATALOG or note.startswith(ARRAYS):
            streams.append(stream.name)
            with _damage_of(image, stream, "arrays"):
                arrays += _arrays(image, stream)
        with _damage_of(image, stream, "checkpoints"):
            checkpoints += _checkpoints(stream, note)
    return Catalogue(streams, arrays, checkpoints)


@contextmanager
def _damage_of(image: Recovered, stream: Stream, what: str) -> Iterator[None]:
    """Note an error of this block as damage."""
    try:
        yield
    except FlashtrainError as error:
        image.damage.append(f"{image.path}: the {what} of stream {stream.name}: {error}")


def _note(image: Recovered, stream: Stream) -> bytes:
    record = image.report.record
    return b"" if record is None else record.stream(stream.nsid).note


def _arrays(image: Recovered, stream: Stream) -> Iterator[NamedArray]:
    port = next(port for port in Port if Access.READ in stream.access(port))
    catalog = Catalog(image.device.stream(stream.name, port))
    for name in catalog.names():
        info = catalog.info(name)
        yield NamedArray(
            stream.name, name, str(info.dtype), list(info.shape), info.nbytes, info.number,
            [list(extent) for extent in info.extents],
        )  # fmt: skip


def _checkpoints(stream: Stream, note: bytes) -> Iterator[NamedCheckpoint]:
    if note.startswith(CHECKPOINTS):
        for entry in unpack(note):
            one = entry.checkpoint
            yield NamedCheckpoint(stream.name, one.name, one.step, one.nbytes, pinned=False)
    elif (pinned := PinNote.unpack(note)) is not None:
        yield NamedCheckpoint(stream.name, pinned.name, None, None, pinned=True)
