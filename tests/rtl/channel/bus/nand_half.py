"""The NAND half of a channel engine as a bench top: agents, bus and block table, with endless work."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect

from flashtrain.rtl.channel.block_table import BlockTable
from flashtrain.rtl.channel.bus.bus_controller import BusActivity, BusController
from flashtrain.rtl.channel.die_agent.die_agent import DieAgent
from flashtrain.rtl.layouts import DieRead, PageSet
from flashtrain.rtl.lib.shared import SharedModule
from flashtrain.rtl.nand_bus import NandBus
from flashtrain.spec import FmsConfig


class InSequence(wiring.Component):
    """Page sets and reads of one die, in the order of appends, as fast as they are taken.

    Page sets go to the lower half of the zones, reads to the upper: nothing is read that is being programmed.

    Members
    -------
    sets : Out(stream(PageSet)), offer_sets : In(1)
    reads : Out(stream(DieRead)), offer_reads : In(1)
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "sets": Out(stream.Signature(PageSet(config))),
            "offer_sets": In(1),
            "reads": Out(stream.Signature(DieRead(config))),
            "offer_reads": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        g = self.config.geometry
        half = g.zones // 2
        page_set, read = self.sets.payload, self.reads.payload
        m.d.comb += page_set.last.eq(g.planes - 1)
        # Offers are held once made: the bench turns them on and never off.
        m.d.comb += [self.sets.valid.eq(self.offer_sets), self.reads.valid.eq(self.offer_reads)]

        def places(page, first: int, step: Value) -> None:
            """Row after row and zone after zone, in half of the zones."""
            zone = Signal(range(half))
            m.d.comb += page.zone.eq(first + zone)
            with m.If(step):
                m.d.sync += page.page.eq(page.page + 1)
                with m.If(page.page == g.pages - 1):
                    m.d.sync += [page.page.eq(0), zone.eq(Mux(zone == half - 1, 0, zone + 1))]

        set_taken = self.sets.valid & self.sets.ready
        read_taken = self.reads.valid & self.reads.ready
        with m.If(set_taken):
            m.d.sync += page_set.slot.eq(page_set.slot + 1)
        with m.If(read_taken):
            m.d.sync += [read.plane.eq(read.plane + 1), read.tag.eq(read.tag + 1)]
        places(page_set, 0, set_taken)
        places(read, half, read_taken & (read.plane == g.planes - 1))
        return m


class NandHalf(wiring.Component):
    """Offers page sets and reads in sequence to every die once `program` and `read` are high.

    Data in come without a gap and data out are taken at once. A die's data come one clock after `re`, all of
    them the byte `answer`.

    Members
    -------
    program, read : In(1)
    answer : In(8)
    nand__... : Out   the pins, with `dqs_i`
    ready : Out(1)    all dies are reset and the block table is initialised
    activity : Out(BusActivity)
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        pins = NandBus(config.geometry.dies).members
        outputs = {
            name: Out(pins[name].shape) for name in ("ce_n", "cle", "ale", "we", "dqs_o", "re", "dq_o")
        }
        super().__init__({
            "program": In(1),
            "read": In(1),
            "answer": In(8),
            "nand": Out(wiring.Signature({**outputs, "dqs_i": Out(1)})),
            "ready": Out(1),
            "activity": Out(BusActivity),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.bus = bus = BusController(self.config)
        m.submodules.table = table = BlockTable(self.config)
        connect(m, bus.lookup, table.lookup)

        agent = DieAgent(self.config)
        agents = []
        for number in range(self.config.geometry.dies):
            die = SharedModule(agent, "die_agent")
            work = InSequence(self.config)
            m.submodules[f"die{number}"] = die
            m.submodules[f"work{number}"] = work
            connect(m, work.sets, die.sets)
            connect(m, work.reads, die.reads)
            connect(m, die.bus, bus.requests[number])
            m.d.comb += [
                work.offer_sets.eq(self.program),
                work.offer_reads.eq(self.read),
                die.backlog.eq(self.read),
                die.results.ready.eq(1),
                die.erased.ready.eq(1),
                die.bus_done.eq(bus.done[number]),
                die.bus_status.eq(bus.status),
            ]
            agents.append(die)

        m.d.sync += self.nand.dqs_i.eq(bus.nand.re)
        for name in ("ce_n", "cle", "ale", "we", "dqs_o", "re", "dq_o"):
            m.d.comb += getattr(self.nand, name).eq(getattr(bus.nand, name))
        pattern = Signal(16)
        m.d.sync += pattern.eq(pattern + 1)
        m.d.comb += [
            bus.nand.dqs_i.eq(self.nand.dqs_i),
            bus.nand.dq_i.eq(self.answer),
            bus.nand.rb_n.eq(-1),
            bus.fetch.ready.eq(1),
            bus.beats.valid.eq(1),
            bus.beats.payload.eq(pattern),
            bus.fill.ready.eq(1),
            self.ready.eq(table.ready & Cat(die.ready for die in agents).all()),
            self.activity.eq(bus.activity),
        ]
        return m
