"""The identities of a tile's pages (`flashtrain.spec.identity`)."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.identity import PageIdentity, identity_record
from flashtrain.spec.update import SourceIdentity

from ..identity import RECORD_BITS, Record, checksum
from ..layouts import ZoneIdentity
from .pin_lanes import LANE_BYTES

_LANE_BITS = 8 * LANE_BYTES
_LANES = PageIdentity.BYTES // LANE_BYTES

LOADED_LANES = _LANES + SourceIdentity.BYTES // LANE_BYTES
"""Behind page 0 of a tile's gradients."""


class IdentityLanes(wiring.Signature):
    """To the identities in the cache registers, behind the data of each page.

    Members
    -------
    plane, lane : Out     which lane of which
    read : Out(1)         it is wanted
    read_ready : In(1)    it was read: it is `found` in the next clock
    write : Out(1)        `content` shall replace it; not with `read`
    ready : In(1)         it does
    """

    def __init__(self, config: FmsConfig):
        super().__init__({
            "plane": Out(max(1, config.geometry.plane_bits)),
            "lane": Out(range(_LANES)),
            "read": Out(1),
            "read_ready": In(1),
            "found": In(_LANE_BITS),
            "write": Out(1),
            "ready": In(1),
            "content": Out(_LANE_BITS),
        })  # fmt: skip


class TileIdentity(wiring.Component):
    """Looks whether the pages of a tile are those that were meant, and gives each its new identity.

    What comes with a tile's gradients says how both are. New identities differ in `plane` and, as a CRC is
    linear, in the bits of `crc` that go with it. So one that was damaged on its way does not become valid
    here. What was sensed must have the same place, and stream, zone, generation and sequence of the source.
    Pages that shall not be taken for good ones get zeros, which are no identity.

    Latency, if the registers do not let it wait: 6 clocks for each plane.

    Members
    -------
    put : In(1)       `lane_in` is lane `lane` of what comes with the gradients of the next tile: the identity
                      of the page on plane 0, and the `SourceIdentity`
    update : In(1)    the next tile is now the tile
    start : In(1)     it is in the cache registers; `busy` is high from the next clock on until all its
                      identities are written
    void : In(1)      the pages get none; holds while `busy`
    busy : Out(1)
    wrong : Out(planes)   planes whose page was another one; holds from the end of `busy` to the next `start`
    pages : Out(IdentityLanes)
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "put": In(1),
            "lane": In(range(LOADED_LANES)),
            "lane_in": In(_LANE_BITS),
            "update": In(1),
            "start": In(1),
            "void": In(1),
            "busy": Out(1),
            "wrong": Out(config.geometry.planes),
            "pages": Out(IdentityLanes(config)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        pages = self.pages
        layout = data.StructLayout({"target": RECORD_BITS, "source": ZoneIdentity()})
        loaded = Signal(LOADED_LANES * _LANE_BITS, reset_less=True)
        tile = Signal(layout, reset_less=True)
        with m.If(self.put):
            m.d.sync += loaded.word_select(self.lane, _LANE_BITS).eq(self.lane_in)
        with m.If(self.update):
            m.d.sync += tile.eq(loaded)

        target, meant, found = Signal(Record()), Signal(Record()), Signal(Record(), reset_less=True)
        with m.Switch(pages.plane):
            for plane in range(self.config.geometry.planes):
                with m.Case(plane):
                    m.d.comb += target.eq(tile.target ^ Const(_difference(plane), RECORD_BITS))
        m.d.comb += [
            meant.eq(target),
            *(meant[name].eq(tile.source[name]) for name in ZoneIdentity().members),
            meant.version.eq(PageIdentity.VERSION),
            pages.content.eq(
                Mux(self.void | self.wrong.any(), 0, target.as_value().word_select(pages.lane, _LANE_BITS))
            ),
        ]
        compared = [name for name in Record().members if name not in ("updated", "wear", "crc")]
        differs = Cat(found[name] != meant[name] for name in compared).any()

        position = Signal(range(_LANES * self.config.geometry.planes))
        last_lane, last, comes = Signal(), Signal(), Signal()
        m.d.comb += [
            Cat(pages.lane, pages.plane).eq(position),
            last_lane.eq(pages.lane == _LANES - 1),
            last.eq(position == _LANES * self.config.geometry.planes - 1),
        ]

        def next_lane() -> None:
            m.d.sync += position.eq(Mux(last, 0, position + 1))

        m.d.sync += comes.eq(pages.read & pages.read_ready)
        with m.If(comes):
            m.d.sync += found.eq(Cat(found.as_value()[_LANE_BITS:], pages.found))
        with m.FSM(name="identities") as fsm:
            with m.State("NO_TILE"):
                with m.If(self.start):
                    m.d.sync += self.wrong.eq(0)
                    m.next = "READ"

            with m.State("READ"):
                m.d.comb += pages.read.eq(1)
                with m.If(pages.read_ready):
                    with m.If(last_lane):
                        m.next = "TAKE"
                    with m.Else():
                        next_lane()

            with m.State("TAKE"):
                m.next = "COMPARE"

            with m.State("COMPARE"):
                m.d.sync += self.wrong.bit_select(pages.plane, 1).eq(
                    differs | (checksum(found.as_value()) != found.crc)
                )
                next_lane()
                m.next = "READ"
                with m.If(last):
                    m.next = "WRITE"

            with m.State("WRITE"):
                m.d.comb += pages.write.eq(1)
                with m.If(pages.ready):
                    next_lane()
                    with m.If(last):
                        m.next = "NO_TILE"
        m.d.comb += self.busy.eq(~fsm.ongoing("NO_TILE"))
        return m


def _difference(plane: int) -> int:
    """Bits in which the record of a page on this plane differs from that of the same page on plane 0."""
    this, first = (int.from_bytes(identity_record(plane=number), "little") for number in (plane, 0))
    return this ^ first
