"""Error correction around the walk through a tile."""

from amaranth import Module, Mux, ResetInserter
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.update import WORD_BYTES

from .code_lanes import CodeLanes, TileCodeWords
from .tile_decoder import TileDecoder
from .tile_encoder import TileEncoder
from .tile_words import TileWords


class TileCode(wiring.Component):
    """Lets the walker read what has been decoded, and encodes what it has left behind::

        cache registers ──▶ decoder ──▶ walker, word by word
                        ◀── identities, when all is decoded
                        ──▶ encoder, word by word behind the walker ──▶ parity

    So nothing is computed with what has not been looked at, and yet both passes are hidden behind the walk:
    all but the words in which w, m and v begin, and those in which they end.

    Latency, if all is clean, of A arrays of which no two begin or end in one word: A · L + 9 clocks until the
    last word of the first parameter is read, and A · (L + 1) + 2 from the end of the walk on, where L are the
    lanes of a code word: 133 of 1 KiB at strength 13, together some 800 clocks for Adam.

    Members
    -------
    start : In(1)            begin; `busy` is high from the next clock on until all parity is written
    abort : In(1)            end at once
    busy : Out(1)
    parameters : In          of the tile
    walking : In(1)          the walker is busy: from the clock after `start` on
    walker : In(TileWords)   what it wants of the tile
    index : In               the parameter whose results it writes
    tile : Out(TileWords), lanes : Out(CodeLanes)   the cache registers
    decoded : Out(1)         in one clock: identities may be written now, of which
    identities_busy : In(1)  tells from the next clock on whether they are not all
    damaged : Out(planes)    planes with words that could not be corrected; complete with `decoded`
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        count = range(config.geometry.page_set_bytes // WORD_BYTES + 1)
        super().__init__({
            "start": In(1),
            "abort": In(1),
            "busy": Out(1),
            "parameters": In(count),
            "walking": In(1),
            "walker": In(TileWords(config)),
            "index": In(count),
            "tile": Out(TileWords(config)),
            "lanes": Out(CodeLanes(config)),
            "decoded": Out(1),
            "identities_busy": In(1),
            "damaged": Out(config.geometry.planes),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        walker, tile, lanes = self.walker, self.tile, self.lanes
        items = TileCodeWords(self.config).items
        decoder, encoder = TileDecoder(self.config), TileEncoder(self.config)
        m.submodules.decoder = ResetInserter(self.abort)(decoder)
        m.submodules.encoder = ResetInserter(self.abort)(encoder)

        m.d.comb += [
            tile.read.eq(walker.read & decoder.clean.bit_select(walker.read_index // items, 1)),
            tile.read_index.eq(walker.read_index),
            walker.read_ready.eq(tile.read_ready),
            walker.operand.eq(tile.operand),
            tile.write.eq(walker.write),
            tile.write_index.eq(walker.write_index),
            tile.result.eq(walker.result),
            walker.write_ready.eq(tile.write_ready),
            decoder.start.eq(self.start),
            decoder.parameters.eq(self.parameters),
            self.decoded.eq(decoder.finished),
            self.damaged.eq(decoder.damaged),
            encoder.start.eq(self.start),
            encoder.allowed.eq(~decoder.busy & ~self.identities_busy),
            encoder.rest.eq(~self.walking),
            self.busy.eq(encoder.busy),
        ]
        # A word that begins with a parameter's result, `items` parameters after the first of its array or
        # more: all of the word before belongs to that array, too, and has been written.
        with m.If(tile.write & tile.write_ready & (tile.write_index % items == 0) & (self.index >= items)):
            m.d.comb += [
                encoder.passed.eq(1),
                encoder.passed_word.eq(tile.write_index // items - 1),
            ]

        for name in ("plane", "lane", "read", "write", "content"):
            m.d.comb += getattr(lanes, name).eq(
                Mux(decoder.busy, getattr(decoder.lanes, name), getattr(encoder.lanes, name))
            )
        # What is not theirs does not reach them: where nothing comes nothing moves.
        for reader, mine in ((decoder, decoder.busy), (encoder, encoder.allowed & encoder.busy)):
            with m.If(mine):
                m.d.comb += [
                    reader.lanes.read_ready.eq(lanes.read_ready),
                    reader.lanes.found.eq(lanes.found),
                    reader.lanes.write_ready.eq(lanes.write_ready),
                ]
        return m
