"""Splits a number into its fields and classifies it."""

from amaranth import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.float.formats import FloatFormat, Unpacked


class Unpack(wiring.Component):
    """Splits a number into its fields and classifies it. Combinational.

    Members
    -------
    bits : In(format.width)
    number : Out(Unpacked(format))
    """

    def __init__(self, format: FloatFormat):
        self.format = format
        super().__init__({"bits": In(format.width), "number": Out(Unpacked(format))})

    def elaborate(self, platform):
        m = Module()
        fraction_bits, width = self.format.fraction_bits, self.format.width
        fraction = self.bits[:fraction_bits]
        field = self.bits[fraction_bits : width - 1]
        normal, special = field.any(), field.all()
        m.d.comb += [
            self.number.sign.eq(self.bits[width - 1]),
            self.number.exponent.eq(field | ~normal),
            self.number.significand.eq(Cat(fraction, normal)),
            self.number.zero.eq(~normal & ~fraction.any()),
            self.number.infinite.eq(special & ~fraction.any()),
            self.number.nan.eq(special & fraction.any()),
            self.number.signalling.eq(special & fraction.any() & ~fraction[fraction_bits - 1]),
        ]
        return m
