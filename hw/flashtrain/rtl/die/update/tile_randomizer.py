"""Between the update unit and the randomized pages of a tile."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from flashtrain.rtl.randomizer.word_key import KEY_BITS, but_for_version, finished, half_done
from flashtrain.spec import FmsConfig
from flashtrain.spec.identity import PageIdentity
from flashtrain.spec.update import WORD_BYTES

from .tile_identity import IdentityLanes
from .tile_words import TileWords


class TileRandomizer(wiring.Component):
    """Removes the key from words and identities that are read, and applies it to those that are written.

    Reads use the key of the source's page, writes that of the target's page. Other bytes stay unchanged.

    Latency: none. A write passes ten levels of logic, a read five.

    Members
    -------
    source, target : In          pages of the tile; they hold while anything is read or written
    values : In(TileWords), tile : Out(TileWords)   the tile sequencer's side and that of the cache registers
    plain : In(IdentityLanes), identities : Out(IdentityLanes)
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "source": In(config.geometry.page_bits),
            "target": In(config.geometry.page_bits),
            "values": In(TileWords(config)),
            "tile": Out(TileWords(config)),
            "plain": In(IdentityLanes(config)),
            "identities": Out(IdentityLanes(config)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        g, values, tile = self.config.geometry, self.values, self.tile
        page_words = g.page_bytes // WORD_BYTES
        word_bits = exact_log2(page_words)

        def half_of(name: str, page: Value, index: Value) -> Value:
            return half_done(m, name, page, index[word_bits:], index[:word_bits])

        # The word follows in the next cycle, and the other half of its key with it.
        asked = Signal(KEY_BITS, reset_less=True)
        operand_half = half_of("operand", self.source, values.read_index)
        with m.If(tile.read & tile.read_ready):
            m.d.sync += asked.eq(operand_half)
        result_key = finished(m, "put", half_of("result", self.target, values.write_index))
        m.d.comb += [
            tile.read.eq(values.read),
            tile.read_index.eq(values.read_index),
            values.read_ready.eq(tile.read_ready),
            values.operand.eq(tile.operand ^ finished(m, "come", asked)),
            tile.write.eq(values.write),
            tile.write_index.eq(values.write_index),
            values.write_ready.eq(tile.write_ready),
            tile.result.eq(values.result ^ result_key),
        ]

        plain, identities = self.plain, self.identities
        page = Mux(plain.read, self.source, self.target)
        keys = []
        for number in range(len(plain.content) // KEY_BITS):
            word = Signal(range(page_words + PageIdentity.BYTES // WORD_BYTES), name=f"word_{number}")
            m.d.comb += word.eq(page_words + Cat(Const(number, 1), plain.lane))
            half = half_done(m, f"half_{number}", page, plain.plane[: g.plane_bits], word)
            key = finished(m, f"whole_{number}", half)
            keys.append(but_for_version(g, key, word))
        off = Signal(len(plain.found), reset_less=True)
        with m.If(identities.read & identities.read_ready):
            m.d.sync += off.eq(Cat(keys))
        m.d.comb += [
            identities.read.eq(plain.read),
            plain.read_ready.eq(identities.read_ready),
            plain.found.eq(identities.found ^ off),
            identities.write.eq(plain.write),
            identities.plane.eq(plain.plane),
            identities.lane.eq(plain.lane),
            plain.ready.eq(identities.ready),
            identities.content.eq(plain.content ^ Cat(keys)),
        ]
        return m
