# amaranth: UnusedElaboratable=no
"""A controller whose channels lead to SDR parts (`tests/parts`): a bench top in the times of the standard."""

from dataclasses import dataclass, replace

from amaranth import Instance, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.controller import Controller
from flashtrain.rtl.lib.axi import Axi4LiteSignature
from flashtrain.rtl.lib.forward import forward
from flashtrain.rtl.lib.shared import SharedModule
from flashtrain.sim.bench.streams import PERIOD_NS
from flashtrain.spec import FmsConfig
from flashtrain.spec.presets import TINY
from flashtrain.spec.registers import ADDRESS_BITS

AWAY = 2
"""Registers between controller and chip, in each direction."""


@dataclass(frozen=True)
class Socket:
    """The part of a channel, and its fastest timing mode."""

    mode: int
    seed: int


SOCKETS = (Socket(mode=3, seed=3), Socket(mode=5, seed=7))

CONFIG = replace(
    TINY,
    name="sdr_board",
    geometry=replace(TINY.geometry, channels=len(SOCKETS)),
    timing=replace(TINY.timing, clock_mhz=1000 // PERIOD_NS),
    command_port=True,
    port_delay=2 * AWAY,
)
"""A cycle of the bench is one of the clock, so the parts see the nanoseconds of the standard."""


class SdrBoard(wiring.Component):
    """Members: `registers` of the controller; `power`; counts of the parts, a word for each channel.

    violations, misuses, ignored : Out(32).array(C)   see `sdr_part.sv`
    modes : Out(3).array(C)
    """

    def __init__(self, config: FmsConfig = CONFIG):
        self.config = config
        channels = config.geometry.channels
        super().__init__({
            "registers": In(Axi4LiteSignature(address_bits=ADDRESS_BITS)),
            "power": In(1),
            **{name: Out(32).array(channels) for name in ("violations", "misuses", "ignored")},
            "modes": Out(3).array(channels),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.controller = controller = SharedModule(Controller(self.config), "flashtrain")
        forward(m, controller, self, ("registers",))
        for number, socket in enumerate(SOCKETS):
            self._connect(m, controller.nand[number], number, socket)
        return m

    def _connect(self, m: Module, pins, number: int, socket: Socket) -> None:
        away = {
            name: len(getattr(pins, name)) for name in ("ce_n", "cle", "ale", "we_n", "re_n", "dq_oe", "dq_o")
        }
        at_chip = {name: getattr(pins, name) for name in away}
        from_part, drives, ready = (Signal(width, name=f"{name}_{number}") for name, width in
                                    (("io", 8), ("oe", 1), ("rb_n", 1)))  # fmt: skip
        for stage in range(AWAY):
            for name, width in away.items():
                high = (1 << width) - 1 if name.endswith("_n") else 0
                register = Signal(width, name=f"{name}_{number}_{stage}", init=high)
                m.d.sync += register.eq(at_chip[name])
                at_chip[name] = register
        bus = Signal(8, name=f"bus_{number}")
        m.d.comb += bus.eq(Mux(at_chip["dq_oe"], at_chip["dq_o"][:8], Mux(drives, from_part, 0xFF)))
        level = bus
        for stage in range(AWAY):
            register = Signal(8, name=f"dq_i_{number}_{stage}")
            m.d.sync += register.eq(level)
            level = register
        m.d.comb += [pins.dq_i.eq(level), pins.rb_n.eq(ready)]
        g = self.config.geometry
        m.submodules[f"part_{number}"] = Instance(
            "sdr_part",
            p_PAGE_BYTES=g.page_bytes, p_SPARE_BYTES=g.spare_bytes, p_PAGES=g.pages,
            p_BLOCKS=g.blocks * g.planes, p_PLANES=g.planes, p_MAX_MODE=socket.mode, p_SEED=socket.seed,
            p_SCALE=20,
            i_power=self.power, i_ce_n=at_chip["ce_n"], i_cle=at_chip["cle"], i_ale=at_chip["ale"],
            i_we_n=at_chip["we_n"], i_re_n=at_chip["re_n"], i_wp_n=1, i_io_i=bus,
            o_io_o=from_part, o_io_oe=drives, o_rb_n=ready,
            i_fail_program=0, i_fail_erase=0, i_wrong_bits=0,
            o_violations=self.violations[number], o_misuses=self.misuses[number],
            o_ignored=self.ignored[number], o_mode=self.modes[number],
        )  # fmt: skip
