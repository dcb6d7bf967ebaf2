"""The places of generations in the streams of a state: one behind the other in a zone, as a ring."""

from collections.abc import Sequence

from flashtrain.spec import Geometry

from .state_stream import GenerationPlace, StateStream
from .tensor_group import PlacedGroup, TensorGroup, in_whole_pages, place, rows_of


def placed_groups(groups: Sequence[TensorGroup], geometry: Geometry) -> tuple[PlacedGroup, ...]:
    """The groups as generations have them: in whole pages, if a zone has places for several generations."""
    placed = place(groups, geometry)
    repeats = GenerationPlaces(rows_of(placed), geometry).repeats
    return in_whole_pages(placed, geometry) if repeats else placed


class GenerationPlaces:
    """The room for generations in the streams of a state.

    A state may fit into a zone more than once. Each generation is then appended behind the older ones of its
    stream, at a page of its own. The stream is reset when the zone has no room for another generation. It is
    also reset when the zone is old, which is as old as its first page. So an erase is paid for as many steps
    as a zone has places. The stream of a larger state is reset for each of its generations.

    Whoever drops a generation sees to it that its stream has room afterwards (:meth:`has_room`).

    Members
    -------
    pages: of a generation, on each die.
    repeats: a zone has places for several generations, which take whole pages on all dies.
    """

    def __init__(self, rows: int, geometry: Geometry) -> None:
        self.pages = -(-rows // geometry.dies)
        self.repeats = 2 * self.pages <= geometry.pages
        self._zone_pages = geometry.pages
        self._taken: dict[str, int] = {}  # pages by stream
        self._opened: dict[str, int | None] = {}  # the time of the first page

    def has_room(self, stream: StateStream) -> bool:
        """Whether the stream takes another generation as it is."""
        taken = self._taken.get(stream.name, 0)
        if not taken:
            return True
        if not self.repeats or taken + self.pages > self._zone_pages:
            return False
        opened = self._opened[stream.name]
        return opened is None or (stream.now - opened) % (1 << 32) < stream.table.retention.filling

    def take(self, stream: StateStream) -> GenerationPlace:
        """The place of the stream's next generation, which is taken from now on."""
        page = self._taken.get(stream.name, 0)
        if not page:
            self._opened[stream.name] = stream.now
        self._taken[stream.name] = page + self.pages
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
