"""A delay of many cycles, in memory instead of registers."""

from amaranth import Module, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out


class DelayLine(wiring.Component):
    """Delays a value by `cycles`.

    A ring of words holds the values on the way. A register per bit and cycle would cost more, and would load
    the clock.

    Latency: `cycles`. Throughput: one value per cycle. Cost: a word of memory per cycle, a register at its
    output, and a counter.

    Members
    -------
    input : In(width)
    output : Out(width)   `cycles` later; has no meaning before the first value arrives
    """

    def __init__(self, width: int, cycles: int):
        if cycles < 3:
            raise ValueError(f"a delay line of {cycles} cycles: at least 3")
        self.width = width
        self.cycles = cycles
        super().__init__({"input": In(width), "output": Out(width)})

    def elaborate(self, platform):
        m = Module()
        depth = self.cycles - 1
        m.submodules.ring = ring = memory.Memory(shape=self.width, depth=depth, init=[])
        write, read = ring.write_port(), ring.read_port(domain="comb")
        at, output = Signal(range(depth)), Signal(self.width, reset_less=True)
        m.d.comb += [
            write.en.eq(1),
            write.addr.eq(at),
            write.data.eq(self.input),
            read.addr.eq(at),
            self.output.eq(output),
        ]
        with m.If(at == depth - 1):
            m.d.sync += at.eq(0)
        with m.Else():
            m.d.sync += at.eq(at + 1)
        m.d.sync += output.eq(read.data)
        return m
