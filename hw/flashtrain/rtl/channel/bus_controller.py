"""The NAND bus of a channel: one bus operation at a time, in cycles with ONFI's timing."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import enum, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import FEATURE_PARAMETERS, BusOp, DieStatus
from flashtrain.spec.registers import ChannelCounter

from ..layouts import BufferPage, BusRequest, FillTarget, PageSource, PageTarget
from ..nand_bus import NandBus
from .block_table import BlockLookup
from .bus_arbiter import BusArbiter
from .bus_rest import BusRest
from .bus_speller import After, BusSpeller, Step

ANSWER_CLOCKS = 64
"""From a die's being asked for a status to its answer, at most: four times tDQSRE of ONFI 5.1."""

_TAKES_PAGE, _TAKES_NAMED_PAGE = "0110--", "01100-"
"""What the upper bits of an operation tell of it (`BusOp`)."""

_READY = DieStatus.RDY | DieStatus.ARDY | DieStatus.BESIDE
_FAILED = (_READY | DieStatus.FAIL | DieStatus.FAILC).value
"""What the status of a die that is offline is said to be."""


class BusActivity(enum.Enum, shape=3):
    """What the bus does in a clock. The values are those of the `ChannelCounter`s that count it."""

    IDLE = ChannelCounter.BUS_IDLE.value
    COMMAND = ChannelCounter.BUS_COMMAND.value
    DATA_IN = ChannelCounter.BUS_DATA_IN.value
    DATA_OUT = ChannelCounter.BUS_DATA_OUT.value
    WAIT = ChannelCounter.BUS_WAIT.value


