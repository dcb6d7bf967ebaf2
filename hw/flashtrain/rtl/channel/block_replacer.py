"""Puts spare blocks in the place of blocks that fail to erase."""

from amaranth import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig

from ..layouts import SpareUse
from ..zones.erase import EraseRequest, EraseResult
from .eraser import EraseStep
from .mover import TakenSpare


class BlockReplacer(wiring.Component):
    """Erases a zone on a die in as many steps as it takes, so that it is given up only without spares.

    The first step erases all planes at once. If that has failed, which does not say where, each plane is
    erased alone. One that fails gets the first spare of the plane that is not in use, the block table is
    changed, and the spare is erased in its place; so on until an erase has passed or all spares are in use.
    Then the zone's erase has failed. A spare that fails stays in use, so that it is tried once.

    A zone past the last one stands for the spares of one number: on each plane in turn the spare is erased
    unless it is in use; if it fails it is in use from then on. Such an erase never fails.

    After reset no spare is in use. What recovery restores is taken between erases.

    The mover takes spares while no step is under way. If it gets one whose erase has been asked for, that is
    asked for no more.

    Latency: 1 clock from a zone to its first step, 1 from the end of one step to the next or to the answer;
    2 for each spare that is looked at, and until the table takes a change at least 1. A sweep of one clock
    per spare follows a reset.

    Members
    -------
    erase : In(stream(EraseRequest))   accepted with the answer
    erased : Out(stream(EraseResult))
    step : Out(stream(EraseStep)), stepped : In(stream(EraseResult))   accepted in the same clock
    change : Out(stream(SpareUse))     to the block table, which has it before the next step names its block;
                                       `die` means nothing
    restored : In(stream(SpareUse))    in recovery; accepted with its change
    replaced : Out(1)                  pulse: the erase of a spare that has just replaced a block has passed
    take : In(stream(plane)), taken : Out(TakenSpare)   a spare for the mover, valid when that is accepted;
                                       from then on it is in use
    busy : Out(1)
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        result, use = stream.Signature(EraseResult()), stream.Signature(SpareUse(config))
        super().__init__({
            "erase": In(stream.Signature(EraseRequest(config))),
            "erased": Out(result),
            "step": Out(stream.Signature(EraseStep(config))),
            "stepped": In(result),
            "change": Out(use),
            "restored": In(use),
            "replaced": Out(1),
            "take": In(stream.Signature(config.geometry.plane_bits)),
            "taken": Out(TakenSpare(config)),
            "busy": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        g = self.config.geometry
        plane, spare = Signal(g.plane_bits), Signal(range(g.spare_blocks))
        number = Cat(plane, spare)
        count = g.spare_blocks << g.plane_bits
        m.submodules.in_use = in_use = Memory(shape=1, depth=count, init=[])
        read, write = in_use.read_port(), in_use.write_port()
        zone, of_spares = self.erase.payload.zone, Signal()
        fresh = Signal()  # the plane has a spare since this erase
        taken = Signal()  # the mover has taken one
        m.d.comb += [
            of_spares.eq(zone >= g.zones),
            read.addr.eq(number),
            write.addr.eq(number),
            write.data.eq(1),
            self.step.payload.zone.eq(zone),
            self.step.payload.plane.eq(plane),
            self.change.payload.zone.eq(zone),
            self.change.payload.plane.eq(plane),
            self.change.payload.spare.eq(spare),
        ]

        def answer(failed: int) -> None:
            m.d.sync += self.erased.payload.failed.eq(failed)
            m.next = "ANSWER"

        def go_on() -> None:
            """The plane is done."""
            m.d.sync += [plane.eq(plane + 1), fresh.eq(0)]
            m.next = "ERASE_ONE"
            with m.If(of_spares):
                m.next = "LOOK"
            with m.If(plane == g.planes - 1):
                answer(failed=0)

        with m.FSM(name="replacer") as fsm:
            with m.State("SWEEP"):
                m.d.comb += [write.en.eq(1), write.data.eq(0)]
                m.d.sync += number.eq(number + 1)
                with m.If(number == count - 1):
                    m.next = "NOTHING"

            with m.State("NOTHING"):
                m.d.sync += [plane.eq(0), fresh.eq(0)]
                with m.If(self.restored.valid):
                    m.d.sync += [plane.eq(self.restored.payload.plane), spare.eq(self.restored.payload.spare)]
                    m.next = "RESTORE"
                with m.Elif(self.erase.valid):
                    m.next = "ERASE_ALL"
                    with m.If(of_spares):
                        m.d.sync += spare.eq(zone - g.zones)
                        m.next = "LOOK"

            with m.State("RESTORE"):
                m.d.comb += [
                    write.en.eq(1),
                    self.change.valid.eq(1),
                    self.change.payload.zone.eq(self.restored.payload.zone),
                    self.restored.ready.eq(self.change.ready),
                ]
                with m.If(self.change.ready):
                    m.next = "NOTHING"

            with m.State("ERASE_ALL"):
                m.d.comb += [self.step.valid.eq(1), self.stepped.ready.eq(1)]
                with m.If(self.stepped.valid):
                    answer(failed=0)
                    with m.If(self.stepped.payload.failed):
                        m.next = "ERASE_ONE"

            with m.State("ERASE_ONE"):
                m.d.comb += [self.step.valid.eq(1), self.step.payload.alone.eq(1), self.stepped.ready.eq(1)]
                with m.If(self.stepped.valid):
                    with m.If(~self.stepped.payload.failed):
                        m.d.comb += self.replaced.eq(fresh)
                        go_on()
                    with m.Elif(of_spares):
                        m.d.comb += write.en.eq(1)
                        go_on()
                    with m.Else():
                        m.d.sync += spare.eq(0)
                        m.next = "LOOK"
                with m.Elif(taken & of_spares):
                    m.next = "LOOK"

            with m.State("LOOK"), m.If(~taken):
                m.next = "JUDGE"

            with m.State("JUDGE"):
                with m.If(of_spares & taken):
                    m.next = "LOOK"
                with m.Elif(of_spares & ~read.data):
                    m.next = "ERASE_ONE"
                with m.Elif(of_spares):
                    go_on()
                with m.Elif(~read.data):
                    m.next = "REPLACE"
                with m.Elif(spare == g.spare_blocks - 1):
                    answer(failed=1)
                with m.Else():
                    m.d.sync += spare.eq(spare + 1)
                    m.next = "LOOK"

            with m.State("REPLACE"):
                m.d.comb += [write.en.eq(1), self.change.valid.eq(1)]
                with m.If(self.change.ready):
                    m.d.sync += fresh.eq(1)
                    m.next = "ERASE_ONE"

            with m.State("ANSWER"):
                m.d.comb += [self.erased.valid.eq(1), self.erase.ready.eq(self.erased.ready)]
                with m.If(self.erased.ready):
                    m.next = "NOTHING"

        m.d.comb += self.busy.eq(~fsm.ongoing("NOTHING") | self.erase.valid | self.restored.valid)

        # For the mover. It has the die, so that no step is under way.
        wanted, free = Signal(range(g.spare_blocks)), Signal()
        resting = ("NOTHING", "ERASE_ALL", "ERASE_ONE", "ANSWER")
        m.d.comb += [
            free.eq(Cat(fsm.ongoing(state) for state in resting).any()),
            taken.eq(self.take.valid & self.take.ready),
            self.taken.spare.eq(wanted),
            self.taken.none.eq(read.data),
        ]
        with m.FSM(name="taker"):
            with m.State("NOTHING"):
                m.d.sync += wanted.eq(0)
                with m.If(self.take.valid):
                    m.next = "LOOK"
            with m.State("LOOK"), m.If(free):
                m.d.comb += read.addr.eq(Cat(self.take.payload, wanted))
                m.next = "JUDGE"
            with m.State("JUDGE"):
                with m.If(read.data & (wanted != g.spare_blocks - 1)):
                    m.d.sync += wanted.eq(wanted + 1)
                    m.next = "LOOK"
                with m.Else():
                    m.d.comb += [
                        self.take.ready.eq(1),
                        write.en.eq(1),
                        write.data.eq(1),
                        write.addr.eq(Cat(self.take.payload, wanted)),
                    ]
                    m.next = "NOTHING"
        return m
