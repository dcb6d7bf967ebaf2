"""A serial line of eight bits, no parity and one stop bit: receiver and transmitter."""

from amaranth import Cat, Const, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

BITS = 10
"""Of a byte on the line: start, eight data bits from the lowest, stop."""


class UartReceiver(wiring.Component):
    """Bytes from a line.

    A byte whose stop bit is low is dropped, and the line must be high before the next one.

    Latency: 2 cycles, and the time to the middle of the stop bit. Throughput: that of the line.

    Parameters
    ----------
    `divisor` : cycles of a bit, at least 4

    Members
    -------
    line : In(1)           high at rest; not synchronised
    output : Out(stream)   bytes, not to be refused
    """

    def __init__(self, divisor: int):
        self.divisor = divisor
        super().__init__({
            "line": In(1, init=1),  # pyright: ignore[reportCallIssue]
            "output": Out(stream.Signature(8, always_ready=True)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        level = Signal(init=1)
        m.submodules.level = FFSynchronizer(self.line, level, init=1)
        left, bits = Signal(range(self.divisor)), Signal(range(8))
        m.d.sync += [self.output.valid.eq(0), left.eq(left - 1)]
        with m.FSM(name="receiver_state"):
            with m.State("IDLE"):
                m.d.sync += left.eq(self.divisor // 2 - 1)
                with m.If(~level):
                    m.next = "START"
            with m.State("START"):
                with m.If(left == 0):
                    m.d.sync += [left.eq(self.divisor - 1), bits.eq(0)]
                    m.next = "DATA"
                with m.If(level):
                    m.next = "IDLE"
            with m.State("DATA"):
                with m.If(left == 0):
                    m.d.sync += [
                        self.output.payload.eq(Cat(self.output.payload[1:], level)),
                        left.eq(self.divisor - 1),
                        bits.eq(bits + 1),
                    ]
                    with m.If(bits == 7):
                        m.next = "STOP"
            with m.State("STOP"):
                with m.If(left == 0):
                    m.d.sync += self.output.valid.eq(level)
                    m.next = "HIGH"
            with m.State("HIGH"):
                with m.If(level):
                    m.next = "IDLE"
        return m


class UartTransmitter(wiring.Component):
    """Bytes to a line.

    Latency: 1 cycle to the start bit. Throughput: a byte in 10 bits.

    Parameters
    ----------
    `divisor` : cycles of a bit

    Members
    -------
    input : In(stream)   bytes
    line : Out(1)        high at rest; a register
    """

    def __init__(self, divisor: int):
        self.divisor = divisor
        super().__init__({
            "input": In(stream.Signature(8)),
            "line": Out(1, init=1),  # pyright: ignore[reportCallIssue]
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        left, bits = Signal(range(self.divisor)), Signal(range(BITS + 1))
        shifted = Signal(BITS - 1)
        m.d.comb += self.input.ready.eq(bits == 0)
        with m.If(bits == 0):
            with m.If(self.input.valid):
                m.d.sync += [
                    Cat(self.line, shifted).eq(Cat(Const(0, 1), self.input.payload, Const(1, 1))),
                    bits.eq(BITS),
                    left.eq(self.divisor - 1),
                ]
        with m.Elif(left == 0):
            m.d.sync += [
                Cat(self.line, shifted).eq(Cat(shifted, Const(1, 1))),
                bits.eq(bits - 1),
                left.eq(self.divisor - 1),
            ]
        with m.Else():
            m.d.sync += left.eq(left - 1)
        return m
