"""Groups a die's reads into page sets that are sensed together."""

from amaranth import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import DieRead
from flashtrain.rtl.lib.timer import HoldTimer
from flashtrain.spec import FmsConfig


class ReadSets(wiring.Component):
    """A queue of reads in sets: consecutive reads of one zone and page number, with ascending planes.

    A read of statistics is a set of its own; so is any, without `chips.multi_plane_read`.

    Reads pass through in order: sensed reads to be output, reads that are being sensed, and the *next* set,
    which grows with each read. The next set is complete when the following read belongs to another set, or
    when no plane or no room is left. It is also complete when no read has come for `gather_cycles`.

    The user takes the next set and steps through it to sense it (`step`, or all at once, `sense_all`). Later
    it removes the reads one by one (`remove`). While it steps, no reads are accepted.

    `read` and `last` are valid from the second cycle on after `take`, `step` or `remove`; `emptied`, after
    `remove` or `mark`.

    Latency: a read can be taken 2 cycles after it is accepted. The comparison with a next one takes one cycle
    of them. Throughput: one read in 4 cycles.

    Members
    -------
    reads : In(stream(DieRead))
    waiting : Out(1)     there is a next set or the beginning of one
    none : Out(1)        there is not, and none has come lately
    complete : Out(1)    the next set may be taken, in this or the following cycle: it does not grow;
                         invalid in the cycle after `take`
    several : Out(1)     it has more than one read
    sequential : Out(1)  it is the page after that of the set before, of the same zone and planes
    take, sense_all : In(1)   take it; with `sense_all` it is also sensed, a cycle later
    step : In(1)         the read at the sense position is sensed
    last : Out(1)        that is the last of the set
    remove : In(1)       the read at the output position is not needed any more
    mark : In(1)         the reads sensed before this cycle are output next
    emptied : Out(1)     no marked read is left
    sensed : Out(1)      something is sensed and not marked
    set_pages : Out      reads that are sensed and not marked; valid from the second cycle after `step` or
                         `sense_all`
    of_statistics : Out(1)   the read to be sensed is one of statistics; valid when `read` would be
    output : In(1)       `read` shows the read to be output, otherwise the one to be sensed
    read : Out(DieRead)
    """

    def __init__(self, config: FmsConfig, gather_cycles: int):
        self.config = config
        self.gather_cycles = gather_cycles
        super().__init__({
            "reads": In(stream.Signature(DieRead(config))),
            "waiting": Out(1),
            "none": Out(1),
            "complete": Out(1),
            "several": Out(1),
            "sequential": Out(1),
            "take": In(1),
            "sense_all": In(1),
            "step": In(1),
            "last": Out(1),
            "remove": In(1),
            "mark": In(1),
            "emptied": Out(1),
            "sensed": Out(1),
            "set_pages": Out(range(config.geometry.planes + 1)),
            "of_statistics": Out(1),
            "output": In(1),
            "read": Out(DieRead(config)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        g = self.config.geometry
        depth = 2 * g.planes

        # Positions count modulo twice the depth: removed <= marked <= sensed <= written.
        written, sensed, marked, removed = (
            Signal(range(2 * depth), name=name) for name in ("written", "sensed", "marked", "removed")
        )
        full = Signal()
        after_sensed = Signal.like(sensed)
        accepts, accepted = Signal(), Signal()  # the pending read; a cycle later it is gone
        m.submodules.store = store = Memory(shape=DieRead(self.config), depth=depth, init=[])
        write = store.write_port()
        to_output, to_sense = store.read_port(), store.read_port()
        m.d.comb += [
            after_sensed.eq(sensed + 1),
            accepted.eq(self.reads.valid & accepts),
            write.addr.eq(written),
            write.data.eq(self.reads.payload),
            write.en.eq(accepted),
            to_output.addr.eq(removed),
            to_sense.addr.eq(sensed),
            self.read.eq(Mux(self.output, to_output.data, to_sense.data)),
            self.sensed.eq(marked != sensed),
            self.set_pages.eq(sensed - marked),
            self.of_statistics.eq(to_sense.data.statistics),
        ]

        head = self.reads.payload
        zone, page, plane = (
            Signal.like(head[name], name=name) for name in ("zone", "page", "plane")
        )  # newest
        following = Signal(len(page) + 1)  # the page behind it
        statistics, same_kind = Signal(), Signal()
        planes = Signal(g.planes)  # of the next set; of the set taken last, while there is none
        planes_before = Signal(g.planes)
        next_page = Signal()
        compared = Signal()  # the pending read with the newest one, and found
        extends, page_after = Signal(), Signal()  # it is of the same page, a higher plane; of the next page
        same_zone, same_page, follows, above = Signal(), Signal(), Signal(), Signal()
        unsensed = Signal()
        stepping = Signal()
        m.submodules.gathering = gathering = HoldTimer(self.gather_cycles)  # a further read may come
        gathered = Signal()
        m.d.comb += [
            gathering.held.eq(accepted),
            gathered.eq(~gathering.running),
            same_kind.eq(~head.statistics & ~statistics),
            stepping.eq(~self.waiting & unsensed),
            self.none.eq(~self.waiting & ~self.reads.valid & gathered),
        ]
        complete_before = Signal()  # the next set was complete a cycle ago, and may still be taken
        # A read that is accepted in the next cycle prevents a complete set in it, and the reverse.
        m.d.sync += [
            self.reads.ready.eq(accepted),
            accepts.eq(
                self.reads.valid
                & compared
                & ~full
                & ~stepping
                & (~self.waiting | extends)
                & ~self.complete
                & ~complete_before
                & ~accepted
            ),
            complete_before.eq(self.complete),
            self.complete.eq(
                self.waiting
                & ~accepted
                & (
                    full
                    | statistics
                    | (not self.config.chips.multi_plane_read)
                    | (plane == g.planes - 1)
                    | Mux(self.reads.valid, compared & ~extends, gathered)
                )
            ),
            self.sequential.eq(next_page & (planes == planes_before)),
            compared.eq(self.reads.valid & ~accepted & ~self.reads.ready),
            same_zone.eq(head.zone == zone),
            same_page.eq(head.page == page),
            follows.eq(head.page == following),
            above.eq(same_kind & (head.plane > plane) & self.config.chips.multi_plane_read),
            full.eq((written ^ removed) == depth),
            unsensed.eq(sensed != written),
            self.emptied.eq(removed == marked),
        ]
        m.d.comb += [extends.eq(same_zone & same_page & above), page_after.eq(same_zone & follows)]
        with m.If(accepted):
            m.d.sync += [
                written.eq(written + 1),
                zone.eq(head.zone),
                page.eq(head.page),
                following.eq(head.page + 1),
                plane.eq(head.plane),
                statistics.eq(head.statistics),
                self.waiting.eq(1),
                self.several.eq(self.waiting),
                planes.eq(Mux(self.waiting, planes, 0) | (1 << head.plane)),
            ]
            with m.If(~self.waiting):
                m.d.sync += [
                    next_page.eq(same_kind & page_after),
                    planes_before.eq(planes),
                ]

        m.d.sync += self.last.eq(after_sensed == written)
        with m.If(self.take):
            m.d.sync += self.waiting.eq(0)
        sense_all = Signal()  # a cycle late: the set does not grow before it is sensed
        m.d.sync += sense_all.eq(self.sense_all)
        with m.If(sense_all):
            m.d.sync += sensed.eq(written)
        with m.If(self.step):
            m.d.sync += sensed.eq(after_sensed)
        with m.If(self.mark):
            m.d.sync += marked.eq(sensed)
        with m.If(self.remove):
            m.d.sync += removed.eq(removed + 1)
        return m
