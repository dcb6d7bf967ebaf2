"""AXI4-Lite to reads and writes of 32-bit registers, and the map of these."""

from functools import reduce
from operator import or_

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.axi import Axi4LiteSignature
from flashtrain.rtl.lib.streams import select

OKAY, SLVERR = 0b00, 0b10
_GROUP = 12  # registers of which one is chosen in a cycle
SETTLE_CYCLES = 5  # for values behind a selection register, such as a channel's counter


class RegisterBus(wiring.Component):
    """Serves one read and one write at a time, independent of each other.

    Writes of less than a whole register are refused. The low two bits of addresses are ignored.

    Latency: a write 2 cycles, a read `SETTLE_CYCLES` + 3 cycles to its answer. Throughput: a write in 2
    cycles, a read in `SETTLE_CYCLES` + 4 cycles.

    Members
    -------
    bus : In(Axi4LiteSignature)
    write : Out(1)          pulse: `write_data` goes to `write_address`
    write_address : Out     in bytes
    write_data : Out(32)
    write_known : In(1)     the write is accepted, in the same cycle
    reading : Out(1)        `read_address` is being read
    read : Out(1)           pulse: the register is read; `read_data` is its value in the next cycle
    read_address : Out      in bytes; held for `SETTLE_CYCLES` before `read`
    read_data : In(32)
    read_known : In(1)      there is a register
    read_pending : In(1)    the value is not there yet: `read` waits
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
            "read_pending": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        bus = self.bus

        accept, accepted = Signal(), Signal()
        m.d.comb += [
            accept.eq(bus.awvalid & bus.wvalid & ~accepted & (~bus.bvalid | bus.bready)),
            bus.awready.eq(accept),
            bus.wready.eq(accept),
        ]
        m.d.sync += [
            accepted.eq(accept),
            self.write.eq(accept & bus.wstrb.all()),
            self.write_address[2:].eq(bus.awaddr[2:]),
            self.write_data.eq(bus.wdata),
        ]
        with m.If(bus.bready):
            m.d.sync += bus.bvalid.eq(0)
        with m.If(accepted):
            m.d.sync += bus.bvalid.eq(1)
            with m.If(self.write & self.write_known):
                m.d.sync += bus.bresp.eq(OKAY)
            with m.Else():
                m.d.sync += bus.bresp.eq(SLVERR)

        settle = Signal(range(SETTLE_CYCLES))
        with m.FSM(name="read_state") as fsm:
            with m.State("IDLE"):
                m.d.comb += bus.arready.eq(1)
                with m.If(bus.arvalid):
                    m.d.sync += [
                        self.read_address[2:].eq(bus.araddr[2:]),
                        settle.eq(SETTLE_CYCLES - 1),
                    ]
                    m.next = "SETTLE"
            with m.State("SETTLE"):
                with m.If(settle != 0):
                    m.d.sync += settle.eq(settle - 1)
                with m.Elif(~self.read_pending):
                    m.next = "READ"
            with m.State("READ"):
                m.d.comb += self.read.eq(1)
                m.next = "TAKE"
            with m.State("TAKE"):
                m.d.sync += [bus.rvalid.eq(1), bus.rdata.eq(self.read_data), bus.rresp.eq(SLVERR)]
                with m.If(self.read_known):
                    m.d.sync += bus.rresp.eq(OKAY)
                m.next = "ANSWER"
            with m.State("ANSWER"):
                with m.If(bus.rready):
                    m.d.sync += bus.rvalid.eq(0)
                    m.next = "IDLE"
        m.d.comb += self.reading.eq(fsm.ongoing("SETTLE") | fsm.ongoing("READ"))
        return m


class RegisterMap:
    """Collects registers; `connect` makes their logic.

    `reads` has the value of each address. `writes` has the condition under which a write to an address is
    accepted, and its statements of domain `sync`. These use `written`, the written word.

    Registers that are written while the controller is disabled take the word a cycle later. Their many bits
    have an enable and a word of their own, from registers that can stand among them.
    """

    def __init__(self, written: Value):
        self.written = written
        self.reads: dict[int, Value] = {}
        self.writes: dict[int, tuple[Value, list]] = {}
        self._late: list[tuple[Signal, Value]] = []

    def setting(self, address: int, register: Value, writable: Value) -> None:
        """A register of at most 32 bits that is read back as written; values that do not fit are refused."""
        self.reads[address] = register
        fits = self.written >> len(register) == 0
        self.writes[address] = writable & fits, [register.eq(self.written)]

    def late_setting(self, address: int, register: Value, writable: Value) -> None:
        """A `setting` that takes effect a cycle later."""
        self.setting(address, register, writable)
        accepted, taken = self.writes[address][0], Signal(name=f"taken_{address:x}")
        self.writes[address] = accepted, [taken.eq(1)]
        self._late.append((taken, register))

    def wide_setting(self, low: int, high: int, register: Value, writable: Value) -> None:
        """A `late_setting` of more than 32 bits, at two addresses."""
        self.late_setting(low, register[:32], writable)
        self.late_setting(high, register[32:], writable)

    def require(self, address: int, condition: Value) -> None:
        """Accept writes to `address` only if `condition` holds as well."""
        others, statements = self.writes[address]
        self.writes[address] = others & condition, statements

    def connect(self, m: Module, bus: RegisterBus) -> None:
        """The logic of all registers; other addresses are unknown."""
        # The address is decoded a cycle before its register is chosen, in groups, of which one has it.
        chosen = Signal(len(self.reads))
        m.d.sync += chosen.eq(Cat(bus.read_address == address for address in self.reads))
        values = list(self.reads.values())
        words, known = [], Signal(len(range(0, len(values), _GROUP)))
        for number, first in enumerate(range(0, len(values), _GROUP)):
            group, word = chosen[first : first + _GROUP], Signal.like(bus.read_data)
            m.d.sync += [
                word.eq(select(group, values[first : first + _GROUP])),
                known[number].eq(group.any()),
            ]
            words.append(word)
        m.d.comb += [bus.read_data.eq(reduce(or_, words)), bus.read_known.eq(known.any())]
        late_word = Signal.like(self.written)
        m.d.sync += late_word.eq(self.written)
        for taken, register in self._late:
            m.d.sync += taken.eq(0)
            with m.If(taken):
                m.d.sync += register.eq(late_word)
        with m.Switch(bus.write_address):
            for address, (condition, statements) in self.writes.items():
                with m.Case(address), m.If(condition):
                    m.d.comb += bus.write_known.eq(1)
                    with m.If(bus.write):
                        m.d.sync += statements
