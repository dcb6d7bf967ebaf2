"""`FlashDataset`: samples that the host appends to a stream once, and the core reads."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from torch import Tensor
from torch.utils.data import Dataset

from flashtrain.host import Device
from flashtrain.host.streams.stream import UNCHANGED_BY_RESET
from flashtrain.spec import Port
from flashtrain.training.errors import DataError

from .data_note import DataNote, Stored
from .sample_layout import SampleLayout
from .stored_bytes import StoredBytes

INPUTS = "inputs"
"""The stream for inputs of the nodes in `flashtrain.spec.streams`."""


class FlashDataset(Dataset[Any]):
    """A map-style data set whose samples are in a stream of `device`.

    source: a tensor or an array, whose rows are the samples; a tuple or dictionary of them; or a data set or
    another iterable of samples, which is iterated once. A sample is a tensor, an array or a number, or a
    tuple, list or dictionary of them; all have the same shapes and dtypes. stream: where they go;
    append_port, read_port: by which they are appended and read.

    rank, ranks: of several ranks, each with a device, this one has the samples `rank`, `rank + ranks`, and so
    on. Lengths and numbers are those of the source; :class:`DataError` for a sample of another rank. A
    :class:`ResumableSampler` of the data set draws only those that are here.

    name: of a data set that processes to come find again. It has the stream for itself, whose note says what
    is there. With that note nothing is appended, and of `source` only the first sample is asked for, to
    compare layouts. The samples of a process that ended early are stored anew. :class:`DataError` for a
    stream with anything else, and :class:`flashtrain.host.JournalMissing` for one without notes.

    Samples lie one behind the other. A batch reads the blocks that have some of its samples, each once, and
    consecutive ones together. It serves a `DataLoader` without workers: the device belongs to the process
    that opened it, and workers get :class:`flashtrain.host.ForeignProcess`.
    :class:`DataError` for samples that are not alike, and :class:`StreamFull` without room for all; nothing
    is kept then.

    Members
    -------
    nbytes: bytes of all samples that are here.
    sample_bytes: bytes of one.
    rank, ranks: those of the constructor.
    """

    def __init__(
        self,
        source: Any,
        device: Device,
        stream: str = INPUTS,
        append_port: Port = Port.HOST,
        read_port: Port = Port.CORE,
        rank: int = 0,
        ranks: int = 1,
        name: str | None = None,
    ) -> None:
        if name is not None and not (isinstance(name, str) and name):
            raise DataError(f"name is {name!r}; expected a text, or None")
        self.rank, self.ranks = require_rank(rank, ranks)
        self._count = 0
        samples = self._own(source)
        try:
            first = next(samples)
        except StopIteration:
            expected = "at least one" if ranks == 1 else f"one for rank {rank} of {ranks}"
            raise DataError(f"the source has {self._count or 'no'} samples; expected {expected}") from None
        self._layout = SampleLayout(first)
        self.sample_bytes = self._layout.nbytes
        self._stored = StoredBytes(device, stream, append_port, read_port)
        self._name = name
        if name is None:
            self._stored.append(self._encoded(first, samples))
        else:
            note = DataNote(name, self.rank, self.ranks, str(self._layout))
            self._keep(note, _length(source), self._encoded(first, samples))

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Any:
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        """The samples of these numbers, as a `DataLoader` asks for them; all are read at once."""
        size = self.sample_bytes
        starts = [self._place(index) * size for index in indices]
        return [
            self._layout.decode(record)
            for record in self._stored.read([(start, start + size) for start in starts])
        ]

    @property
    def nbytes(self) -> int:
        return self._stored.nbytes

    def drop(self) -> None:
        """Drop all samples from the stream; the data set is empty afterwards."""
        if self._name is None:
            self._stored.drop()
        else:
            self._stored.writer.reset()
        self._count = 0

    def _place(self, index: int) -> int:
        """The place of a sample among those that are here."""
        number = int(index)
        if not -self._count <= number < self._count:
            raise IndexError(f"sample {number} of a data set of {self._count}")
        place, rank = divmod(number % self._count, self.ranks)
        if rank != self.rank:
            raise DataError(
                f"sample {number % self._count} is that of rank {rank} of {self.ranks}; expected one of"
                f" rank {self.rank}, whose samples the data set has"
            )
        return place

    def _keep(self, note: DataNote, samples: int | None, records: Iterator[np.ndarray]) -> None:
        """Attach the samples that the stream has, or store them in it. samples: of all ranks, if known."""
        stream = self._stored.writer
        found = DataNote.unpack(stream.note) if stream.note else None
        if found is not None:
            found.require_same(note, samples, stream.name)
            if found.stored is not None:
                self._count = found.stored.samples
                return self._stored.attach(found.stored.nbytes, found.stored.extents)
            stream.reset()
        elif stream.note or any(zone.state not in UNCHANGED_BY_RESET for zone in stream.report()):
            raise DataError(
                f"stream {stream.name!r} has data of another use; expected an empty stream for the data set"
                f" {note.name!r}"
            )
        stream.annotate(note.pack())
        self._stored.append(records)
        stored = Stored(self._count, self._stored.nbytes, self._stored.extents)
        stream.annotate(replace(note, stored=stored).pack())

    def _own(self, source: Any) -> Iterator[Any]:
        """The samples of this rank; those of others are counted."""
        for number, sample in enumerate(_samples(source, lambda number: number % self.ranks == self.rank)):
            self._count = number + 1
            if number % self.ranks == self.rank:
                yield sample

    def _encoded(self, first: Any, rest: Iterator[Any]) -> Iterator[np.ndarray]:
        """The bytes of each sample."""
        record = np.empty(self.sample_bytes, np.uint8)
        for place, sample in enumerate(chain([first], rest)):
            self._layout.encode(self.rank + place * self.ranks, sample, record)
            yield record


def require_rank(rank: Any, ranks: Any) -> tuple[int, int]:
    """A rank and the number of all; :class:`DataError` for one that does not exist."""
    if type(rank) is not int or type(ranks) is not int or not 0 <= rank < ranks:
        raise DataError(f"rank is {rank!r} of {ranks!r}; expected an integer from 0 to ranks - 1")
    return rank, ranks


def _length(source: Any) -> int | None:
    """The number of samples, if it can be known without them."""
    if isinstance(source, tuple | Mapping):
        source = next(iter(source.values() if isinstance(source, Mapping) else source))
    return len(source) if hasattr(source, "__len__") else None


def _samples(source: Any, is_needed: Callable[[int], bool]) -> Iterator[Any]:
    """The samples of a source, in order; anything in the place of one that is not needed."""
    if isinstance(source, Tensor | np.ndarray):
        if not source.ndim:
            raise DataError("the source is a tensor without dimensions; expected one with a row per sample")
        yield from source
    elif isinstance(source, tuple | Mapping):
        columns = list(source.values()) if isinstance(source, Mapping) else list(source)
        for column in columns:
            if not isinstance(column, Tensor | np.ndarray) or not column.ndim:
                raise DataError(
                    f"the source has a {type(column).__name__}; expected tensors or arrays of rows"
                )
        lengths = {len(column) for column in columns}
        if len(lengths) > 1:
            raise DataError(f"tensors of the source have {sorted(lengths)} rows; expected equal numbers")
        for row in zip(*columns, strict=True):
            yield dict(zip(source, row, strict=True)) if isinstance(source, Mapping) else row
    elif hasattr(source, "__getitem__") and hasattr(source, "__len__"):
        # A map-style data set need not end an iteration.
        yield from (source[index] if is_needed(index) else None for index in range(len(source)))
    elif isinstance(source, Iterable):
        yield from source
    else:
        raise DataError(
            f"the source is a {type(source).__name__}; expected a tensor, an array, a data set or an iterable"
        )
