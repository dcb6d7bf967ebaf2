"""What became of programmed page sets, page by page, and of updated tiles."""

from amaranth import Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.geometry import bits_for

from ..arbiter import RoundRobin
from ..layouts import BufferPage, PageEvent, SetResult


class Note(data.StructLayout):
    """Whom to tell when a page is programmed."""

    def __init__(self, config: FmsConfig):
        super().__init__({"notify": 1, "tag": config.tag_bits})


class ProgramResults(wiring.Component):
    """Takes the results of page sets from the dies in turn and reports the pages that asked for it.

    Tiles are reported when there is no page set to report.

    Latency: 3 clocks from a result to its first event, one more for each die before it in turn. Throughput:
    one page per clock, and 4 clocks per set; a tile in 3 clocks.

    Members
    -------
    announced : In(1)                      a page got its place
    announced_page : In(BufferPage), note : In(Note)
    results : In(stream(SetResult)).array(dies)
    updated : In(stream(PageEvent)).array(dies)   tiles
    slot : Out                             the set whose pages are reported, or have been with `ended`
    first, last : In                       its planes
    ended : Out(1)                         all its pages are reported
    programmed : Out(stream(PageEvent))
    page_ended : Out(1)                    pulse per page of a set
    failed : Out(1)                        with `ended`: its program has failed
    busy : Out(1)
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        g = config.geometry
        super().__init__({
            "announced": In(1),
            "announced_page": In(BufferPage(config)),
            "note": In(Note(config)),
            "results": In(stream.Signature(SetResult(config))).array(g.dies),
            "updated": In(stream.Signature(PageEvent(config))).array(g.dies),
            "slot": Out(bits_for(config.write_sets)),
            "first": In(g.plane_bits),
            "last": In(g.plane_bits),
            "ended": Out(1),
            "programmed": Out(stream.Signature(PageEvent(config))),
            "page_ended": Out(1),
            "failed": Out(1),
            "busy": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, g = self.config, self.config.geometry

        m.submodules.notes = notes = Memory(shape=Note(config), depth=config.write_sets * g.planes, init=[])
        write, read = notes.write_port(), notes.read_port(domain="comb")
        plane, last, failed = Signal(g.plane_bits), Signal(g.plane_bits), Signal()
        m.submodules.tiles = tiles = RoundRobin(g.dies)
        chosen = Signal(g.dies)  # of the tiles
        event, told = Signal(PageEvent(config)), Signal()  # the latest; it is told, or needs not be
        shown, notify = Signal(), Signal()  # a page is there, and somebody waits for it
        moves = Signal()
        m.d.comb += [
            write.addr.eq(Cat(self.announced_page.plane, self.announced_page.slot)),
            write.data.eq(self.note),
            write.en.eq(self.announced),
            read.addr.eq(Cat(plane, self.slot)),
            self.programmed.payload.eq(event),
            told.eq(~notify | self.programmed.ready),
            self.page_ended.eq(shown & told),
            moves.eq(~shown | told),
            tiles.requests.eq(Cat(tile.valid for tile in self.updated)),
        ]

        turn = Signal(g.die_bits)
        with m.FSM(name="program_results") as fsm:
            with m.State("WAIT"):
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
                with m.If(moves):
                    m.d.sync += [
                        shown.eq(1),
                        notify.eq(read.data.notify),
                        event.tag.eq(read.data.tag),
                        event.failed.eq(failed),
                        plane.eq(plane + 1),
                    ]
                    with m.If(plane == last):
                        m.next = "LAST"

            with m.State("LAST"):
                with m.If(told):
                    m.d.sync += shown.eq(0)
                    m.next = "END"

            with m.State("END"):
                m.d.comb += self.ended.eq(1)
                m.next = "WAIT"

            with m.State("TAKE_TILE"):
                for tile, is_chosen in zip(self.updated, chosen, strict=True):
                    m.d.comb += tile.ready.eq(is_chosen)
                    with m.If(is_chosen):
                        m.d.sync += event.eq(tile.payload)
                m.next = "REPORT_TILE"

            with m.State("REPORT_TILE"):
                with m.If(self.programmed.ready):
                    m.next = "WAIT"
        m.d.comb += [
            self.programmed.valid.eq((shown & notify) | fsm.ongoing("REPORT_TILE")),
            self.failed.eq(self.ended & failed),
            self.busy.eq(~fsm.ongoing("WAIT")),
        ]
        return m
