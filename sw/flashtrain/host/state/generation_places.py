"""The places of generations in the streams of a state: one behind the other in a zone, as a ring."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from flashtrain.spec import Geometry

from .state_stream import GenerationPlace, StateStream
from .tensor_group import PlacedGroup, TensorGroup, in_whole_pages, place, rows_of


def placed_groups(groups: Sequence[TensorGroup], geometry: Geometry) -> tuple[PlacedGroup, ...]:
    """The groups as generations have them: in whole pages, if a zone has places for several generations."""
    placed = place(groups, geometry)
    pages = -(-rows_of(placed) // geometry.dies)
    return in_whole_pages(placed, geometry) if fits_twice(pages, geometry) else placed


def fits_twice(pages: int, geometry: Geometry) -> bool:
    """Whether a zone has places for several generations of so many pages on each die."""
    return 2 * pages <= geometry.pages


class GenerationPlaces:
    """The room for generations in the streams of a state.

    A state may fit into a zone more than once. Each generation is then appended behind the older ones of its
    stream, at a page of its own. The stream is reset when the zone has no room for another generation. It is
    also reset when the zone is old, which is as old as its first page. So an erase is paid for as many steps
    as a zone has places. The stream of a larger state is reset for each of its generations.

    Whoever drops a generation does so within :meth:`dropped`, after which its stream has room.

    rows: of tiles, of a generation. One that ends within a page of all dies, as those of an earlier version
    may, has no other behind it.
    """

    def __init__(self, rows: int, geometry: Geometry) -> None:
        self._pages = -(-rows // geometry.dies)
        self._repeats = rows % geometry.dies == 0 and fits_twice(self._pages, geometry)
        self._zone_pages = geometry.pages
        self._taken: dict[str, int] = {}  # pages by stream
        self._opened: dict[str, int | None] = {}  # the time of the first page

    @contextmanager
    def dropped(self, *streams: StateStream) -> Iterator[list[StateStream]]:
        """The streams, whose generation the block drops, that take another one as they are.

        The block resets the others. They are empty when it ends, but not if it raises an error.
        """
        kept = [stream for stream in streams if self._has_room(stream)]
        yield kept
        for stream in streams:
            if stream not in kept:
                self.empty(stream)

    def take(self, stream: StateStream) -> GenerationPlace:
        """The place of the stream's next generation, which is taken from now on."""
        page = self._taken.get(stream.name, 0)
        if not page:
            self._opened[stream.name] = stream.now
        self._taken[stream.name] = page + self._pages
        return GenerationPlace(stream, page)

    def empty(self, stream: StateStream) -> None:
        """Note a reset of the stream."""
        self._taken.pop(stream.name, None)

    def learn(self, stream: StateStream) -> None:
        """Take the room of the stream from its report."""
        zone = stream.report()[0]
        pages, rest = divmod(zone.capacity - zone.room, stream.row_blocks * stream.dies_of_channel)
        self._taken[stream.name] = self._zone_pages if rest else pages  # a page in part takes no more
        self._opened[stream.name] = zone.time

    def _has_room(self, stream: StateStream) -> bool:
        taken = self._taken.get(stream.name, 0)
        if not taken:
            return True
        if not self._repeats or taken + self._pages > self._zone_pages:
            return False
        opened = self._opened[stream.name]
        return opened is None or (stream.now - opened) % (1 << 32) < stream.table.retention.filling
