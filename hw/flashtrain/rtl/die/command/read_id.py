"""The answers to READ ID."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

MANUFACTURER_AND_DEVICE = bytes([0x46, 0x54])
"""Answer at address 00h; numbers that JEDEC has not assigned."""

SIGNATURE = b"ONFI"
"""Answer at address 20h (ONFI 5.1, section 5.6)."""

_SIGNATURE_ADDRESS = 0x20


class ReadId(wiring.Component):
    """Outputs the bytes of an answer one by one, and repeats them after the fourth.

    Members
    -------
    begin : In(1)    READ ID with address `address`
    next : In(1)     `byte` was taken
    byte : Out(8)
    """

    def __init__(self):
        super().__init__({"begin": In(1), "address": In(8), "next": In(1), "byte": Out(8)})

    def elaborate(self, platform):
        m = Module()
        signature = Signal(reset_less=True)
        index = Signal(2, reset_less=True)
        with m.If(self.begin):
            m.d.sync += [signature.eq(self.address == _SIGNATURE_ADDRESS), index.eq(0)]
        with m.If(self.next):
            m.d.sync += index.eq(index + 1)
            with m.Switch(index):
                for i, letter in enumerate(SIGNATURE):
                    with m.Case(i):
                        other = MANUFACTURER_AND_DEVICE[i] if i < len(MANUFACTURER_AND_DEVICE) else 0
                        m.d.comb += self.byte.eq(Mux(signature, letter, other))
        return m
