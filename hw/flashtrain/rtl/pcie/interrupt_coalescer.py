"""Interrupts that wait for more completions (NVM Express Base 2.0, sections 5.27.1.6 and 5.27.1.7)."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.memories import NEVER_COLLIDES
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.pcie import MailboxAggregation, MailboxVector

from .layouts import QUEUE_BITS, AggregationSetting, bits_of


class InterruptCoalescer(wiring.Component):
    """Lets a vector fire for several completions, or when the first of them has waited for long enough.

    With threshold T and time t, completions of a vector wait until there are T + 1, and at most t units of
    `unit_cycles`. If T or t is 0, none waits. The time is one for all vectors. It begins with the first
    completion that waits while it does not run, and at its end all fire that have any. So none waits for
    longer, and some for less. Vector 0, that of the admin queue, and those that are set so do not wait.

    A setting lets all fire that wait. While not enabled all settings are 0, and what waits is dropped.

    Latency: none while T or t is 0, else 2 cycles; behind the end of the time, or a setting, at most
    `vectors` + 2, and 2 for each interrupt meanwhile.

    Members
    -------
    enable : In(1)
    settings : In(stream(AggregationSetting))   always ready; the vector exists
    interrupts : In(stream(vector))   of each completion; always ready, at most one in 2 cycles
    fire : Out(stream(vector))        always ready
    """

    def __init__(self, vectors: int, unit_cycles: int):
        self.vectors, self.unit_cycles = vectors, unit_cycles
        super().__init__({
            "enable": In(1),
            "settings": In(stream.Signature(AggregationSetting(), always_ready=True)),
            "interrupts": In(stream.Signature(QUEUE_BITS, always_ready=True)),
            "fire": Out(stream.Signature(QUEUE_BITS, always_ready=True)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        threshold, units = (
            Signal(MailboxAggregation.threshold.width, name=name) for name in ("more", "units")
        )
        alone, held = Signal(self.vectors), Signal(self.vectors)
        active, through = Signal(), Signal(init=1)
        setting, value = self.settings, self.settings.payload.value
        m.d.sync += active.eq((threshold != 0) & (units != 0))
        with m.If(setting.valid & ~setting.payload.of_vector):
            m.d.sync += threshold.eq(bits_of(value, MailboxAggregation.threshold))
            m.d.sync += units.eq(bits_of(value, MailboxAggregation.time))
        for vector in range(self.vectors):
            with m.If(setting.valid & setting.payload.of_vector & (value[:QUEUE_BITS] == vector)):
                m.d.sync += alone[vector].eq(bits_of(value, MailboxVector.alone))

        # How many completions wait for each vector; of one that is not held the number has no meaning.
        memory = Memory(shape=len(threshold), depth=self.vectors, init=[], attrs=NEVER_COLLIDES)
        m.submodules.counts = memory
        writer, reader = memory.write_port(), memory.read_port()
        found, of_others, counted, full = Signal(), Signal(), Signal(), Signal()
        number, number_found = self.interrupts.payload, Signal(QUEUE_BITS)
        count, waits = Signal.like(threshold), Signal()
        m.d.comb += [
            reader.addr.eq(number),
            count.eq(Mux(counted, reader.data, 0)),
            full.eq(~active | of_others | (count >= threshold)),
            waits.eq(found & ~full),
            writer.addr.eq(number_found),
            writer.data.eq(count + 1),
            writer.en.eq(waits),
        ]
        m.d.sync += [
            found.eq(self.interrupts.valid & ~through),
            number_found.eq(number),
            counted.eq(held.bit_select(number, 1)),
            of_others.eq(alone.bit_select(number, 1) | (number == 0)),
        ]

        # All that wait fire, one in a cycle. An interrupt that has come is before them. The round goes on
        # where it is, lest times that end soon after each other keep it from the last vectors.
        ends, flushes, place = Signal(), Signal(), Signal(range(self.vectors))
        steps, fires, left = Signal(), Signal(), Signal(range(self.vectors))
        m.d.comb += [
            steps.eq(flushes & ~self.interrupts.valid & ~found),
            fires.eq(steps & held.bit_select(place, 1)),
        ]
        with m.If(steps):
            m.d.sync += place.eq(Mux(place == self.vectors - 1, 0, place + 1))
            m.d.sync += [left.eq(left - 1), flushes.eq(left != 0)]
        with m.If(ends | setting.valid):
            m.d.sync += [left.eq(self.vectors - 1), flushes.eq(1)]
        for vector in range(self.vectors):
            mine = number_found == vector
            ended = found & full & mine | fires & (place == vector)
            m.d.sync += held[vector].eq(waits & mine | held[vector] & ~ended)

        self._time(m, waits, units, ends)
        due, due_number = Signal(), Signal(QUEUE_BITS)
        m.d.sync += [
            due.eq(found & full | fires),
            due_number.eq(Mux(found, number_found, place)),
            # Nothing is on the longer way when interrupts take the shorter one.
            through.eq(~active & ~flushes & (through | ~found & ~self.interrupts.valid)),
        ]
        m.d.comb += [
            self.fire.valid.eq(due | through & self.interrupts.valid),
            self.fire.payload.eq(Mux(due, due_number, number)),
        ]
        with m.If(~self.enable):
            m.d.sync += Cat(threshold, units, alone, held, flushes).eq(0)
        return m

    def _time(self, m: Module, begins, units, ends):
        """Pulse `ends` so many units after `begins`, unless the time runs already."""
        runs, left, cycles = Signal(), Signal.like(units), Signal(bits_for(self.unit_cycles))
        last = cycles == 0
        m.d.comb += ends.eq(runs & last & (left == 0))
        with m.If(~runs):
            m.d.sync += [runs.eq(begins), left.eq(units - 1), cycles.eq(self.unit_cycles - 1)]
        with m.Else():
            m.d.sync += [cycles.eq(Mux(last, self.unit_cycles - 1, cycles - 1)), left.eq(left - last)]
            m.d.sync += runs.eq(~ends)
        with m.If(~self.enable):
            m.d.sync += runs.eq(0)