class BusController(wiring.Component):
    """Performs the dies' bus operations, each whole, and owns every timing of the bus.

    A command or address cycle lasts tWC; `we` strobes in its last clock. Data in begin tADL after the
    address, or after the command if there is none; those of a page that was named before begin at once. A
    status byte is asked for tWHR after the last cycle.
    A page has its identity behind it, in both directions, and parity if there is a code; one of gradients or
    constants instead of parity the identity of the source.
    Parameters of a feature begin tADL after its address.
    After data out the bus rests (`BusRest`).
    The waits that leave the bus free (tCCS, tDBSY, tWB, ...) are the agents'.

    A die that is offline is left alone, and its agent finds that all it asks for is done and has failed: a
    status says ready and failed, pages go nowhere, and those that come are zeros, without an identity. If a
    die does not answer, a status says busy and the rest of a page is zeros.

    Latency: 3 clocks from a request to its first cycle, 2 between operations that wait; one more to the pins
    and one from them. For a die that is offline an operation takes 2 clocks, and a page as long as any.
    Throughput: two bytes per clock within a page.

    Members
    -------
    requests : In(stream(BusRequest)).array(dies)
    done : Out(1).array(dies)   the die's operation is over
    status : Out(8)     the byte that a STATUS operation has read, valid with its `done`
    lookup : Out(BlockLookup)
    fetch : Out(stream(BufferPage))   a page of data in, asked for when the operation begins
    beats : In(stream(16))   a fetched page and what is behind it; DQS pauses when there is none
    home_of : Out(BufferPage), home : In(PageTarget)   where a page of the write buffer came from
    fill : Out(stream(FillTarget))   sent before the page of DATA_OUT, granted if it was ready
    fill_valid, fill_data : Out(1), Out(16)   bus_page_bytes / 2 beats for each fill
    offline : In(dies)
    nand : Out(NandBus)
    activity : Out(BusActivity)   BUS_WAIT also while a die with a request rests
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        dies = config.geometry.dies
        super().__init__({
            "requests": In(stream.Signature(BusRequest(config))).array(dies),
            "done": Out(1).array(dies),
            "status": Out(8),
            "lookup": Out(BlockLookup(config)),
            "fetch": Out(stream.Signature(BufferPage(config))),
            "beats": In(stream.Signature(16)),
            "home_of": Out(BufferPage(config)),
            "home": In(PageTarget(config)),
            "fill": Out(stream.Signature(FillTarget(config))),
            "fill_valid": Out(1),
            "fill_data": Out(16),
            "offline": In(dies),
            "nand": Out(NandBus(dies)),
            "activity": Out(BusActivity),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        timing, dies = self.config.timing, self.config.geometry.dies
        twc, tadl, twhr = (timing.clocks(name) for name in ("twc", "tadl", "twhr"))
        page_clocks = self.config.bus_page_bytes // 2
        loaded_clocks = self.config.loaded_page_bytes // 2

        m.submodules.arbiter = arbiter = BusArbiter(dies)
        m.submodules.rest = rest = BusRest(timing, dies, sent_clocks=2, grant_clocks=4)
        m.submodules.speller = speller = BusSpeller(
            copyback=self.config.geometry.spare_blocks > 0, features=self.config.read_levels > 0
        )
        die = Signal.like(arbiter.die)
        request = Signal(BusRequest(self.config))
        step = Signal(Step)
        longest = max(page_clocks, loaded_clocks, twc, tadl, twhr)
        left = Signal(range(longest))  # clocks or beats until the state ends
        ended = Signal()  # none
        over = Signal()
        dqs_i, dq_i = Signal(), Signal(16)  # the pins, after their registers
        offline = Signal()  # the die is
        owed, owes = Signal(range(page_clocks + 1)), Signal()  # beats of the page that is filled
        invented = Signal()  # they do not come from the die
        m.d.sync += [dqs_i.eq(self.nand.dqs_i), dq_i.eq(self.nand.dq_i)]
        m.d.comb += [
            arbiter.valid.eq(Cat(item.valid for item in self.requests)),
            arbiter.resting.eq(rest.resting),
            rest.die.eq(die),
            speller.op.eq(request.op),
            speller.step.eq(step),
            speller.row.eq(Cat(request.row, request.plane, self.lookup.block)),  # Geometry.row_address
            self.lookup.place.zone.eq(request.zone),
            self.lookup.place.die.eq(die),
            self.lookup.place.plane.eq(request.plane),
            self.fetch.payload.slot.eq(request.slot),
            self.fetch.payload.plane.eq(request.plane),
            self.home_of.eq(self.fetch.payload),
            self.fill.payload.tag.eq(Mux(request.home, self.home.tag, request.tag)),
            self.fill.payload.page.eq(Mux(request.home, self.home.page, request.page)),
            self.fill.payload.from_array.eq(request.from_array),
            self.fill_data.eq(Mux(invented, 0, dq_i)),
        ]
        source = self.fill.payload.source
        for name in PageSource(self.config).members:
            m.d.comb += source[name].eq(die if name == "die" else request[name])
        with m.If(self.fill_valid):
            m.d.sync += [owed.eq(owed - 1), owes.eq(owed != 1)]
        # Of each request: it is known before the bus is granted.
        takes, takes_named = (Signal(dies, name=name) for name in ("takes", "takes_named"))
        for number, item in enumerate(self.requests):
            m.d.sync += [
                takes[number].eq(item.payload.op.matches(_TAKES_PAGE)),
                takes_named[number].eq(item.payload.op.matches(_TAKES_NAMED_PAGE)),
            ]
            m.d.comb += [
                arbiter.kinds[number].eq(item.payload.kind),
                self.done[number].eq(over & (die == number)),
            ]
        # These are asked at a cycle's end, and known from its second clock on.
        after, next_step = Signal(After), Signal(Step)
        m.d.sync += [after.eq(speller.after), next_step.eq(speller.next_step)]
        with m.If(self.fetch.ready):
            m.d.sync += self.fetch.valid.eq(0)

        m.d.sync += arbiter.room.eq(self.fill.ready)  # who is granted too early waits with the bus

        # The pins, before their registers.
        selected, cle, ale, we, dqs, re = (
            Signal(name=name) for name in ("selected", "cle", "ale", "we", "dqs", "re")
        )
        dq = Signal(16)
        m.d.comb += dq.eq(self.beats.payload)  # looked at in DATA_IN only
        m.d.sync += [
            self.nand.ce_n.eq(Cat(~(selected & (die == number)) for number in range(dies))),
            self.nand.cle.eq(cle),
            self.nand.ale.eq(ale),
            self.nand.we.eq(we),
            self.nand.dqs_o.eq(dqs),
            self.nand.re.eq(re),
            self.nand.dq_o.eq(dq),
        ]

        def stay(clocks: int, state: str) -> None:
            """Go to `state`, which ends after so many clocks or beats."""
            m.d.sync += [left.eq(max(clocks, 1) - 1), ended.eq(clocks <= 1)]
            m.next = state

        def count() -> None:
            m.d.sync += [left.eq(left - 1), ended.eq(left == 1)]

        def spell(new_step) -> None:
            m.d.sync += step.eq(new_step)
            stay(twc, "CYCLE")

        def finish() -> None:
            m.d.comb += over.eq(1)
            m.next = "CHOOSE"

        with m.FSM(name="bus"):
            with m.State("CHOOSE"):
                m.d.comb += arbiter.granted.eq(arbiter.grant)
                m.d.sync += die.eq(arbiter.die)
                with m.If(arbiter.grant):
                    m.next = "LOAD"
                with m.Elif((arbiter.valid & rest.resting).any()):
                    m.d.comb += self.activity.eq(BusActivity.WAIT)

            with m.State("LOAD"):
                m.d.comb += self.activity.eq(BusActivity.COMMAND)
                spell(Step.FIRST)
                with m.Switch(die):
                    for number, item in enumerate(self.requests):
                        with m.Case(number):
                            m.d.comb += item.ready.eq(1)
                            m.d.sync += [request.eq(item.payload), offline.eq(self.offline[number])]
                            with m.If(item.payload.kind.gives_page):
                                m.next = "ANNOUNCE"
                            with m.Elif(self.offline[number]):
                                m.d.sync += self.status.eq(_FAILED)
                                m.next = "PRETEND"
                            with m.Elif(takes_named[number]):
                                stay(page_clocks, "DATA_IN")
                            with m.If(takes[number] & ~self.offline[number]):
                                m.d.sync += self.fetch.valid.eq(1)

            with m.State("PRETEND"):
                finish()

            with m.State("CYCLE"):
                m.d.comb += [
                    self.activity.eq(BusActivity.COMMAND),
                    selected.eq(1),
                    cle.eq(~speller.address),
                    ale.eq(speller.address),
                    we.eq(ended),
                    dq.eq(speller.byte),
                ]
                count()
                with m.If(ended):
                    with m.Switch(after):
                        with m.Case(After.CYCLE):
                            spell(next_step)
                        with m.Case(After.DATA_IN):
                            stay(tadl - 1, "ADDRESS_TO_DATA")
                        with m.Case(After.STATUS):
                            stay(twhr - 1, "COMMAND_TO_STATUS")
                        with m.Case(After.END):
                            finish()

            with m.State("ADDRESS_TO_DATA"):
                m.d.comb += [self.activity.eq(BusActivity.WAIT), selected.eq(1)]
                count()
                with m.If(ended):
                    stay(loaded_clocks, "DATA_IN")
                    if self.config.read_levels:
                        with m.If(request.op == BusOp.SET_READ_LEVEL):
                            stay(FEATURE_PARAMETERS, "PARAMETERS")

            # Each of them at both edges of DQS; the first is the level.
            if self.config.read_levels:
                with m.State("PARAMETERS"):
                    m.d.comb += [self.activity.eq(BusActivity.COMMAND), selected.eq(1), dqs.eq(1), dq.eq(0)]
                    with m.If(left == FEATURE_PARAMETERS - 1):
                        m.d.comb += [dq[:8].eq(request.level), dq[8:].eq(request.level)]
                    count()
                    with m.If(ended):
                        finish()

            with m.State("DATA_IN"):
                m.d.comb += [
                    self.activity.eq(BusActivity.WAIT),
                    selected.eq(1),
                    dqs.eq(self.beats.valid),
                    self.beats.ready.eq(1),
                ]
                with m.If(self.beats.valid):
                    m.d.comb += self.activity.eq(BusActivity.DATA_IN)
                    count()
                    with m.If(ended):
                        spell(Step.THIRD)

            with m.State("COMMAND_TO_STATUS"):
                m.d.comb += [self.activity.eq(BusActivity.WAIT), selected.eq(1)]
                count()
                with m.If(ended):
                    m.next = "STATUS"

            with m.State("STATUS"):
                m.d.comb += [self.activity.eq(BusActivity.WAIT), selected.eq(1), re.eq(1)]
                stay(ANSWER_CLOCKS, "STATUS_BYTE")

            with m.State("STATUS_BYTE"):
                m.d.comb += [self.activity.eq(BusActivity.WAIT), selected.eq(1)]
                m.d.sync += self.status.eq(dq_i)
                count()
                with m.If(dqs_i):
                    m.next = "DRAIN"
                with m.Elif(ended):
                    m.d.sync += self.status.eq(0)
                    m.next = "DRAIN"

            with m.State("ANNOUNCE"):
                m.d.comb += [self.activity.eq(BusActivity.WAIT), selected.eq(~offline), self.fill.valid.eq(1)]
                m.d.sync += [owed.eq(page_clocks), owes.eq(1)]
                stay(page_clocks, "DATA_OUT")
                with m.If(~self.fill.ready):
                    m.next = "ANNOUNCE"
                with m.Elif(offline):
                    m.next = "FILL_UP"

            with m.State("DATA_OUT"):
                m.d.comb += [
                    self.activity.eq(BusActivity.DATA_OUT),
                    selected.eq(1),
                    re.eq(1),
                    self.fill_valid.eq(dqs_i),
                ]
                count()
                with m.If(ended):
                    m.next = "DRAIN"

            # The die answers `re` some clocks later and without a gap: the end of DQS is the end of the data.
            with m.State("DRAIN"):
                m.d.comb += [self.activity.eq(BusActivity.WAIT), selected.eq(1)]
                m.d.comb += self.fill_valid.eq(dqs_i)
                with m.If(~dqs_i & owes):
                    m.next = "FILL_UP"
                with m.Elif(~dqs_i):
                    m.d.comb += [rest.sent.eq(1), over.eq(1)]
                    m.next = "SENT"

            # The arbiter hears of the rest.
            with m.State("SENT"):
                m.d.comb += self.activity.eq(BusActivity.WAIT)
                m.next = "CHOOSE"

            with m.State("FILL_UP"):
                m.d.comb += [self.activity.eq(BusActivity.WAIT), invented.eq(1), self.fill_valid.eq(owes)]
                with m.If(~owes):
                    finish()
        return m
