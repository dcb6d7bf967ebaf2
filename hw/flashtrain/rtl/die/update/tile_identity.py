"""The identities of a tile's pages (`flashtrain.spec.identity`)."""

from amaranth import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.die.registers.pin_lanes import LANE_BYTES
from flashtrain.rtl.identity import RECORD_BITS, Record, checksum
from flashtrain.rtl.layouts import TileSource
from flashtrain.spec import FmsConfig
from flashtrain.spec.identity import PageIdentity, identity_record
from flashtrain.spec.state_format import PLACE_BITS, PLACE_LOW
from flashtrain.spec.update import SourceIdentity

_LANE_BITS = 8 * LANE_BYTES
_LANES = PageIdentity.BYTES // LANE_BYTES

LOADED_LANES = _LANES + SourceIdentity.BYTES // LANE_BYTES
"""Behind page 0 of a tile's gradients."""


class IdentityLanes(wiring.Signature):
    """Access to the identities in the cache registers, behind the data of each page.

    Members
    -------
    plane, lane : Out     plane of the identity, and its lane
    read : Out(1)         requests the lane
    read_ready : In(1)    grants it: the lane is `found` in the next cycle; in any other cycle that is 0
    write : Out(1)        requests to replace the lane by `content`; not with `read`
    ready : In(1)         grants it
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
    """Checks that the pages of a tile are the expected ones, and writes the identity of each new page.

    Both identities are loaded with the tile's gradients. The new identities of a tile differ in `plane` and,
    as a CRC is linear, in the bits of `crc` that depend on it. An identity that was damaged on its way
    therefore stays invalid. A sensed page must have the same channel, die and plane, and stream, zone, page
    and sequence of the source. Pages of a damaged tile get zeros, which are no identity.

    Latency without stalls by the registers: 6 cycles for each plane.

    Members
    -------
    put : In(1)       `lane_in` is lane `lane` of the identities of the next tile: that of the page on plane
                      0, and the `SourceIdentity`
    update : In(1)    the next tile becomes the current one
    start : In(1)     the tile is in the cache registers; `busy` is high from the next cycle until all its
                      identities are written
    void : In(1)      the pages get no identity; holds while `busy`
    busy : Out(1)
    wrong : Out(planes)   planes without the expected page; holds from the end of `busy` to the next `start`
    place : Out       of the current tile, with the device's number of its zone; see `spec.state_format`
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
            "place": Out(PLACE_BITS),
            "pages": Out(IdentityLanes(config)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        pages = self.pages
        layout = data.StructLayout({"target": RECORD_BITS, "source": TileSource()})
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
            *(meant[name].eq(tile.source[name]) for name in TileSource().members),
            meant.version.eq(PageIdentity.VERSION),
            self.place.eq(tile.target[PLACE_LOW : PLACE_LOW + PLACE_BITS]),
            pages.content.eq(
                Mux(self.void | self.wrong.any(), 0, target.as_value().word_select(pages.lane, _LANE_BITS))
            ),
        ]
        free = ("updated", "generation", "wear", "crc")
        compared = [name for name in Record().members if name not in free]
        differs = Cat(found[name] != meant[name] for name in compared).any()

        position = Signal(range(_LANES * self.config.geometry.planes))
        last_lane, last, arrives = Signal(), Signal(), Signal()
        m.d.comb += [
            Cat(pages.lane, pages.plane).eq(position),
            last_lane.eq(pages.lane == _LANES - 1),
            last.eq(position == _LANES * self.config.geometry.planes - 1),
        ]

        def next_lane() -> None:
            m.d.sync += position.eq(Mux(last, 0, position + 1))

        m.d.sync += arrives.eq(pages.read & pages.read_ready)
        with m.If(arrives):
            m.d.sync += found.eq(Cat(found.as_value()[_LANE_BITS:], pages.found))
        with m.FSM(name="identities") as fsm:
            with m.State("IDLE"):
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
                        m.next = "IDLE"
        m.d.comb += self.busy.eq(~fsm.ongoing("IDLE"))
        return m


def _difference(plane: int) -> int:
    """Bits in which the record of a page on this plane differs from that of the same page on plane 0."""
    this, first = (int.from_bytes(identity_record(plane=number), "little") for number in (plane, 0))
    return this ^ first
