"""What bus and watch of a die promise to the unit that works with them, as assumptions of a theorem."""

from amaranth.hdl import Module, Signal

from flashtrain.rtl.channel.die_watch import Work
from flashtrain.spec.nand import DieStatus

from .theorem import Theorem


class BusAndWatch:
    """Assumes that the bus ends what it was asked, once, and that the watch is over once for each beginning.

    The design has the members `bus`, `bus_done`, `bus_status` and `watch` of `Programmer` and `Mover`.

    Members
    -------
    on_bus : the bus has been asked
    asked : the watch has been asked
    last_asked : and that for the last program, of which FAIL tells at ARDY
    fail, failc : bits of the status that was read
    """

    def __init__(self, theorem: Theorem, m: Module) -> None:
        self._theorem, self._m = theorem, m
        design = theorem.design
        bus, watch = design.bus, design.watch
        self._over = watch.over
        self.on_bus, self.asked, self.last_asked = Signal(), Signal(), Signal()
        self.fail = (design.bus_status & DieStatus.FAIL.value) != 0
        self.failc = (design.bus_status & DieStatus.FAILC.value) != 0
        theorem.assume(m, ~design.bus_done | self.on_bus)
        theorem.assume(m, ~watch.over | self.asked)
        with m.If(bus.valid & bus.ready):
            m.d.sync += self.on_bus.eq(1)
        with m.Elif(design.bus_done):
            m.d.sync += self.on_bus.eq(0)
        with m.If(watch.begin):
            m.d.sync += [self.asked.eq(1), self.last_asked.eq(watch.work == Work.LAST_PROGRAM)]
        with m.Elif(watch.over):
            m.d.sync += self.asked.eq(0)

    def tell_truth(self, older, newer) -> None:
        """Of two programs one after the other, FAILC and FAIL say what has become of each.

        `older` has members `owed` (there is one), `fails` and `judged`, and `newer` the last two. `judged` is
        set when the die has told.
        """
        theorem, m = self._theorem, self._m
        with m.If(self._over & self.last_asked):
            theorem.assume(m, self.fail == newer.fails)
            m.d.sync += newer.judged.eq(1)
        with m.If(self._over & ~self.last_asked & older.owed):
            theorem.assume(m, self.failc == older.fails)
            m.d.sync += older.judged.eq(1)
