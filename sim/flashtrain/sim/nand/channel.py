"""The NAND packages of one channel."""

from amaranth import ClockSignal, Const, Instance, Module, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.die import ArrayPort, Die
from flashtrain.rtl.die.array_port import words_per_page
from flashtrain.rtl.nand_bus import NandBus
from flashtrain.rtl.shared import SharedModule
from flashtrain.spec import FmsConfig


class NandChannel(wiring.Component):
    """Dies, the models of their arrays, and the checker, on the pins of one channel.

    It is the same for all channels, so that one compiled module serves them all:

        nand = NandChannel(config)
        for channel, pins in enumerate(fms.pins):
            m.submodules[f"nand{channel}"] = packages = SharedModule(nand, "nand_channel")
            connect(m, flipped(pins), packages.bus)    # or the other way round, as the pins are seen
            m.d.comb += [packages.cycle.eq(cycle), packages.channel.eq(channel)]
        m.d.sync += cycle.eq(cycle + 1)                # 64 bits

    Parameters
    ----------
    config
        Geometry and timing.
    bad_block, bad_planes
        This block fails to program and to erase on these planes (a bit each) of every die.

    Members
    -------
    bus : In(NandBus(dies))
    cycle : In(64)        number of this clock; stamps messages and events
    channel : In(8)       number of this channel, for the same
    violations : Out(32)  how often the arrays and the checker refused something
    """

    def __init__(self, config: FmsConfig, *, bad_block: int | None = None, bad_planes: int = 0):
        self.config = config
        self.bad_block = bad_block
        self.bad_planes = bad_planes
        super().__init__({
            "bus": In(NandBus(config.geometry.dies)),
            "cycle": In(64),
            "channel": In(8),
            "violations": Out(32),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        bus = self.bus
        dqs_i, dq_i, violations = 0, 0, 0
        die = Die(self.config)
        for index in range(self.config.geometry.dies):
            m.submodules[f"die{index}"] = logic = SharedModule(die, "flashtrain_die")
            m.d.comb += [
                logic.pins.ce_n.eq(bus.ce_n[index]),
                logic.pins.cle.eq(bus.cle),
                logic.pins.ale.eq(bus.ale),
                logic.pins.we.eq(bus.we),
                logic.pins.dqs_o.eq(bus.dqs_o),
                logic.pins.re.eq(bus.re),
                logic.pins.dq_o.eq(bus.dq_o),
                bus.rb_n[index].eq(logic.pins.rb_n),
            ]
            dqs_i |= logic.pins.dqs_i
            dq_i |= logic.pins.dq_i
            refused = Signal(32, name=f"refused{index}")
            m.submodules[f"array{index}"] = self._array(index, logic.array, refused)
            violations += refused
        refused = Signal(32, name="refused")
        m.submodules.checker = self._checker(refused)
        m.d.comb += [
            bus.dqs_i.eq(dqs_i),
            bus.dq_i.eq(dq_i),
            self.violations.eq(violations + refused),
        ]
        return m

    def _array(self, die: int, port: ArrayPort, violations: Signal) -> Instance:
        config, g = self.config, self.config.geometry
        return Instance(
            "flashtrain_array",
            p_PLANES=g.planes,
            p_BLOCKS=g.blocks,
            p_PAGES=g.pages,
            p_WORDS=words_per_page(config),
            p_WORD_BYTES=config.die_word_bytes,
            p_TR=config.timing.clocks("tr"),
            p_TPROG=config.timing.clocks("tprog"),
            p_TBERS=config.timing.clocks("tbers"),
            p_CLOCK_MHZ=config.timing.clock_mhz,
            p_BAD_BLOCK=-1 if self.bad_block is None else self.bad_block,
            p_BAD_PLANES=self.bad_planes,
            **_clock(),
            i_cycle=self.cycle,
            i_channel=self.channel,
            i_die=Const(die, 8),
            i_start=port.start,
            i_op=port.op,
            i_planes=port.planes,
            i_page=port.page,
            i_blocks=port.blocks,
            i_abort_op=port.abort,
            o_busy=port.busy,
            o_failed=port.failed,
            o_take=port.words.take,
            o_put=port.words.put,
            o_plane=port.words.plane,
            o_word=port.words.word,
            i_from_register=port.words.from_register,
            o_to_register=port.words.to_register,
            o_violations=violations,
        )

    def _checker(self, violations: Signal) -> Instance:
        config, g, bus = self.config, self.config.geometry, self.bus
        timing = {
            f"p_{name.upper()}": config.timing.clocks(name)
            for name in ("twc", "tadl", "twhr", "trhw", "tchz", "tccs", "twb", "trr")
        }
        return Instance(
            "flashtrain_nand_checker",
            p_DIES=g.dies,
            p_PLANES=g.planes,
            p_BLOCKS=g.blocks,
            p_PAGES=g.pages,
            p_PAGE_BYTES=g.raw_page_bytes,
            p_WORD_BYTES=config.die_word_bytes,
            p_CLOCK_MHZ=config.timing.clock_mhz,
            **timing,
            **_clock(),
            i_cycle=self.cycle,
            i_channel=self.channel,
            i_ce_n=bus.ce_n,
            i_cle=bus.cle,
            i_ale=bus.ale,
            i_we=bus.we,
            i_dqs_o=bus.dqs_o,
            i_re=bus.re,
            i_dq_o=bus.dq_o,
            i_dqs_i=bus.dqs_i,
            i_dq_i=bus.dq_i,
            i_rb_n=bus.rb_n,
            o_violations=violations,
        )


def _clock() -> dict:
    return {"i_clk": ClockSignal("sync"), "i_rst": ResetSignal("sync")}
