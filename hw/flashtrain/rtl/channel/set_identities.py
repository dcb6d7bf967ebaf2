"""Identities of the page sets in the write buffer."""

from amaranth import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.identity import PageIdentity

from ..identity import RECORD_BITS, Record, checksum_halves
from ..layouts import BufferPage, PageKind, WritePage, ZoneIdentity

_KEPT = ("stream", "updated", "zone", "row", "channel", "die", "generation", "sequence", "wear")


class _SetIdentity(data.StructLayout):
    """What the pages of a set have in common in their identity. `plain`: they do not go to an array.
    `source`: those of gradients, what is different in the identities of the old tile.
    """

    def __init__(self, config: FmsConfig):
        widths = {name: getattr(PageIdentity, name).width for name in _KEPT}
        super().__init__({**widths, "plain": 1, "source": ZoneIdentity()})


class SetIdentities(wiring.Component):
    """Keeps the identity of each page set, as its pages announce it, and spells that of a page.

    Latency: 2 clocks from `of` to `record`, 1 to the others.

    Members
    -------
    placed : In(1), page : In(WritePage), slot : In   a page has been given a place in this set
    of : In(BufferPage), record : Out(128)            the record of a page
    plain : Out(1)              it does not go to an array, but to a die
    source : Out(ZoneIdentity)  `SourceIdentity` of its tile, if it has gradients
    row : Out                   its row, with a randomizer
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "placed": In(1),
            "page": In(WritePage(config)),
            "slot": In(bits_for(config.write_sets)),
            "of": In(BufferPage(config)),
            "record": Out(RECORD_BITS),
            "plain": Out(1),
            "source": Out(ZoneIdentity()),
            **({"row": Out(config.geometry.row_bits)} if config.randomizer else {}),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        common_layout = _SetIdentity(self.config)
        m.submodules.sets = memory = Memory(shape=common_layout, depth=self.config.write_sets, init=[])
        write, read = memory.write_port(), memory.read_port(domain="comb")
        common, page = self.page.identity, self.page
        m.d.comb += [
            write.en.eq(self.placed),
            write.addr.eq(self.slot),
            *(write.data[name].eq(common[name]) for name in ("stream", "zone", "generation", "sequence")),
            *(write.data[name].eq(page[name]) for name in ("row", "channel", "die", "wear")),
            write.data.updated.eq(page.kind == PageKind.GRADIENTS),
            write.data.plain.eq(page.kind != PageKind.DATA),
            write.data.source.eq(page.source_identity),
            read.addr.eq(self.of.slot),
        ]
        kept, body = Signal(common_layout), Signal(Record())
        halves = [Signal(PageIdentity.crc.width, name=f"crc_half_{number}") for number in range(2)]
        m.d.sync += kept.eq(read.data)
        m.d.comb += [
            *(body[name].eq(kept[name]) for name in _KEPT),
            body.plane.eq(self.of.plane),
            body.version.eq(PageIdentity.VERSION),
            self.plain.eq(kept.plain),
            self.source.eq(kept.source),
            self.record.eq(Cat(body.as_value()[: PageIdentity.crc.low], halves[0] ^ halves[1])),
        ]
        m.d.sync += [half.eq(sum_of) for half, sum_of in zip(halves, checksum_halves(body), strict=True)]
        if self.config.randomizer:
            m.d.comb += self.row.eq(kept.row)
        return m
