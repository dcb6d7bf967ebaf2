"""The bus of commands of SCA in front of a die, whose logic has command and address cycles."""

from amaranth import Array, Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.nand_bus import NandBus, ScaBus
from flashtrain.spec.nand import DieCommand
from flashtrain.spec.sca import END_OF_ADDRESS, PACKET_CYCLES, STATUS_CYCLES, Header


class ScaFront(wiring.Component):
    """Makes cycles of packets, and a beat of status of a STATUS.

    A packet has an effect in the cycle after its last bits. A status is read at its header. The die sees no
    command while its data move: the two would meet on its single port. END_OF_ADDRESS ends here. A packet
    that CA_CE_n cuts short has no effect. RESET ends data, too.

    Latency: 1 cycle from the pins to a cycle of the die, and from `ca_clk` to `ca_valid`; none for data.

    Members
    -------
    bus : In(ScaBus(1))       pins; outputs are zero unless the die sends
    die : Out(NandBus(1))     of the die; CE_n is low in cycles that are for it
    asks : Out(1)             the beat of this cycle is a status
    """

    def __init__(self):
        super().__init__({"bus": In(ScaBus(1)), "die": Out(NandBus(1)), "asks": Out(1)})

    def elaborate(self, platform):
        m = Module()
        bus, die = self.bus, self.die
        count = Signal(range(STATUS_CYCLES))  # cycles of CA_CLK that the packet has had
        header, low, byte = Signal(4), Signal(4), Signal(8)
        moves = Signal()  # between DATA_BEGIN and DATA_END
        asks, asked = self.asks, Signal()
        pairs = Array(Signal(2, name=f"pair_{n}") for n in range(4))

        m.d.sync += [
            asks.eq(0),
            asked.eq(asks),
            die.we.eq(0),
            die.cle.eq(0),
            die.ale.eq(0),
            bus.ca_valid.eq(0),
        ]
        m.d.sync += bus.ca_i.eq(0)
        with m.If(bus.ca_ce_n):
            m.d.sync += count.eq(0)
        with m.Elif(bus.ca_clk):
            m.d.sync += count.eq(count + 1)
            with m.If(count == 0):
                m.d.sync += [header.eq(bus.ca_o), asks.eq(bus.ca_o == Header.STATUS)]
            with m.Elif(header == Header.STATUS):
                with m.If(count >= 2):  # one turns the bus
                    m.d.sync += [bus.ca_valid.eq(1), bus.ca_i.eq(pairs[(count - 2)[:2]])]
            with m.Elif(count == PACKET_CYCLES - 1):
                m.d.sync += [count.eq(0), byte.eq(Cat(low, bus.ca_o))]
                with m.Switch(header):
                    with m.Case(Header.COMMAND):
                        ends_address = Cat(low, bus.ca_o) == END_OF_ADDRESS
                        m.d.sync += [die.we.eq(~ends_address), die.cle.eq(~ends_address)]
                        with m.If(Cat(low, bus.ca_o) == DieCommand.RESET):
                            m.d.sync += moves.eq(0)
                    with m.Case(Header.ADDRESS):
                        m.d.sync += [die.we.eq(1), die.ale.eq(1)]
                    with m.Case(Header.DATA_BEGIN):
                        m.d.sync += moves.eq(1)
                    with m.Case(Header.DATA_END):
                        m.d.sync += moves.eq(0)
            with m.Else():
                m.d.sync += low.eq(bus.ca_o)
        with m.If(asked):
            m.d.sync += [pair.eq(die.dq_i[2 * n : 2 * n + 2]) for n, pair in enumerate(pairs)]
        m.d.comb += [
            die.ce_n.eq(~(die.we | asks | moves)),
            die.re.eq(asks | (moves & bus.re)),
            die.dqs_o.eq(moves & bus.dqs_o),
            die.dq_o.eq(Mux(die.we, byte, bus.dq_o)),
            bus.dqs_i.eq(die.dqs_i & ~asked),
            bus.dq_i.eq(Mux(asked, 0, die.dq_i)),
            bus.rb_n.eq(die.rb_n),
        ]
        return m
