"""Effects of an UPDATE: the pages that it appends, and its copies in the tensor buffer."""

from flashtrain.spec import FmsConfig, Submission

from .checks import zone_of
from .conditions import first_source_block, updated_blocks
from .state import DeviceState, Page, append_pages
from .tile_step import DieStep
from .transfers import Effect, Memory, Written, block_of


def update_tiles(entry: int, config: FmsConfig, state: DeviceState, memory: Memory) -> Effect:
    """Tiles from the source's zone of the same number, each from its own die; row by row, by channel."""
    s, g, number = Submission, config.geometry, zone_of(entry, config)
    stream, address = state.streams[s.nsid.get(entry)], s.address.get(entry)
    zone, source = stream.zones[number], state.streams[s.source.get(entry)].zones[number]
    pages, copies, first = s.pages.get(entry), s.copies.get(entry), zone.written
    from_source = first_source_block(entry, config, first)
    fresh: list[Page] = [None] * updated_blocks(entry, config)
    writes: list[Written] = []
    for row in range(s.rows.get(entry)):
        for channel in range(g.channels):
            places = [(row * g.planes + plane) * g.channels + channel for plane in range(g.planes)]
            blocks = [(row * pages + page) * g.channels + channel for page in range(pages)]
            die_of_channel = (first + places[0]) // (g.channels * g.planes) % g.dies
            tile, copied = _update_tile(
                state.dies[die_of_channel * g.channels + channel],
                [source.pages[from_source + place] for place in places],
                b"".join(block_of(memory, address, block, config) for block in blocks),
                pages,
                copies,
            )
            for place, page in zip(places, tile, strict=True):
                fresh[place] = page
            for block, page in zip(blocks, copied, strict=False):
                writes.append(Written(address + block * g.page_bytes, g.page_bytes, page))
    append_pages(zone, fresh, g.zone_capacity, state.now)
    stream.uncommitted = True
    return Effect(number * g.zone_size + first, tuple(writes))


def _update_tile(
    die: DieStep, source: list[Page], gradients: bytes, pages: int, copies: int
) -> tuple[list[Page], list[Page]]:
    """The pages of the new tile and of its copies."""
    undefined: tuple[list[Page], list[Page]] = [None] * len(source), [None] * copies
    if die.step is None or not die.step.fits(pages, copies):
        die.defined = False
        return undefined
    die.count(die.step.gradients(gradients))
    if None in source:
        return undefined
    tile, copied = die.step.run(b"".join(page for page in source if page is not None), gradients)
    size = len(tile) // len(source)
    return _cut(tile, size, len(source)), _cut(copied, size, copies)


def _cut(content: bytes, size: int, count: int) -> list[Page]:
    return [content[i * size : (i + 1) * size] for i in range(count)]
