"""The protocol checker on the pins of a channel."""

from amaranth import ClockSignal, Instance, Module, ResetSignal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig


class PinChecker(wiring.Component):
    """Refuses what ONFI forbids (`checker.sv`); it only listens.

    Members
    -------
    ce_n, cle, ale, we, dqs_o, re, dq_o, dqs_i, dq_i, rb_n : In   as in `NandBus`
    cycle : In(64)        number of this cycle; stamps messages and events
    channel : In(8)       number of this channel, for the same
    reads_status : Out(1) the next `dq_i` with `dqs_i` is a status
    violations : Out(32)  how often it refused something
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        dies = config.geometry.dies
        self.pins = {
            "ce_n": dies, "cle": 1, "ale": 1, "we": 1, "dqs_o": 1, "re": 1, "dq_o": 16,
            "dqs_i": 1, "dq_i": 16, "rb_n": dies,
        }  # fmt: skip
        super().__init__({
            **{name: In(width) for name, width in self.pins.items()},
            "cycle": In(64),
            "channel": In(8),
            "reads_status": Out(1),
            "violations": Out(32),
        })  # fmt: skip

    def listen(self, m: Module, bus) -> None:
        """Attach to a `NandBus`, seen from whichever side."""
        m.d.comb += [getattr(self, name).eq(getattr(bus, name)) for name in self.pins]

    def elaborate(self, platform):
        m = Module()
        g, t = self.config.geometry, self.config.timing
        timings = ("twc", "tadl", "twhr", "trhw", "tchz", "tccs", "twb", "trr")
        m.submodules.checker = Instance(
            "flashtrain_nand_checker",
            p_DIES=g.dies,
            p_PLANES=g.planes,
            p_BLOCKS=g.blocks,
            p_PAGES=g.pages,
            p_PAGE_BYTES=g.raw_page_bytes,
            p_DATA_BYTES=g.page_bytes,
            p_WORD_BYTES=self.config.die_word_bytes,
            p_READ_LEVELS=self.config.read_levels,
            p_CLOCK_MHZ=t.clock_mhz,
            **{f"p_{name.upper()}": t.cycles(name) for name in timings},
            i_clk=ClockSignal("sync"),
            i_rst=ResetSignal("sync"),
            i_cycle=self.cycle,
            i_channel=self.channel,
            **{f"i_{name}": getattr(self, name) for name in self.pins},
            o_reads_status=self.reads_status,
            o_violations=self.violations,
        )
        return m
