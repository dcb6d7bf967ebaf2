"""The code words of a page: the position of a beat in them, and a store of a value per word."""

from amaranth import Array, Module, Mux, Signal, Value
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec.ecc import LANE_BYTES, PageCode
from flashtrain.spec.errors import require
from flashtrain.spec.geometry import bits_for


def require_width(width: int) -> None:
    """A beat lies within one code word: words are multiples of a lane."""
    require(width > 0 and 8 * LANE_BYTES % width == 0, "width", width, f"a divisor of {8 * LANE_BYTES} bits")


class WordPosition(wiring.Component):
    """The position of a beat in its page: the data of each code word, then the parity of each.

    Latency: 1 cycle from `step` to the outputs.

    Members
    -------
    step : In(1)       pulse: a beat is transferred
    word : Out         the code word of the next beat
    parity : Out(1)    the next beat is of the word's parity
    ends : Out(1)      it is the last of the word's data, or of its parity
    last : Out(1)      the word is the last of the page
    """

    def __init__(self, code: PageCode, width: int):
        self.code = code
        self.width = width
        super().__init__({
            "step": In(1),
            "word": Out(bits_for(code.words)),
            "parity": Out(1),
            "ends": Out(1),
            "last": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        code = self.code
        lengths = Array(
            self._beats(code.data(word).stop - code.data(word).start) for word in range(code.words)
        )
        parity_length = self._beats(code.parity_bytes)

        left = Signal(range(max(*lengths, parity_length)), init=lengths[0] - 1)
        following = Signal.like(self.word)
        m.d.comb += [
            self.ends.eq(left == 0),
            self.last.eq(self.word == code.words - 1),
            following.eq(Mux(self.last, 0, self.word + 1)),
        ]
        with m.If(self.step):
            m.d.sync += left.eq(left - 1)
            with m.If(self.ends):
                m.d.sync += [
                    self.word.eq(following),
                    self.parity.eq(self.parity ^ self.last),
                    left.eq(Mux(self.parity ^ self.last, parity_length, lengths[following]) - 1),
                ]
        return m

    def _beats(self, count: int) -> int:
        return 8 * count // self.width


class WordStore(wiring.Component):
    """Stores `bits` bits of each code word in small memories, of a single word in a register.

    Latency: 1 cycle from `put` to `taken`.

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
