"""Results of page sets, page by page, and of updated tiles."""

from amaranth import Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import BufferPage, PageEvent, SetResult
from flashtrain.rtl.lib.streams import RoundRobin
from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for


class PageNote(data.StructLayout):
    """The command of a page: its tag, and whether the page's program is an event of it."""

    def __init__(self, config: FmsConfig):
        super().__init__({"notify": 1, "tag": config.tag_bits})


class ProgramResults(wiring.Component):
    """Takes the results of page sets from the dies in turn, and reports the pages with `notify`.

    Tiles are reported while no page set is.

    Latency: 3 cycles from a result to its first event, one more for each die before it in turn. Throughput:
    one page per cycle, and 4 cycles per set; a tile in 3 cycles.

    Members
    -------
    allocated : In(1)                      a page is accepted
    allocated_page : In(BufferPage), note : In(PageNote)
    results : In(stream(SetResult)).array(dies)
    updated : In(stream(PageEvent)).array(dies)   tiles
    slot : Out                             the set whose pages are reported, also with `ended`
    first, last : In                       its planes
    ended : Out(1)                         pulse: all its pages are reported
    programmed : Out(stream(PageEvent))
    busy : Out(1)
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        g = config.geometry
        super().__init__({
            "allocated": In(1),
            "allocated_page": In(BufferPage(config)),
            "note": In(PageNote(config)),
            "results": In(stream.Signature(SetResult(config))).array(g.dies),
            "updated": In(stream.Signature(PageEvent(config))).array(g.dies),
            "slot": Out(bits_for(config.write_sets)),
            "first": In(g.plane_bits),
            "last": In(g.plane_bits),
            "ended": Out(1),
            "programmed": Out(stream.Signature(PageEvent(config))),
            "busy": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, g = self.config, self.config.geometry

        m.submodules.notes = notes = Memory(
            shape=PageNote(config), depth=config.write_sets * g.planes, init=[]
        )
        write, read = notes.write_port(), notes.read_port(domain="comb")
        plane, last, failed = Signal(g.plane_bits), Signal(g.plane_bits), Signal()
        m.submodules.tiles = tiles = RoundRobin(g.dies)
        chosen = Signal(g.dies)  # of the tiles
        event, reported = Signal(PageEvent(config)), Signal()  # the latest; it is accepted, or not needed
        pending, notify = Signal(), Signal()  # `event` is that of a page, and it is to be reported
        advance = Signal()
        m.d.comb += [
            write.addr.eq(Cat(self.allocated_page.plane, self.allocated_page.slot)),
            write.data.eq(self.note),
            write.en.eq(self.allocated),
            read.addr.eq(Cat(plane, self.slot)),
            self.programmed.payload.eq(event),
            reported.eq(~notify | self.programmed.ready),
            advance.eq(~pending | reported),
            tiles.requests.eq(Cat(tile.valid for tile in self.updated)),
        ]

        turn = Signal(g.die_bits)
        with m.FSM(name="program_results") as fsm:
            with m.State("IDLE"):
                with m.If(Cat(result.valid for result in self.results).any()):
                    m.d.sync += turn.eq(turn + 1)
                with m.Elif(tiles.requests.any()):
                    m.d.comb += tiles.advance.eq(1)
                    m.d.sync += chosen.eq(tiles.chosen)
                    m.next = "TAKE_TILE"
                for die, result in enumerate(self.results):
                    with m.If(turn == die):
                        m.d.comb += result.ready.eq(1)
                        m.d.sync += [self.slot.eq(result.payload.slot), failed.eq(result.payload.failed)]
                        with m.If(result.valid):
                            m.next = "BEGIN"

            with m.State("BEGIN"):
                m.d.sync += [plane.eq(self.first), last.eq(self.last)]
                m.next = "REPORT"

            with m.State("REPORT"):
                with m.If(advance):
                    m.d.sync += [
                        pending.eq(1),
                        notify.eq(read.data.notify),
                        event.tag.eq(read.data.tag),
                        event.failed.eq(failed),
                        plane.eq(plane + 1),
                    ]
                    with m.If(plane == last):
                        m.next = "LAST"

            with m.State("LAST"):
                with m.If(reported):
                    m.d.sync += pending.eq(0)
                    m.next = "END"

            with m.State("END"):
                m.d.comb += self.ended.eq(1)
                m.next = "IDLE"

            with m.State("TAKE_TILE"):
                for tile, is_chosen in zip(self.updated, chosen, strict=True):
                    m.d.comb += tile.ready.eq(is_chosen)
                    with m.If(is_chosen):
                        m.d.sync += event.eq(tile.payload)
                m.next = "REPORT_TILE"

            with m.State("REPORT_TILE"):
                with m.If(self.programmed.ready):
                    m.next = "IDLE"
        m.d.comb += [
            self.programmed.valid.eq((pending & notify) | fsm.ongoing("REPORT_TILE")),
            self.busy.eq(~fsm.ongoing("IDLE")),
        ]
        return m
