"""MSI-X: the table of vectors, their pending bits, and messages (PCI Express Base 5.0, section 6.1.4)."""

from amaranth import Array, Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.memories import NEVER_COLLIDES
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.pcie import Vector

from .layouts import DWORD_BITS, Message
from .turn_search import TurnSearch

ENTRY_DWORDS = Vector.BYTES // 4
CONTROL_DWORD = Vector.masked.low // DWORD_BITS
_MESSAGE_DWORDS = ENTRY_DWORDS - 1


class Vectors(wiring.Component):
    """Keeps the table, and sends the messages of vectors that are fired.

    A vector that fires while it is masked is pending, and sent when it is not masked any more. One that fires
    while MSI-X is disabled is forgotten. One that fires while it is pending has one message for both. After
    reset all vectors are masked; address and data keep their values.

    Latency: a message at most 9 cycles after its vector fires; a read 1 cycle. Throughput: a message in 4
    cycles, in 6 from one group of 8 vectors to another, if the host does not read the table.

    Members
    -------
    enable, mask_all : In(1)   of the message control in the configuration space
    fire : In(stream(index))   always ready
    messages : Out(stream(Message))
    place : In             a dword of the table, for `write` and `read`
    write : In(1)          pulse
    data : In(32)
    read : In(1)           pulse; `value` is there in the next cycle
    value : Out(32)
    pending : Out(count)
    """

    def __init__(self, count: int):
        self.count = count
        super().__init__({
            "enable": In(1),
            "mask_all": In(1),
            "fire": In(stream.Signature(bits_for(count), always_ready=True)),
            "messages": Out(stream.Signature(Message())),
            "place": In(range(ENTRY_DWORDS * count)),
            "write": In(1),
            "data": In(DWORD_BITS),
            "read": In(1),
            "value": Out(DWORD_BITS),
            "pending": Out(count),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        words = data.ArrayLayout(DWORD_BITS, _MESSAGE_DWORDS)
        m.submodules.table = table = Memory(shape=words, depth=self.count, init=[], attrs=NEVER_COLLIDES)
        m.submodules.turn = turn = TurnSearch(self.count)
        writer, reader = table.write_port(granularity=1), table.read_port()
        number, dword = self.place[2:], self.place[:2]
        of_control = dword == CONTROL_DWORD

        m.d.comb += [
            writer.addr.eq(number),
            Cat(writer.data).eq(self.data.replicate(_MESSAGE_DWORDS)),
            writer.en.eq(Cat(self.write & (dword == one) for one in range(_MESSAGE_DWORDS))),
        ]
        masked = Signal(self.count, init=(1 << self.count) - 1)
        for vector in range(self.count):
            with m.If(self.write & of_control & (number == vector)):
                m.d.sync += masked[vector].eq(self.data[0])

        read_dword, read_mask = Signal(2), Signal()
        m.d.sync += [read_dword.eq(dword), read_mask.eq(masked.bit_select(number, 1))]
        dwords = Array([*(reader.data[one] for one in range(_MESSAGE_DWORDS)), read_mask])
        m.d.comb += self.value.eq(dwords[read_dword])

        due, still = Signal(self.count), Signal()
        m.d.comb += due.eq(self.pending & ~masked & (self.enable & ~self.mask_all).replicate(self.count))
        m.d.comb += turn.requests.eq(due)
        sent = self._send(m, turn, reader, number, still)
        m.d.sync += still.eq(due.bit_select(turn.index, 1))
        for vector in range(self.count):
            fires = self.fire.valid & self.enable & (self.fire.payload == vector)
            ends = sent & (turn.index == vector)
            m.d.sync += self.pending[vector].eq(fires | self.pending[vector] & ~ends)
        return m

    def _send(self, m: Module, turn: TurnSearch, reader, number, still):
        """Read the entry of the vector whose turn it is; the cycle in which its message is offered."""
        messages, sent = self.messages, Signal()
        m.d.comb += reader.addr.eq(number)
        with m.If(messages.ready):
            m.d.sync += messages.valid.eq(0)
        with m.FSM():
            with m.State("WAIT"):
                # The host's reads come first.
                with m.If(turn.valid & ~self.read & ~messages.valid):
                    m.d.comb += reader.addr.eq(turn.index)
                    m.next = "SEND"
            with m.State("SEND"):
                m.d.comb += [turn.take.eq(1), sent.eq(still)]
                m.d.sync += [
                    messages.valid.eq(still),
                    messages.payload.address.eq(Cat(reader.data[0], reader.data[1])),
                    messages.payload.data.eq(reader.data[2]),
                ]
                m.next = "WAIT"
        return sent
