"""The protocol checker on the pins of a channel."""

from amaranth import Cat, ClockSignal, Instance, Module, ResetSignal, Signal, Value
from amaranth.hdl import Shape
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.die.sca_front import ScaFront
from flashtrain.rtl.nand_bus import nand_bus
from flashtrain.spec import FmsConfig

_PINS = ("ce_n", "cle", "ale", "we", "dqs_o", "re", "dq_o", "dqs_i", "dq_i", "rb_n")
"""Pins of `NandBus` that the checker listens to."""

_TIMES = ("twc", "tadl", "twhr", "trhw", "tchz", "tccs", "twb", "trr")


class PinChecker(wiring.Component):
    """Refuses what ONFI forbids (`checker.sv`); it only listens.

    With SCA a checker of packets and bursts (`sca_checker.sv`) is on the pins, and behind a `ScaFront` for
    each die a checker of its commands.

    Members
    -------
    ce_n, cle, ale, we, dqs_o, re, dq_o, dqs_i, dq_i, rb_n : In   as in `NandBus`, but R/B# of
      each die; with SCA all of `ScaBus`
    cycle : In(64)        number of this cycle; stamps messages and events
    channel : In(8)       number of this channel, for the same
    reads_status : Out(1) the next `dq_i` with `dqs_i` is a status; without SCA
    violations : Out(32)  how often it refused something
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        members = nand_bus(config).members
        names = members if config.chips.sca else _PINS
        self.pins = {name: Shape.cast(members[name].shape).width for name in names}
        self.pins["rb_n"] = config.geometry.dies
        super().__init__({
            **{name: In(width) for name, width in self.pins.items()},
            "cycle": In(64),
            "channel": In(8),
            "reads_status": Out(1),
            "violations": Out(32),
        })  # fmt: skip

    def listen(self, m: Module, bus, ready: Value | None = None) -> None:
        """Attach to a `NandBus` or `ScaBus`, seen from either side. `ready` is R/B# of each die."""
        m.d.comb += self.rb_n.eq(bus.rb_n if ready is None else ready)
        m.d.comb += [getattr(self, name).eq(getattr(bus, name)) for name in self.pins if name != "rb_n"]

    def elaborate(self, platform):
        m = Module()
        if self.config.chips.sca:
            self._check_sca(m)
            return m
        pins = {name: getattr(self, name) for name in _PINS}
        m.submodules.checker = self._checker(
            pins, self.config.geometry.dies, 0, self.reads_status, self.violations
        )
        return m

    def _checker(
        self, pins: dict[str, Value], dies: int, first: int, reads_status: Value, violations: Value
    ) -> Instance:
        """The checker of so many dies, the first of which has this number."""
        g, cycles = self.config.geometry, self.config.timing.cycles
        times = {name: cycles(name) for name in _TIMES}
        if self.config.chips.sca:  # a packet is a cycle, and commands do not turn the bus
            times |= {"twc": cycles("tca"), "trhw": 1, "tchz": 1}
        return Instance(
            "flashtrain_nand_checker",
            p_DIES=dies,
            p_LUNS=self.config.chips.luns,
            p_PLANES=g.planes,
            p_BLOCKS=g.blocks,
            p_PAGES=g.pages,
            p_PAGE_BYTES=g.raw_page_bytes,
            p_DATA_BYTES=g.page_bytes,
            p_WORD_BYTES=self.config.die_word_bytes,
            p_READ_LEVELS=self.config.read_levels,
            p_CLOCK_MHZ=self.config.timing.clock_mhz,
            **{f"p_{name.upper()}": value for name, value in times.items()},
            i_clk=ClockSignal("sync"),
            i_rst=ResetSignal("sync"),
            i_cycle=self.cycle,
            i_channel=self.channel,
            i_first_die=first,
            **{f"i_{name}": value for name, value in pins.items()},
            o_reads_status=reads_status,
            o_violations=violations,
        )

    def _check_sca(self, m: Module) -> None:
        dies, cycles = self.config.geometry.dies, self.config.timing.cycles
        counts = [Signal(32, name=f"violations_{number}") for number in range(dies + 1)]
        m.submodules.packets = Instance(
            "flashtrain_sca_checker",
            p_DIES=dies,
            p_CLOCK_MHZ=self.config.timing.clock_mhz,
            **{f"p_{name.upper()}": cycles(name) for name in ("tca", "twhr", "tsce", "tchz")},
            i_clk=ClockSignal("sync"),
            i_rst=ResetSignal("sync"),
            i_cycle=self.cycle,
            i_channel=self.channel,
            **{
                f"i_{name}": getattr(self, name)
                for name in ("ca_ce_n", "ca_clk", "ca_o", "ca_oe", "ca_valid", "dqs_o", "re")
            },
            o_violations=counts[dies],
        )
        status, pairs, answered, shown = Signal(8), Signal(range(5)), Signal(), Signal()
        m.d.sync += [answered.eq(self.ca_valid & (pairs == 3)), shown.eq(answered)]
        with m.If(self.ca_ce_n.all()):
            m.d.sync += pairs.eq(0)
        with m.Elif(self.ca_valid & (pairs != 4)):
            m.d.sync += [pairs.eq(pairs + 1), status.eq(Cat(status[2:], self.ca_i))]
        for number in range(dies):
            m.submodules[f"front_{number}"] = front = ScaFront()
            m.d.comb += [
                *(
                    getattr(front.bus, name).eq(getattr(self, name))
                    for name in ("ca_clk", "ca_o", "ca_oe", "dqs_o", "re", "dq_o")
                ),
                front.bus.ca_ce_n.eq(self.ca_ce_n[number]),
                front.die.rb_n.eq(self.rb_n[number]),
            ]
            # A status is shown as a beat when all of it has come.
            own, mine = Signal(name=f"own_{number}"), Signal(name=f"mine_{number}")
            m.d.sync += mine.eq(~self.ca_ce_n[number])
            m.d.comb += own.eq(mine & answered)
            pins: dict[str, Value] = {name: getattr(front.die, name) for name in _PINS}
            pins |= {
                "ce_n": front.die.ce_n & ~own,
                "re": (front.die.re & ~front.asks) | own,
                "dqs_i": mine & shown,
                "dq_i": status,
            }
            seen = {name: Signal(16 if "dq_" in name else 1, name=f"{name}_{number}") for name in _PINS}
            m.d.comb += [seen[name].eq(value) for name, value in pins.items()]
            m.submodules[f"checker_{number}"] = self._checker(
                seen, 1, number, Signal(name=f"answers_{number}"), counts[number]
            )
        m.d.comb += self.violations.eq(sum(counts))
