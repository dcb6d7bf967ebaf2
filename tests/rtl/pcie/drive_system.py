"""A drive on PCI Express with everything behind its NAND pins."""

from pathlib import Path

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from flashtrain.rtl.lib.forward import forward
from flashtrain.rtl.pcie.pcie_controller import PcieController
from flashtrain.sim.bench.system import attach_dies
from flashtrain.sim.nand import QUIET_HOST, VERILATOR_SOURCES, NandChannel
from flashtrain.sim.verilator.verilated import exported_sources
from flashtrain.spec import FmsConfig

TOP = "flashtrain_drive_bench"


class DriveSystem(wiring.Component):
    """A `PcieController` with dies, arrays and checkers on its pins.

    Members, beside those of the controller's host and firmware
    -------
    violations : Out(32)   breaches of the NAND protocol so far
    """

    def __init__(self, config: FmsConfig, **sizes: int):
        self.config = config
        self._drive = PcieController(config, **sizes)
        members = self._drive.signature.members
        super().__init__({name: members[name] for name in self._drive.outer} | {"violations": Out(32)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.drive = drive = self._drive
        forward(m, drive, self, drive.outer)
        m.d.comb += self.violations.eq(attach_dies(m, drive.nand, NandChannel(self.config)))
        return m


def drive_sources(config: FmsConfig, **sizes: int) -> list[Path]:
    """All sources of the design for Verilator; the top module is `TOP`."""
    exported = exported_sources(lambda: DriveSystem(config, **sizes), TOP, f"{config!r} {sizes!r}")
    return [*exported, *VERILATOR_SOURCES, QUIET_HOST]
