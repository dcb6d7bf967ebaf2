"""The simulated system: the controller, its dies, their arrays, and a checker on every channel's pins."""

from functools import reduce
from operator import or_
from pathlib import Path

from amaranth import Cat, ClockSignal, Const, Instance, Module, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.axi import Axi4LiteSignature, Axi4Signature
from flashtrain.rtl.die.array_port import words_per_page
from flashtrain.rtl.die.die import Die
from flashtrain.rtl.fms import Fms
from flashtrain.rtl.shared import SharedModule
from flashtrain.sim.verilated import build_shared_library, exported_sources
from flashtrain.spec import FmsConfig
from flashtrain.spec.registers import ADDRESS_BITS

_HERE = Path(__file__).parent
NAND_MODELS = (_HERE / "nand" / "array.sv", _HERE / "nand" / "checker.sv")
TOP = "flashtrain_system"


class FmsSystem(wiring.Component):
    """A controller with everything behind its NAND pins; what is in front is the bench's.

    Members
    -------
    data, queue, registers, irq : see `Fms`
    violations : Out(32)   breaches of the NAND protocol so far, by arrays and checkers
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        super().__init__({
            "data": Out(Axi4Signature(address_bits=config.address_bits, data_bits=8 * config.data_bytes)),
            "queue": Out(Axi4Signature(address_bits=config.address_bits, data_bits=64)),
            "registers": In(Axi4LiteSignature(address_bits=ADDRESS_BITS)),
            "irq": Out(1),
            "violations": Out(32),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, g = self.config, self.config.geometry
        m.submodules.fms = fms = SharedModule(Fms(config), "flashtrain_fms")
        for name in ("data", "queue"):
            connect(m, getattr(fms, name), flipped(getattr(self, name)))
        connect(m, flipped(self.registers), fms.registers)
        m.d.comb += self.irq.eq(fms.irq)

        # Time since the simulation began; it stamps messages and events.
        cycle = Signal(64, reset_less=True)
        m.d.sync += cycle.eq(cycle + 1)

        die_logic = Die(config)
        violations = []
        for channel in range(g.channels):
            bus = fms.nand[channel]
            dies = []
            for number in range(g.dies):
                die = SharedModule(die_logic, "flashtrain_die")
                m.submodules[f"die_{channel}_{number}"] = die
                dies.append(die)
                for pin in ("cle", "ale", "we", "dqs_o", "re", "dq_o"):
                    m.d.comb += getattr(die.pins, pin).eq(getattr(bus, pin))
                m.d.comb += [die.pins.ce_n.eq(bus.ce_n[number]), bus.rb_n[number].eq(die.pins.rb_n)]
                array_violations = Signal(32, name=f"violations_{channel}_{number}")
                m.submodules[f"array_{channel}_{number}"] = nand_array(
                    config, die.array, cycle, channel, number, array_violations
                )
                violations.append(array_violations)
            # Dies that are not asked for data drive zeros.
            m.d.comb += [
                bus.dqs_i.eq(Cat(die.pins.dqs_i for die in dies).any()),
                bus.dq_i.eq(reduce(or_, (die.pins.dq_i for die in dies))),
            ]
            checker_violations = Signal(32, name=f"violations_{channel}")
            m.submodules[f"checker_{channel}"] = nand_checker(config, bus, cycle, channel, checker_violations)
            violations.append(checker_violations)
        m.d.comb += self.violations.eq(sum(violations))
        return m


def nand_array(config: FmsConfig, port, cycle, channel: int, die: int, violations) -> Instance:
    """The model of a die's array (`nand/array.sv`) on `port`, an `ArrayPort`."""
    g, t, words = config.geometry, config.timing, port.words
    return Instance(
        "flashtrain_array",
        p_PLANES=g.planes, p_BLOCKS=g.blocks, p_PAGES=g.pages,
        p_WORDS=words_per_page(config), p_WORD_BYTES=config.die_word_bytes,
        p_TR=t.clocks("tr"), p_TPROG=t.clocks("tprog"), p_TBERS=t.clocks("tbers"), p_CLOCK_MHZ=t.clock_mhz,
        i_clk=ClockSignal(), i_rst=ResetSignal(), i_cycle=cycle,
        i_channel=Const(channel, 8), i_die=Const(die, 8),
        i_start=port.start, i_op=port.op, i_planes=port.planes, i_page=port.page, i_blocks=port.blocks,
        i_abort_op=port.abort, o_busy=port.busy, o_failed=port.failed,
        o_take=words.take, o_put=words.put, o_plane=words.plane, o_word=words.word,
        i_from_register=words.from_register, o_to_register=words.to_register,
        o_violations=violations,
    )  # fmt: skip


def nand_checker(config: FmsConfig, bus, cycle, channel: int, violations) -> Instance:
    """The protocol checker (`nand/checker.sv`) on a channel's pins, a `NandBus`."""
    g, t = config.geometry, config.timing
    timings = {
        f"p_{name.upper()}": t.clocks(name) for name in ("twc", "tadl", "twhr", "trhw", "tccs", "twb", "trr")
    }
    pins = {f"i_{name}": getattr(bus, name) for name in bus.signature.members}
    return Instance(
        "flashtrain_nand_checker",
        p_DIES=g.dies, p_PLANES=g.planes, p_BLOCKS=g.blocks, p_PAGES=g.pages,
        p_PAGE_BYTES=g.raw_page_bytes, p_WORD_BYTES=config.die_word_bytes, p_CLOCK_MHZ=t.clock_mhz,
        **timings,
        i_clk=ClockSignal(), i_rst=ResetSignal(), i_cycle=cycle, i_channel=Const(channel, 8),
        **pins,
        o_violations=violations,
    )  # fmt: skip


def build_library(config: FmsConfig) -> Path:
    """The system as a shared library for :class:`flashtrain.sim.rtl_link.RtlLink`; built once per content."""
    sources = exported_sources(lambda: FmsSystem(config), TOP, repr(config))
    folder = _HERE / "verilated_fms"
    cpp = [folder / "device.cpp", folder / "axi_memory.h", _HERE / "nand" / "array_store.cpp"]
    return build_shared_library([*sources, *NAND_MODELS], cpp, TOP)
