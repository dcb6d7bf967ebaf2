"""What was worked out of each code word of a page, until the word's turn comes again."""

from amaranth import Module, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.ecc import PageCode
from flashtrain.spec.geometry import bits_for


class WordStore(wiring.Component):
    """Holds `bits` bits of each code word, in small memories; of a single one, in a register.

    Latency: what is put can be taken a clock later.

    Members
    -------
    put : In(1), put_word : In, put_value : In
    take_word : In, taken : Out   combinational
    """

    def __init__(self, code: PageCode, bits: int):
        self.words = code.words
        self.bits = bits
        number = bits_for(code.words)
        super().__init__({
            "put": In(1),
            "put_word": In(number),
            "put_value": In(bits),
            "take_word": In(number),
            "taken": Out(bits),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        if self.words == 1:
            with m.If(self.put):
                m.d.sync += self.taken.eq(self.put_value)
            return m
        m.submodules.values = values = memory.Memory(shape=self.bits, depth=self.words, init=[])
        write, read = values.write_port(), values.read_port(domain="comb")
        m.d.comb += [
            write.en.eq(self.put),
            write.addr.eq(self.put_word),
            write.data.eq(self.put_value),
            read.addr.eq(self.take_word),
            self.taken.eq(Value.cast(read.data)),
        ]
        return m
