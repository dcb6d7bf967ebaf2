"""Identities of the page sets in the write buffer."""

from amaranth import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.identity import PageIdentity

from ..identity import RECORD_BITS, Record, checksum
from ..layouts import BufferPage, PageKind, WritePage

_KEPT = ("stream", "updated", "zone", "row", "channel", "die", "generation", "sequence", "wear")


class _SetIdentity(data.StructLayout):
    """What the pages of a set have in common in their identity; `plain`: they do not go to an array."""

    def __init__(self, config: FmsConfig):
        widths = {name: getattr(PageIdentity, name).width for name in _KEPT}
        super().__init__({**widths, "plain": int(config.randomizer)})


class SetIdentities(wiring.Component):
    """Keeps the identity of each page set, as its pages announce it, and spells that of a page.

    Latency: 2 clocks from `of` to `record`.

    Members
    -------
    placed : In(1), page : In(WritePage), slot : In   a page has been given a place in this set
    of : In(BufferPage), record : Out(128)            the record of a page
    row : Out, plain : Out(1)   with a randomizer: its row, and that it has no key, a clock earlier
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "placed": In(1),
            "page": In(WritePage(config)),
            "slot": In(bits_for(config.write_sets)),
            "of": In(BufferPage(config)),
            "record": Out(RECORD_BITS),
            **({"row": Out(config.geometry.row_bits), "plain": Out(1)} if config.randomizer else {}),
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
            read.addr.eq(self.of.slot),
        ]
        kept, body, whole = Signal(common_layout), Signal(Record()), Signal(Record())
        m.d.sync += kept.eq(read.data)
        m.d.comb += [
            *(body[name].eq(kept[name]) for name in _KEPT),
            body.plane.eq(self.of.plane),
            body.version.eq(PageIdentity.VERSION),
            whole.eq(Cat(body.as_value()[: PageIdentity.crc.low], checksum(body.as_value()))),
        ]
        m.d.sync += self.record.eq(whole)
        if self.config.randomizer:
            m.d.comb += [
                write.data.plain.eq(page.kind != PageKind.DATA),
                self.row.eq(kept.row),
                self.plain.eq(kept.plain),
            ]
        return m
