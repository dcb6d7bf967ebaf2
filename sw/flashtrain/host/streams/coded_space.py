"""The room of a stream with a codec: appends reserve their bound, and give back what they did not need."""

from collections.abc import Callable
from typing import NamedTuple

from flashtrain.host.errors import StreamFull

from .stream_space import StreamSpace

LEAST_PIECE = 16
"""Blocks of data. A zone without room for so many is finished, unless fewer are left to append."""


class Piece(NamedTuple):
    """Blocks of data for one append to a zone, and the most blocks that it takes there.

    finishes: zones without enough room, which are to be finished before.
    """

    zone: int
    blocks: int
    bound: int
    finishes: tuple[int, ...]


class CodedSpace(StreamSpace):
    """The room in the zones of a stream with a codec."""

    def plan(self, blocks: int, most: int, bound: Callable[[int], int]) -> list[Piece]:
        """Appends of at most `most` blocks each for `blocks` of data; :class:`StreamFull` without room.

        bound: the most blocks that an append of so many takes. Nothing is reserved yet.
        """
        rooms, pieces, finishes = list(self._rooms), [], []
        order = self._in_order()
        left = blocks
        while left:
            if not order:
                raise StreamFull(
                    f"stream {self._name!r} has room for {self.room} encoded blocks;"
                    f" {blocks} blocks of data may take {bound(blocks)}"
                )
            zone = order[0]
            fits = min(left, most, _fitting(rooms[zone], bound))
            if fits >= min(left, most, LEAST_PIECE):
                pieces.append(Piece(zone, fits, bound(fits), tuple(finishes)))
                rooms[zone] -= bound(fits)
                left -= fits
                finishes.clear()
            else:
                if 0 < rooms[zone] < self._zone_capacity:
                    finishes.append(zone)
                order.pop(0)
        return pieces

    def reserve_piece(self, piece: Piece, now: int | None = None) -> None:
        """Reserve the bound of an append; now: the time, which zones are opened at."""
        if not self.written(piece.zone):
            self._opened[piece.zone] = now
        self.reserved += piece.bound
        self._take(piece.zone, piece.bound)

    def give_back(self, zone: int, slack: int) -> None:
        """An append to the zone took so many blocks less than its bound."""
        self.reserved -= slack
        if self.is_open(zone):
            self._rooms[zone] += slack


def _fitting(room: int, bound: Callable[[int], int]) -> int:
    """The most blocks of data of which the bound is not above `room`."""
    least, most = 0, 2 * room + 1
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if bound(middle) <= room else (least, middle)
    return least
