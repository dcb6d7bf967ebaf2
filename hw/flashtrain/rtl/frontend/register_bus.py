"""AXI4-Lite to plain reads and writes of 32-bit registers."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..axi import Axi4LiteSignature

OKAY, SLVERR = 0b00, 0b10
SETTLE_CLOCKS = 4  # for what lies behind a selection register, such as a channel's counter


class RegisterBus(wiring.Component):
    """One read and one write at a time, independent of each other.

    Writes of less than a whole register are refused. Addresses are taken as multiples of 4.

    Latency: a write 1 clock, a read `SETTLE_CLOCKS` + 2 clocks to its answer.

    Members
    -------
    bus : In(Axi4LiteSignature)
    write : Out(1)          pulse: `write_data` goes to `write_address`
    write_address : Out     in bytes
    write_data : Out(32)
    write_known : In(1)     the write is accepted, in the same clock
    reading : Out(1)        `read_address` is being read
    read : Out(1)           pulse: `read_data` is taken
    read_address : Out      in bytes; held for `SETTLE_CLOCKS` before `read`
    read_data : In(32)
    read_known : In(1)      there is a register
    """

    def __init__(self, address_bits: int):
        super().__init__({
            "bus": In(Axi4LiteSignature(address_bits=address_bits)),
            "write": Out(1),
            "write_address": Out(address_bits),
            "write_data": Out(32),
            "write_known": In(1),
            "reading": Out(1),
            "read": Out(1),
            "read_address": Out(address_bits),
            "read_data": In(32),
            "read_known": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        bus = self.bus

        accept, whole = Signal(), Signal()
        m.d.comb += [
            accept.eq(bus.awvalid & bus.wvalid & (~bus.bvalid | bus.bready)),
            bus.awready.eq(accept),
            bus.wready.eq(accept),
            whole.eq(bus.wstrb.all()),
            self.write.eq(accept & whole),
            self.write_address[2:].eq(bus.awaddr[2:]),
            self.write_data.eq(bus.wdata),
        ]
        with m.If(bus.bready):
            m.d.sync += bus.bvalid.eq(0)
        with m.If(accept):
            m.d.sync += bus.bvalid.eq(1)
            with m.If(whole & self.write_known):
                m.d.sync += bus.bresp.eq(OKAY)
            with m.Else():
                m.d.sync += bus.bresp.eq(SLVERR)

        settle = Signal(range(SETTLE_CLOCKS))
        with m.FSM(name="read_state") as fsm:
            with m.State("ADDRESS"):
                m.d.comb += bus.arready.eq(1)
                with m.If(bus.arvalid):
                    m.d.sync += [
                        self.read_address[2:].eq(bus.araddr[2:]),
                        settle.eq(SETTLE_CLOCKS - 1),
                    ]
                    m.next = "SETTLE"
            with m.State("SETTLE"):
                m.d.sync += settle.eq(settle - 1)
                with m.If(settle == 0):
                    m.next = "READ"
            with m.State("READ"):
                m.d.comb += self.read.eq(1)
                m.d.sync += [bus.rvalid.eq(1), bus.rdata.eq(self.read_data), bus.rresp.eq(SLVERR)]
                with m.If(self.read_known):
                    m.d.sync += bus.rresp.eq(OKAY)
                m.next = "ANSWER"
            with m.State("ANSWER"):
                with m.If(bus.rready):
                    m.d.sync += bus.rvalid.eq(0)
                    m.next = "ADDRESS"
        m.d.comb += self.reading.eq(fsm.ongoing("SETTLE") | fsm.ongoing("READ"))
        return m
