"""The behaviour of bus and ready poller towards a unit of a die agent, as assumptions of a theorem."""

from amaranth.hdl import Module, Signal

from flashtrain.rtl.channel.die_agent.ready_poller import Work
from flashtrain.spec.nand import DieStatus

from .theorem import Theorem


class BusAndPoller:
    """Assumes that the bus ends each operation once, and that the poller reports ready once for each start.

    The design has the members `bus`, `bus_done`, `bus_status` and `poller` of `Programmer` and `Mover`.

    Members
    -------
    on_bus : a bus operation is under way
    asked : the poller has been started
    last_asked : and that for the last program, whose status is FAIL at ARDY
    fail, failc : bits of the status that was read
    """

    def __init__(self, theorem: Theorem, m: Module) -> None:
        self._theorem, self._m = theorem, m
        design = theorem.design
        bus, poller = design.bus, design.poller
        self._ready = poller.ready
        self.on_bus, self.asked, self.last_asked = Signal(), Signal(), Signal()
        self.fail = (design.bus_status & DieStatus.FAIL.value) != 0
        self.failc = (design.bus_status & DieStatus.FAILC.value) != 0
        theorem.assume(m, ~design.bus_done | self.on_bus)
        theorem.assume(m, ~poller.ready | self.asked)
        with m.If(bus.valid & bus.ready):
            m.d.sync += self.on_bus.eq(1)
        with m.Elif(design.bus_done):
            m.d.sync += self.on_bus.eq(0)
        with m.If(poller.start):
            m.d.sync += [self.asked.eq(1), self.last_asked.eq(poller.work == Work.LAST_PROGRAM)]
        with m.Elif(poller.ready):
            m.d.sync += self.asked.eq(0)

    def tell_truth(self, older, newer) -> None:
        """Of two programs one after the other, FAILC and FAIL say what has become of each.

        `older` has members `owed` (there is one), `fails` and `judged`, and `newer` the last two. `judged` is
        set when the die has reported its result.
        """
        theorem, m = self._theorem, self._m
        with m.If(self._ready & self.last_asked):
            theorem.assume(m, self.fail == newer.fails)
            m.d.sync += newer.judged.eq(1)
        with m.If(self._ready & ~self.last_asked & older.owed):
            theorem.assume(m, self.failc == older.fails)
            m.d.sync += older.judged.eq(1)
