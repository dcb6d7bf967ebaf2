"""What lies at each register address, and the logic that reads and writes it."""

from amaranth import Module, Value

from .register_bus import RegisterBus


class RegisterMap:
    """Collects registers; `connect` makes their logic.

    reads: by address, the value that is read. writes: by address, the condition under which a write is
    accepted, and the statements (of domain `sync`) that it then performs on `written`, the written word.
    """

    def __init__(self, written: Value):
        self.written = written
        self.reads: dict[int, Value] = {}
        self.writes: dict[int, tuple[Value, list]] = {}

    def setting(self, address: int, register: Value, writable: Value) -> None:
        """A register of at most 32 bits that is read back as written; values that do not fit are refused."""
        self.reads[address] = register
        fits = self.written >> len(register) == 0
        self.writes[address] = writable & fits, [register.eq(self.written)]

    def wide_setting(self, low: int, high: int, register: Value, writable: Value) -> None:
        """A register of more than 32 bits at two addresses."""
        self.setting(low, register[:32], writable)
        self.setting(high, register[32:], writable)

    def require(self, address: int, condition: Value) -> None:
        """Accept writes to `address` only if `condition` holds as well."""
        others, statements = self.writes[address]
        self.writes[address] = others & condition, statements

    def connect(self, m: Module, bus: RegisterBus) -> None:
        """Everything else is answered as unknown."""
        with m.Switch(bus.read_address):
            for address, value in self.reads.items():
                with m.Case(address):
                    m.d.comb += [bus.read_known.eq(1), bus.read_data.eq(value)]
        with m.Switch(bus.write_address):
            for address, (condition, statements) in self.writes.items():
                with m.Case(address), m.If(condition):
                    m.d.comb += bus.write_known.eq(1)
                    with m.If(bus.write):
                        m.d.sync += statements
