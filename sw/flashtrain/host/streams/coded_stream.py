"""A stream with a codec for NumPy users: the same calls, fewer blocks on the flash."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import DTypeLike, NDArray

from flashtrain.host.errors import ArrayError, StreamFull
from flashtrain.host.memory.arrays import blocks_of, check_target, contiguous, storable
from flashtrain.host.queues.dispatcher import Request, serialised
from flashtrain.host.queues.entries import Command, CompletionEntry
from flashtrain.host.queues.pending import Pending
from flashtrain.spec import Completion, FlashtrainError, Opcode
from flashtrain.spec.streams import Codec

from .coded_space import CodedSpace, Piece
from .page_health import PageHealth
from .stored import Extent, StoredArray
from .stream import DeviceStream

_FLOAT32_CODECS = (Codec.WINDOW32, Codec.ROUND16)


class CodedStream(DeviceStream):
    """A :class:`DeviceStream` whose blocks are encoded on their way to the flash (`flashtrain.spec.codec`).

    `append` and `read` take and give the same arrays as without a codec. With ROUND16 an array of float32
    comes back rounded to BF16; arrays of all other types come back as they were. `StoredArray.blocks` is what
    an array takes on the flash. :meth:`write` ends with :class:`CodedStreamError`.
    """

    _space: CodedSpace

    @serialised
    def append_async(self, array: NDArray) -> Pending[StoredArray]:
        array = contiguous(storable(array))
        self._dispatcher.admit()
        exact = self._is_exact(array.dtype)
        pieces, now = self._plan(blocks_of(array.nbytes, self._block_bytes), exact)
        generations: dict[int, int] = {}
        requests: list[Request] = []
        start, shape, dtype = 0, array.shape, array.dtype
        try:
            for piece in pieces:
                for zone in piece.finishes:
                    self._make_full(zone)
                self._space.reserve_piece(piece, now)
                generations.setdefault(piece.zone, self._generations.generation)
                requests.append(self._append_piece(piece, array, start, exact))
                self._dispatcher.submit(requests[-1:])
                start += piece.blocks * self._block_bytes
        except FlashtrainError:
            self._space.forget()  # some pieces were appended, some were not
            raise

        def stored(requests: Sequence[Request]) -> StoredArray:
            extents = tuple(_extent_stored(request.completion) for request in requests if request.completion)
            generation = self._generations.common(generations)
            blocks = tuple(piece.blocks for piece in pieces)
            return StoredArray(self._device, self.nsid, generation, extents, shape, dtype, blocks)

        return Pending(self._dispatcher, requests, self.name, stored, on_error=self._look_for_retired)

    @serialised
    def read_async(self, stored: StoredArray, out: NDArray | None = None) -> Pending[NDArray]:
        self._check_stored(stored)
        if out is None:
            out = np.empty(stored.shape, stored.dtype)
        array, exact = check_target(out, stored.shape, stored.dtype), self._is_exact(stored.dtype)
        requests: list[Request] = []
        start = 0
        for extent, blocks in zip(stored.extents, stored.data_blocks, strict=True):
            nbytes = blocks * self._block_bytes
            region, at, target, keep = self._target(array, start, blocks)
            command = Command(
                Opcode.READ, self.nsid, extent.lba, extent.blocks, at, nbytes, expanded=blocks, exact=exact
            )
            requests.append(Request(self.port, command, region=region, target=target, keep=keep))
            self._dispatcher.submit(requests[-1:])
            start += nbytes
        return Pending(self._dispatcher, requests, self.name, lambda _: array)

    @serialised
    def drop_all(self) -> None:
        """As without a codec; it waits for appends in flight, of which the length is not known yet."""
        self._settle()
        super().drop_all()

    @serialised
    def stored_at(
        self,
        extents: Iterable[Extent],
        shape: tuple[int, ...],
        dtype: DTypeLike,
        data_blocks: Iterable[int] = (),
    ) -> StoredArray:
        """As without a codec. Each extent is an append, and `data_blocks` has the blocks of its data."""
        extents, data_blocks = tuple(extents), tuple(data_blocks)
        if len(extents) != len(data_blocks):
            raise ArrayError(
                f"{len(extents)} extents of stream {self.name!r}, which has a codec, with the blocks of"
                f" {len(data_blocks)}; expected those of each"
            )
        generation = self._generations.generation
        return StoredArray(self._device, self.nsid, generation, extents, shape, np.dtype(dtype), data_blocks)

    def codec_of(self, dtype: DTypeLike) -> Codec:
        """The codec of arrays of this type."""
        return Codec.WINDOW16 if self._is_exact(np.dtype(dtype)) else self.table.codec

    def read_blocks(self, lba: int, blocks: int) -> NDArray[np.uint8]:
        """Not possible: blocks of this stream have no meaning by themselves."""
        raise ArrayError(
            f"read of {blocks} blocks of stream {self.name!r}, which has a codec; expected a handle"
        )

    def health(self, stored: StoredArray) -> PageHealth:
        """Not possible: pages of this stream are not read one by one."""
        raise ArrayError(f"health of an array of stream {self.name!r}, which has a codec")

    def _is_exact(self, dtype: np.dtype) -> bool:
        """Whether data of this type are not of the codec's elements, and keep all their bits."""
        return self.table.codec in _FLOAT32_CODECS and dtype != np.float32

    def _plan(self, blocks: int, exact: bool) -> tuple[list[Piece], int | None]:
        """The appends for so many blocks of data, and the time if zones get old.

        No zone is finished while the length of an append in it is unknown.
        """
        self._dispatcher.require_enabled()
        codec = Codec.WINDOW16 if exact else self.table.codec
        most = min(self._config.max_blocks, max(1, self._dispatcher.buffer.blocks // 4))
        while most > 1 and self._config.coded_bound(most, codec) > self._config.max_blocks:
            most -= 1

        def bound(count: int) -> int:
            return self._config.coded_bound(count, codec)

        self._know_space()
        now = self._turn_ring(bound(blocks)) if self._ring.in_use else None
        try:
            pieces = self._space.plan(blocks, most, bound)
            settled = not any(piece.finishes for piece in pieces)
        except StreamFull:
            if not self._in_flight:
                raise
            settled, pieces = False, []
        if not settled and self._in_flight:
            self._settle()
            pieces = self._space.plan(blocks, most, bound)
        return pieces, now

    def _settle(self) -> None:
        """Wait until the length of each append is known, and with it the room."""
        self._wait_for_own()
        self._know_space()

    def _append_piece(self, piece: Piece, array: NDArray, start: int, exact: bool) -> Request:
        region, at, keep = self._source(array, start, piece.blocks)
        slba, nbytes = piece.zone * self.zone_size, piece.blocks * self._block_bytes
        command = Command(Opcode.ZONE_APPEND, self.nsid, slba, piece.blocks, at, nbytes, exact=exact)

        def settle(completion: CompletionEntry) -> None:
            self._space.give_back(piece.zone, piece.bound - _extent_stored(completion).blocks)

        return Request(
            self.port, command, region=region, keep=keep, on_success=settle, on_failure=self._space.forget
        )


def _extent_stored(completion: CompletionEntry) -> Extent:
    """Where an append was stored: a result has both."""
    c = Completion
    entry = c.result.put(completion.result)
    lba = c.result.get(entry) & (1 << c.stored.low - c.result.low) - 1
    return Extent(lba, c.stored.get(entry))
