"""The identities of a tile's pages (`flashtrain.spec.identity`)."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.identity import PageIdentity, identity_record

from .pin_lanes import LANE_BYTES

_LANE_BITS = 8 * LANE_BYTES
_LANES = PageIdentity.BYTES // LANE_BYTES


class IdentityLanes(wiring.Signature):
    """To the identities in the cache registers, behind the data of each page.

    Members
    -------
    write : Out(1)    `content` shall replace lane `lane` of the identity on `plane`
    ready : In(1)     it does
    """

    def __init__(self, config: FmsConfig):
        super().__init__({
            "write": Out(1),
            "ready": In(1),
            "plane": Out(max(1, config.geometry.plane_bits)),
            "lane": Out(range(_LANES)),
            "content": Out(_LANE_BITS),
        })  # fmt: skip


class TileIdentity(wiring.Component):
    """Keeps the identity that comes with a tile's gradients, and gives each of the tile's pages its own.

    Identities of a tile differ in `plane` and, as a CRC is linear, in the bits of `crc` that go with it. So
    one that was damaged on its way does not become valid here. Pages that shall not be taken for good ones
    get zeros, which are no identity.

    Throughput: a lane per clock, two for each plane.

    Members
    -------
    put : In(1)       `lane_in` is lane `lane` of the identity of the page on plane 0, of the next tile
    update : In(1)    the next tile is now the tile
    start : In(1)     write its identities; `busy` is high from the next clock on until all are written
    void : In(1)      the pages get none; holds while `busy`
    abort : In(1)     end at once
    busy : Out(1)
    pages : Out(IdentityLanes)
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "put": In(1),
            "lane": In(range(_LANES)),
            "lane_in": In(_LANE_BITS),
            "update": In(1),
            "start": In(1),
            "void": In(1),
            "abort": In(1),
            "busy": Out(1),
            "pages": Out(IdentityLanes(config)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        planes = self.config.geometry.planes
        loaded = Signal(_LANES * _LANE_BITS, reset_less=True)
        record = Signal.like(loaded)
        with m.If(self.put):
            m.d.sync += loaded.word_select(self.lane, _LANE_BITS).eq(self.lane_in)
        with m.If(self.update):
            m.d.sync += record.eq(loaded)

        of_plane = Signal.like(record)
        with m.Switch(self.pages.plane):
            for plane in range(planes):
                with m.Case(plane):
                    m.d.comb += of_plane.eq(record ^ Const(_difference(plane), record.shape()))
        position = Signal(range(_LANES * planes))
        m.d.comb += [
            Cat(self.pages.lane, self.pages.plane).eq(position),
            self.pages.write.eq(self.busy),
            self.pages.content.eq(Mux(self.void, 0, of_plane.word_select(self.pages.lane, _LANE_BITS))),
        ]
        with m.If(self.pages.write & self.pages.ready):
            m.d.sync += position.eq(position + 1)
            with m.If(position == _LANES * planes - 1):
                m.d.sync += self.busy.eq(0)
        with m.If(self.start):
            m.d.sync += [self.busy.eq(1), position.eq(0)]
        with m.If(self.abort):
            m.d.sync += self.busy.eq(0)
        return m


def _difference(plane: int) -> int:
    """Bits in which the record of a page on this plane differs from that of the same page on plane 0."""
    this, first = (int.from_bytes(identity_record(plane=number), "little") for number in (plane, 0))
    return this ^ first
