"""Puts spare blocks in the place of blocks that fail to erase."""

from amaranth import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import SpareUse
from flashtrain.rtl.zones.erase_broadcast import EraseRequest, EraseResult
from flashtrain.spec import FmsConfig

from .eraser import EraseStep
from .mover import TakenSpare


class _State:
    """Registers of an erase, and facts about it."""

    def __init__(self, config: FmsConfig) -> None:
        g = config.geometry
        self.plane = Signal(g.plane_bits)
        self.spare = Signal(range(g.spare_blocks))
        self.number = Cat(self.plane, self.spare)  # of the spare among all
        self.of_spares = Signal()  # the zone stands for the spares of one number
        self.fresh = Signal()  # the plane got a spare during this erase
        self.taken = Signal()  # pulse: the mover takes a spare


class BlockReplacer(wiring.Component):
    """Erases a zone on a die in as many steps as it takes; the erase fails only when no spare is left.

    The first step erases all planes at once. If that fails, which does not say where, each plane is erased
    alone. A plane whose erase fails gets its first spare that is not in use. The block table is changed, and
    the spare is erased in its place, until an erase passes or all spares are in use. Then the zone's erase
    has failed. A spare that fails stays in use, so that it is tried once.

    A zone past the last one stands for the spares of one number. On each plane in turn the spare is erased
    unless it is in use; if its erase fails it is in use from then on. Such an erase never fails.

    After reset no spare is in use. Spares that recovery restores are accepted between erases.

    The mover takes spares while no step is under way. A requested erase of a spare that it takes is
    withdrawn.

    Latency: 1 cycle from a zone to its first step, 1 from the end of one step to the next or to the answer.
    Each spare that is looked up adds 2 cycles, and each change of the table at least 1. After a reset the
    memory is cleared, one spare per cycle.

    Members
    -------
    erase : In(stream(EraseRequest))   accepted with the answer
    erased : Out(stream(EraseResult))
    step : Out(stream(EraseStep)), stepped : In(stream(EraseResult))   accepted in the same cycle
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
        g = config.geometry
        self._count = g.spare_blocks << g.plane_bits
        self._memory = Memory(shape=1, depth=self._count, init=[])  # whether each spare is in use
        self._read, self._write = self._memory.read_port(), self._memory.write_port()
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
        m.submodules.in_use = self._memory
        s = _State(self.config)
        self._connect(m, s)
        with m.FSM(name="replacer") as fsm:
            self._clear(m, s)
            self._choose_work(m, s)
            self._restore(m)
            self._erase(m, s)
            self._look_up_spare(m, s)
            self._replace(m, s)
            self._answer_request(m)
        m.d.comb += self.busy.eq(~fsm.ongoing("IDLE") | self.erase.valid | self.restored.valid)
        self._take(m, s, fsm)
        return m

    def _connect(self, m: Module, s: _State) -> None:
        read, write = self._read, self._write
        zone = self.erase.payload.zone
        m.d.comb += [
            s.of_spares.eq(zone >= self.config.geometry.zones),
            read.addr.eq(s.number),
            write.addr.eq(s.number),
            write.data.eq(1),
            self.step.payload.zone.eq(zone),
            self.step.payload.plane.eq(s.plane),
            self.change.payload.zone.eq(zone),
            self.change.payload.plane.eq(s.plane),
            self.change.payload.spare.eq(s.spare),
        ]

    def _answer(self, m: Module, *, failed: int) -> None:
        m.d.sync += self.erased.payload.failed.eq(failed)
        m.next = "ANSWER"

    def _next_plane(self, m: Module, s: _State) -> None:
        m.d.sync += [s.plane.eq(s.plane + 1), s.fresh.eq(0)]
        m.next = "ERASE_ONE"
        with m.If(s.of_spares):
            m.next = "LOOKUP"
        with m.If(s.plane == self.config.geometry.planes - 1):
            self._answer(m, failed=0)

    def _clear(self, m: Module, s: _State) -> None:
        with m.State("CLEAR"):
            m.d.comb += [self._write.en.eq(1), self._write.data.eq(0)]
            m.d.sync += s.number.eq(s.number + 1)
            with m.If(s.number == self._count - 1):
                m.next = "IDLE"

    def _choose_work(self, m: Module, s: _State) -> None:
        restored = self.restored.payload
        with m.State("IDLE"):
            m.d.sync += [s.plane.eq(0), s.fresh.eq(0)]
            with m.If(self.restored.valid):
                m.d.sync += [s.plane.eq(restored.plane), s.spare.eq(restored.spare)]
                m.next = "RESTORE"
            with m.Elif(self.erase.valid):
                m.next = "ERASE_ALL"
                with m.If(s.of_spares):
                    m.d.sync += s.spare.eq(self.erase.payload.zone - self.config.geometry.zones)
                    m.next = "LOOKUP"

    def _restore(self, m: Module) -> None:
        with m.State("RESTORE"):
            m.d.comb += [
                self._write.en.eq(1),
                self.change.valid.eq(1),
                self.change.payload.zone.eq(self.restored.payload.zone),
                self.restored.ready.eq(self.change.ready),
            ]
            with m.If(self.change.ready):
                m.next = "IDLE"

    def _erase(self, m: Module, s: _State) -> None:
        """All planes at once, or one."""
        with m.State("ERASE_ALL"):
            m.d.comb += [self.step.valid.eq(1), self.stepped.ready.eq(1)]
            with m.If(self.stepped.valid):
                self._answer(m, failed=0)
                with m.If(self.stepped.payload.failed):
                    m.next = "ERASE_ONE"

        with m.State("ERASE_ONE"):
            m.d.comb += [self.step.valid.eq(1), self.step.payload.alone.eq(1), self.stepped.ready.eq(1)]
            with m.If(self.stepped.valid):
                with m.If(~self.stepped.payload.failed):
                    m.d.comb += self.replaced.eq(s.fresh)
                    self._next_plane(m, s)
                with m.Elif(s.of_spares):
                    m.d.comb += self._write.en.eq(1)
                    self._next_plane(m, s)
                with m.Else():
                    m.d.sync += s.spare.eq(0)
                    m.next = "LOOKUP"
            with m.Elif(s.taken & s.of_spares):
                m.next = "LOOKUP"

    def _look_up_spare(self, m: Module, s: _State) -> None:
        """Whether the spare is in use: then an erase of spares passes over it, and a zone tries the next."""
        with m.State("LOOKUP"), m.If(~s.taken):
            m.next = "JUDGE"

        with m.State("JUDGE"):
            with m.If(s.of_spares & s.taken):
                m.next = "LOOKUP"
            with m.Elif(s.of_spares & ~self._read.data):
                m.next = "ERASE_ONE"
            with m.Elif(s.of_spares):
                self._next_plane(m, s)
            with m.Elif(~self._read.data):
                m.next = "REPLACE"
            with m.Elif(s.spare == self.config.geometry.spare_blocks - 1):
                self._answer(m, failed=1)
            with m.Else():
                m.d.sync += s.spare.eq(s.spare + 1)
                m.next = "LOOKUP"

    def _replace(self, m: Module, s: _State) -> None:
        with m.State("REPLACE"):
            m.d.comb += [self._write.en.eq(1), self.change.valid.eq(1)]
            with m.If(self.change.ready):
                m.d.sync += s.fresh.eq(1)
                m.next = "ERASE_ONE"

    def _answer_request(self, m: Module) -> None:
        with m.State("ANSWER"):
            m.d.comb += [self.erased.valid.eq(1), self.erase.ready.eq(self.erased.ready)]
            with m.If(self.erased.ready):
                m.next = "IDLE"

    def _take(self, m: Module, s: _State, fsm) -> None:
        """Spares for the mover. It owns the die, so that no step is under way."""
        read, write = self._read, self._write
        last = self.config.geometry.spare_blocks - 1
        number, free = Signal(range(last + 1)), Signal()
        without_memory = ("IDLE", "ERASE_ALL", "ERASE_ONE", "ANSWER")
        m.d.comb += [
            free.eq(Cat(fsm.ongoing(state) for state in without_memory).any()),
            s.taken.eq(self.take.valid & self.take.ready),
            self.taken.spare.eq(number),
            self.taken.none.eq(read.data),
        ]
        with m.FSM(name="taker"):
            with m.State("IDLE"):
                m.d.sync += number.eq(0)
                with m.If(self.take.valid):
                    m.next = "LOOKUP"
            with m.State("LOOKUP"), m.If(free):
                m.d.comb += read.addr.eq(Cat(self.take.payload, number))
                m.next = "JUDGE"
            with m.State("JUDGE"):
                with m.If(read.data & (number != last)):
                    m.d.sync += number.eq(number + 1)
                    m.next = "LOOKUP"
                with m.Else():
                    m.d.comb += [
                        self.take.ready.eq(1),
                        write.en.eq(1),
                        write.data.eq(1),
                        write.addr.eq(Cat(self.take.payload, number)),
                    ]
                    m.next = "IDLE"
