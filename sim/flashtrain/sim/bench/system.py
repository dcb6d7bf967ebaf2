"""The simulated system: the controller and everything behind its NAND pins."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from amaranth import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from flashtrain.rtl.clocks import Clocks
from flashtrain.rtl.controller import Controller, clock_domains
from flashtrain.rtl.lib.axi import Axi4LiteSignature, Axi4Signature
from flashtrain.rtl.lib.forward import forward
from flashtrain.rtl.lib.shared import SharedModule
from flashtrain.sim.nand import NandChannel
from flashtrain.spec import FmsConfig
from flashtrain.spec.registers import ADDRESS_BITS


class FmsSystem(wiring.Component):
    """A controller with dies, arrays and checkers on its pins; the bench drives the other side.

    `clocks`: frequencies, see `Controller`. bad_block, bad_planes: see `NandChannel`. watched: more members
    of a subclass.

    Members
    -------
    data, queue, registers, irq : see `Controller`
    violations : Out(32)   breaches of the NAND protocol so far, by arrays and checkers
    """

    def __init__(
        self,
        config: FmsConfig,
        *,
        clocks: Clocks | None = None,
        bad_block: int | None = None,
        bad_planes: int = 0,
        watched: Mapping[str, wiring.Member] = MappingProxyType({}),
    ):
        self.config = config
        self.clocks = clocks or Clocks(config.timing.clock_mhz)
        self.bad_block = bad_block
        self.bad_planes = bad_planes
        super().__init__({
            "data": Out(Axi4Signature(address_bits=config.address_bits, data_bits=8 * config.data_bytes)),
            "queue": Out(Axi4Signature(address_bits=config.address_bits, data_bits=64)),
            "registers": In(Axi4LiteSignature(address_bits=ADDRESS_BITS)),
            "irq": Out(1),
            "violations": Out(32),
            **watched,
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        domains = clock_domains(self.clocks)
        m.submodules.fms = fms = SharedModule(
            Controller(self.config, self.clocks), "flashtrain_controller",
            domains={domain: domain for domain in domains},
        )  # fmt: skip
        forward(m, fms, self, ("data", "queue", "registers", "irq"))

        nand = NandChannel(self.config, bad_block=self.bad_block, bad_planes=self.bad_planes)
        violations = attach_dies(m, fms.nand, nand, domains[-1])
        m.d.comb += self.violations.eq(violations)
        return m


def attach_dies(m: Module, pins: Iterable, nand: NandChannel, domain: str = "sync") -> Value | int:
    """Dies, arrays and checkers on the NAND pins of each channel, in `domain`; breaches of the protocol."""
    # Cycles since the simulation began; they stamp messages and events.
    cycle = Signal(64, reset_less=True)
    m.d[domain] += cycle.eq(cycle + 1)
    violations: Value | int = 0
    for number, bus in enumerate(pins):
        m.submodules[f"nand_{number}"] = channel = SharedModule(
            nand, "flashtrain_nand_channel", domains={"sync": domain}
        )
        connect(m, bus, channel.bus)
        m.d.comb += [channel.cycle.eq(cycle), channel.channel.eq(number)]
        violations += channel.violations
    return violations
