"""Error correction of a tile before and after its update."""

from amaranth import Module, Mux, ResetInserter
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from flashtrain.spec import FmsConfig
from flashtrain.spec.update import WORD_BYTES

from .code_lanes import CodeLanes, TileCodeWords
from .tile_decoder import TileDecoder
from .tile_encoder import TileEncoder
from .tile_words import TileWords, tile_regions


class TileCode(wiring.Component):
    """Decodes code words before the tile sequencer reads them, and encodes them after its writes::

        cache registers ──▶ decoder ──▶ tile sequencer, word by word
                        ◀── identities, when all words are decoded
                        ──▶ encoder, word by word behind the tile sequencer ──▶ parity

    The update unit computes with decoded words only. Both passes overlap the update, but for the words in
    which w, m and v begin or end.

    Latency without errors, of A arrays with L lanes in a code word; no two arrays begin or end in one word.
    It is A · L + 9 cycles until the last word of the first parameter is read; A · (L + 1) + 2 from the end of
    the tile sequencer's work on. L is 133 of 1 KiB at strength 13; both are together some 800 cycles
    for Adam.

    Members
    -------
    start : In(1)            begins a tile; `busy` is high from the next cycle until all parity is written
    abort : In(1)            ends at once
    busy : Out(1)
    first : In               the first word of each array, see `tile_regions`
    split : In(1)            the tile has lower halves of w
    sequencing : In(1)       the tile sequencer is busy: from the cycle after `start` on
    sequencer : In(TileWords)   its accesses to the tile
    index : In               the word of its array that it writes
    tile : Out(TileWords), lanes : Out(CodeLanes)   the cache registers
    decoded : Out(1)         pulse: identities may be written from now on
    identities_busy : In(1)  not all identities are written; valid from the cycle after `decoded` on
    damaged : Out(planes)    planes with words that could not be corrected; complete with `decoded`
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        word = range(config.geometry.page_set_bytes // WORD_BYTES + 1)
        first = data.ArrayLayout(bits_for(word.stop - 1), tile_regions(config))
        super().__init__({
            "start": In(1),
            "abort": In(1),
            "busy": Out(1),
            "first": In(first),
            "split": In(1),
            "sequencing": In(1),
            "sequencer": In(TileWords(config)),
            "index": In(word),
            "tile": Out(TileWords(config)),
            "lanes": Out(CodeLanes(config)),
            "decoded": Out(1),
            "identities_busy": In(1),
            "damaged": Out(config.geometry.planes),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        sequencer, tile, lanes = self.sequencer, self.tile, self.lanes
        items = TileCodeWords(self.config).items
        decoder, encoder = TileDecoder(self.config), TileEncoder(self.config)
        m.submodules.decoder = ResetInserter(self.abort)(decoder)
        m.submodules.encoder = ResetInserter(self.abort)(encoder)

        m.d.comb += [
            tile.read.eq(sequencer.read & decoder.clean.bit_select(sequencer.read_index // items, 1)),
            tile.read_index.eq(sequencer.read_index),
            sequencer.read_ready.eq(tile.read_ready),
            sequencer.operand.eq(tile.operand),
            tile.write.eq(sequencer.write),
            tile.write_index.eq(sequencer.write_index),
            tile.result.eq(sequencer.result),
            sequencer.write_ready.eq(tile.write_ready),
            decoder.start.eq(self.start),
            decoder.first.eq(self.first),
            decoder.split.eq(self.split),
            self.decoded.eq(decoder.finished),
            self.damaged.eq(decoder.damaged),
            encoder.start.eq(self.start),
            encoder.allowed.eq(~decoder.busy & ~self.identities_busy),
            encoder.all_passed.eq(~self.sequencing),
            self.busy.eq(encoder.busy),
        ]
        # A code word that begins with this word, `items` words after the first of its array or more: all of
        # the code word before belongs to that array, too, and has been written.
        with m.If(tile.write & tile.write_ready & (tile.write_index % items == 0) & (self.index >= items)):
            m.d.comb += [
                encoder.passed.eq(1),
                encoder.passed_word.eq(tile.write_index // items - 1),
            ]

        for name in ("plane", "lane", "read", "write", "content"):
            m.d.comb += getattr(lanes, name).eq(
                Mux(decoder.busy, getattr(decoder.lanes, name), getattr(encoder.lanes, name))
            )
        # Operand isolation: inputs of the idle one do not toggle.
        for reader, mine in ((decoder, decoder.busy), (encoder, encoder.allowed & encoder.busy)):
            with m.If(mine):
                m.d.comb += [
                    reader.lanes.read_ready.eq(lanes.read_ready),
                    reader.lanes.found.eq(lanes.found),
                    reader.lanes.write_ready.eq(lanes.write_ready),
                ]
        return m
