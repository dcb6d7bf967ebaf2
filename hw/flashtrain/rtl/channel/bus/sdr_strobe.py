"""The strobes of the asynchronous interface (SDR): WE_n and RE_n of each byte, and when a byte is there."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import EngineInterface
from flashtrain.spec import FmsConfig


class SdrStrobe(wiring.Component):
    """Times the cycles of a timing mode (`SdrStrobes`).

    In a cycle one strobe is low and then high, while all other pins stand still. A byte from the chip is
    there some cycles later, perhaps in the next cycle of RE_n or behind the last (EDO).

    Latency: a change of `mode` takes a cycle. Throughput: a byte in each cycle of the mode.
    Cost: a counter, 4 times for each mode, a bit for each cycle from RE_n to its byte.

    Members
    -------
    mode : In(3)       one of the configuration's `engine_modes`
    run : In(1)        a cycle begins or goes on; it may stop between two cycles
    reads : In(1)      of RE_n instead of WE_n
    low : Out(1)       the strobe is low
    ended : Out(1)     the last clock of a cycle
    capture : Out(1)   the byte of a cycle of RE_n is on the pins of the controller
    pending : Out(1)   such a byte is still to come
    """

    def __init__(self, config: FmsConfig):
        self.modes = config.engine_modes
        super().__init__({
            "mode": In(EngineInterface()["mode"].shape),
            "run": In(1),
            "reads": In(1),
            **dict.fromkeys(("low", "ended", "capture", "pending"), Out(1)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        modes = self.modes.values()
        longest = max(max(mode.write, mode.read) for mode in modes)
        count = Signal(range(longest))
        write_low, write_last, read_low, read_last = (
            Signal(range(longest), name=name) for name in ("write_low", "write_last", "read_low", "read_last")
        )
        began = Signal()
        late = Signal(max(mode.sample for mode in modes))  # bit n: it began n + 1 cycles ago
        m.d.comb += [
            self.low.eq(self.run & (count < Mux(self.reads, read_low, write_low))),
            self.ended.eq(self.run & (count == Mux(self.reads, read_last, write_last))),
            began.eq(self.run & self.reads & (count == 0)),
        ]
        m.d.sync += late.eq(Cat(began, late))
        with m.If(self.run & ~self.ended):
            m.d.sync += count.eq(count + 1)
        with m.Else():
            m.d.sync += count.eq(0)
        with m.Switch(self.mode):
            for number, mode in self.modes.items():
                with m.Default() if number == [*self.modes][-1] else m.Case(number):
                    m.d.sync += [
                        write_low.eq(mode.write_low),
                        write_last.eq(mode.write - 1),
                        read_low.eq(mode.read_low),
                        read_last.eq(mode.read - 1),
                    ]
                    m.d.comb += [
                        self.capture.eq(late[mode.sample - 1]),
                        self.pending.eq(began | late[: mode.sample].any()),
                    ]
        return m
