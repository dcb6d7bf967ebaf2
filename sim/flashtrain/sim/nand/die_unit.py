"""One die of a simulation: its logic, and the model of its array."""

from amaranth import ClockSignal, Instance, Module, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.die import Die
from flashtrain.rtl.die.array_port import words_per_page
from flashtrain.rtl.die.lun_front import LunFront
from flashtrain.rtl.die.sca_front import ScaFront
from flashtrain.rtl.lib.shared import SharedModule
from flashtrain.rtl.nand_bus import NandBus, ScaBus
from flashtrain.spec import FmsConfig


def die_pins(config: FmsConfig) -> NandBus | ScaBus:
    """The pins of one die. Dies of hardware without SCA have beats alone (`SdrBridge`)."""
    return ScaBus(1) if config.chips.sca else NandBus(1)


class DieUnit(wiring.Component):
    """A die with its array (`array.sv`). With several LUNs its number says which of them it is.

    Parameters
    ----------
    config
        Geometry and timing.
    bad_block, bad_planes
        This block fails to program and to erase on these planes (a bit each).

    Members
    -------
    pins : In(NandBus(1)), with SCA In(ScaBus(1))
    cycle : In(64)            number of this cycle; stamps messages and events
    channel, die : In(8)      where it is, for the same
    wake : Out(64)            the array's next event is in this cycle
    violations : Out(32)      how often the array refused something
    """

    def __init__(self, config: FmsConfig, *, bad_block: int | None = None, bad_planes: int = 0):
        self.config = config
        self.bad_block = bad_block
        self.bad_planes = bad_planes
        super().__init__({
            "pins": In(die_pins(config)),
            "cycle": In(64),
            "channel": In(8),
            "die": In(8),
            "wake": Out(64),
            "violations": Out(32),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.logic = logic = SharedModule(Die(self.config), "flashtrain_die")
        if self.config.chips.sca:
            m.submodules.front = front = ScaFront()
            connect(m, flipped(self.pins), front.bus)
            connect(m, front.die, logic.pins)
        elif self.config.chips.luns > 1:
            m.submodules.front = lun_front = LunFront(self.config)
            connect(m, flipped(self.pins), lun_front.bus)
            connect(m, lun_front.die, logic.pins)
            m.d.comb += lun_front.lun.eq(self.die)
        else:
            connect(m, flipped(self.pins), logic.pins)
        level = Signal(8)
        if self.config.read_levels:
            m.d.comb += level.eq(logic.array.level)
        m.submodules.array = self._array(logic.array, level)
        return m

    def _array(self, port, level) -> Instance:
        g, t = self.config.geometry, self.config.timing
        return Instance(
            "flashtrain_array",
            p_PLANES=g.planes,
            p_BLOCKS=g.blocks,
            p_PAGES=g.pages,
            p_WORDS=words_per_page(self.config),
            p_WORD_BYTES=self.config.die_word_bytes,
            p_TR=t.cycles("tr"),
            p_TPROG=t.cycles("tprog"),
            p_TBERS=t.cycles("tbers"),
            p_TSUSP=t.cycles("tsusp"),
            p_TRES=t.cycles("tres"),
            p_TADV=t.cycles("tadv"),
            p_CLOCK_MHZ=t.clock_mhz,
            p_BAD_BLOCK=-1 if self.bad_block is None else self.bad_block,
            p_BAD_PLANES=self.bad_planes,
            i_clk=ClockSignal("sync"),
            i_rst=ResetSignal("sync"),
            i_cycle=self.cycle,
            i_channel=self.channel,
            i_die=self.die,
            i_start=port.start,
            i_op=port.op,
            i_planes=port.planes,
            i_page=port.page,
            i_blocks=port.blocks,
            i_level=level,
            i_abort_op=port.abort,
            o_busy=port.busy,
            o_sensing=port.sensing,
            o_failed=port.failed,
            o_take=port.words.take,
            o_put=port.words.put,
            o_plane=port.words.plane,
            o_word=port.words.word,
            i_from_register=port.words.from_register,
            o_to_register=port.words.to_register,
            o_wake=self.wake,
            o_violations=self.violations,
        )
