"""`ServedCheckpoints`: the checkpoints of another rank's device, which `flashtrain serve` serves."""

from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from flashtrain.checkpoint import Checkpoint, CheckpointDamaged, CheckpointError, StoredCheckpoint
from flashtrain.checkpoint.stores.stored_checkpoint import PageLost
from flashtrain.checkpoint.stores.stream_catalogue import CatalogueEntry, Piece, entry_of, unpack
from flashtrain.nvme.client.host import Host
from flashtrain.nvme.errors import CommandFailed, ProtocolError
from flashtrain.nvme.wire.stream_note import HEADER_BYTES, PAGE, note_bytes, parse_note
from flashtrain.objects.errors import StreamRefused
from flashtrain.objects.session import DEFAULT_HOST_NQN, DEFAULT_NQN, Session, Target
from flashtrain.objects.stream import Stream
from flashtrain.objects.streams import Streams
from flashtrain.objects.url import Address, path_of

_MOST_NOTE_BYTES = 16 << 20
"""More than the journal of any preset has for the notes of its streams."""
_PAGE_BYTES = 64 << 10
_ATTEMPTS = 5


class ServedCheckpoints:
    """The checkpoints of an :class:`AppendedCheckpoints` on a device behind NVMe over TCP, for reads::

        served = ServedCheckpoints("flash://127.0.0.1:4420/trained")
        dcp.load(state, checkpoint_id="run/300", storage_reader=FlashReader([store, served]))

    ConnectionError when the target is not there, or does not answer for `timeout` seconds. FileNotFoundError,
    with the streams that there are, when it has not the stream. PermissionError when it refuses this host.
    :class:`CheckpointError` when it does not tell the notes of streams, as targets of others.

    - url: `flash://host:port/stream`; the stream is `trained` by default.
    - nqn, host_nqn, dhchap_secret: as of `objects.session.Target`.
    """

    def __init__(
        self,
        url: str,
        *,
        nqn: str = DEFAULT_NQN,
        host_nqn: str = DEFAULT_HOST_NQN,
        dhchap_secret: str | None = None,
        timeout: float = 10.0,
    ) -> None:
        self._target = Target(Address.of(url), nqn, host_nqn, dhchap_secret, timeout)
        self._name = path_of(url) or "trained"
        self._session = Session(self._target)
        self._streams = Streams(self._session)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the connection; the next read opens another one."""
        self._session.close()

    @property
    def checkpoints(self) -> tuple[Checkpoint, ...]:
        return tuple(entry.checkpoint for entry in self._entries()[1])

    def open(self, name: str) -> StoredCheckpoint:
        """A checkpoint for reads of several arrays: its manifest is read once."""
        stream, entries = self._entries()
        return StoredCheckpoint(_ServedPieces(stream), entry_of(entries, name, stream.name))

    def _entries(self) -> tuple[Stream, tuple[CatalogueEntry, ...]]:
        stream = self._streams.named(self._name)
        try:
            with self._session.commands() as host:
                note = _note(host, stream.nsid)
        except CommandFailed as error:
            raise CheckpointError(
                f"{self._target.address}: stream {stream.name!r} has no note for this host ({error});"
                " expected a target of `flashtrain serve`"
            ) from error
        try:
            return stream, unpack(note)
        except CheckpointDamaged as error:
            raise CheckpointDamaged(f"{self._target.address}: stream {stream.name!r}: {error}") from error


class _ServedPieces:
    """Pieces of a stream of a target."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.block_bytes = stream.block_bytes

    def read(self, piece: Piece) -> NDArray[np.uint8]:
        shape = self._stream.shape
        if sum(blocks for _, blocks in piece.extents) > shape.zones * shape.zone_size:
            raise CheckpointDamaged(f"stream {self._stream.name!r}: a piece with more blocks than the stream")
        try:
            return np.frombuffer(self._stream.read(piece.extents), np.uint8)[: piece.nbytes]
        except StreamRefused as error:
            raise PageLost(str(error)) from error


def _note(host: Host, nsid: int) -> bytes:
    """The note of a stream. A change between two parts of it is found by its checksum: it is read again."""
    for _ in range(_ATTEMPTS):
        page = host.log_page(PAGE, HEADER_BYTES, nsid)
        length = note_bytes(page)
        if length > _MOST_NOTE_BYTES:
            raise ProtocolError(f"a note of {length:,} bytes; expected {_MOST_NOTE_BYTES:,} at most")
        end = -(-(HEADER_BYTES + length) // 4) * 4
        parts = (
            host.log_page(PAGE, min(_PAGE_BYTES, end - start), nsid, offset=start)
            for start in range(0, end, _PAGE_BYTES)
        )
        if (note := parse_note(b"".join(parts))) is not None:
            return note
    raise ProtocolError(f"the note of namespace {nsid} has changed {_ATTEMPTS} times while it was read")
