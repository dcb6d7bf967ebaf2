"""Between the pins, two bytes at a time, and a die's memories, a lane of 8 bytes at a time."""

from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig

LANE_BYTES = 8
_LANE_BEATS = LANE_BYTES // 2


def lane_number(config: FmsConfig):
    """Shape of a position in a page, in lanes."""
    return range(config.geometry.raw_page_bytes // LANE_BYTES + 1)


class PinLanes(wiring.Component):
    """Packs written byte pairs into lanes, unpacks lanes that are read, and counts the position in a page.

    A memory takes a lane in the cycle of `put`. After `ask` it outputs the lane on `lane_out` within two
    cycles, and holds it until the next `ask`.

    Throughput: two bytes per cycle. Latency: 5 cycles from `fetch` to the first two bytes.

    Members
    -------
    seek : In(1)       sets the position of the next transfer to `column`, a multiple of 8
    seek_plane : In(1) and to the plane `new_plane`
    fetch : In(1)      prefetches the first bytes of an output
    beat_in : In(1)    two bytes of an input: `byte_pair_in`
    beat_out : In(1)   `byte_pair_out` was taken
    plane, lane : Out  the position
    put : Out(1)       `lane_in` goes there
    ask : Out(1)       requests the lane there; `lane` is one further from the next cycle on
    """

    def __init__(self, config: FmsConfig):
        plane_bits = max(1, config.geometry.plane_bits)
        super().__init__({
            "seek": In(1),
            "seek_plane": In(1),
            "new_plane": In(plane_bits),
            "column": In(16),
            "fetch": In(1),
            "beat_in": In(1),
            "byte_pair_in": In(16),
            "beat_out": In(1),
            "byte_pair_out": Out(16),
            "plane": Out(plane_bits),
            "lane": Out(lane_number(config)),
            "put": Out(1),
            "lane_in": Out(8 * LANE_BYTES),
            "ask": Out(1),
            "lane_out": In(8 * LANE_BYTES),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        beat = Signal(range(_LANE_BEATS), reset_less=True)
        content = Signal(8 * LANE_BYTES, reset_less=True)
        plane = Signal.like(self.plane, reset_less=True)
        lane = Signal.like(self.lane, reset_less=True)
        # The first lane is fetched during the beats of a lane that is not output, as later lanes are fetched
        # during the beats of the lane before.
        prefetching = Signal()
        advance = Signal()
        lane_end = Signal()
        m.d.comb += [
            advance.eq(self.beat_out | prefetching),
            lane_end.eq(beat == _LANE_BEATS - 1),
            self.ask.eq(advance & (beat == 0)),
            self.put.eq(self.beat_in & lane_end),
            self.lane_in.eq(Cat(content[16:], self.byte_pair_in)),
            self.byte_pair_out.eq(content[:16]),
            self.plane.eq(plane),
            self.lane.eq(lane),
        ]
        with m.If(advance):
            m.d.sync += [beat.eq(beat + 1), content.eq(content >> 16)]
            with m.If(lane_end):
                m.d.sync += [prefetching.eq(0), content.eq(self.lane_out)]
        with m.If(self.beat_in):
            m.d.sync += [beat.eq(beat + 1), content.eq(self.lane_in)]
        with m.If(self.ask | self.put):
            m.d.sync += lane.eq(lane + 1)

        with m.If(self.fetch):
            m.d.sync += [prefetching.eq(1), beat.eq(0)]
        with m.If(self.seek):
            m.d.sync += [lane.eq(self.column // LANE_BYTES), beat.eq(0)]
            with m.If(self.seek_plane):
                m.d.sync += plane.eq(self.new_plane)
        return m
