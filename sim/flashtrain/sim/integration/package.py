"""Everything that `flashtrain verilog` writes for a configuration.

package = integration_package(export_designs(preset("tiny")))
package.write(Path("build/verilog/tiny"))
package.check()       # Verilator's lint
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from amaranth.lib import wiring

from flashtrain.rtl.clocks import Clocks
from flashtrain.rtl.controller import Controller, clock_domains
from flashtrain.rtl.export import axi_wrapper, pins
from flashtrain.rtl.export.axi_wrapper import CONTROLLER, DRIVE
from flashtrain.rtl.export.black_boxes import with_black_boxes
from flashtrain.rtl.export.drive_pins import drive_bundles
from flashtrain.rtl.export.inventory import MemoryUse, memories
from flashtrain.rtl.export.readable import readable
from flashtrain.rtl.export.systemverilog import ExportedDesign, export_design, lint
from flashtrain.sim.link.pcie_model import PcieSizes
from flashtrain.sim.nand import QUIET_HOST, VERILATOR_SOURCES, NandChannel
from flashtrain.spec import FmsConfig
from flashtrain.spec.errors import require
from flashtrain.spec.pcie import MAX_ENTRIES, MAX_QUEUES
from flashtrain.writing import write_text

from . import (
    bench_parts,
    board_constraints,
    constraints,
    drive_testbench,
    file_lists,
    fusesoc_core,
    manifest,
    sim_top,
    testbench,
)
from .files import SIMULATED, File, Role, of_role

DIE = "flashtrain_die"
TENSOR_BUFFER = Path(__file__).with_name("tensor_buffer.sv")
PHY = Path(__file__).with_name("phy.sv")
WAIVERS = "flashtrain.vlt"


@dataclass(frozen=True)
class IntegrationPackage:
    """`files` are what tools read; `lists` has the other files, as text by path; `tops` a module per use."""

    files: tuple[File, ...]
    lists: dict[str, str]
    tops: dict[str, str]

    @property
    def texts(self) -> dict[str, str]:
        """All files, by path."""
        return {**{file.path: file.text for file in self.files}, **self.lists}

    def write(self, folder: Path) -> None:
        """Write all files below `folder`."""
        for name, text in self.texts.items():
            write_text(folder / name, text)

    def check(self) -> None:
        """Verilator's lint of the simulation top, and so of all below it: the controller and the dies.

        Raises `LintError`. Each module is read once (`export.black_boxes`).
        """
        models = of_role(self.files, *SIMULATED[:-1])
        texts = {WAIVERS: self.texts[WAIVERS], **with_black_boxes({file.path: file.text for file in models})}
        with TemporaryDirectory(prefix="flashtrain-") as name:
            folder = Path(name)
            for path, text in texts.items():
                write_text(folder / path, text)
            lint(map(Path, texts), sim_top.TOP, waived=(), folder=folder)


@dataclass(frozen=True)
class Designs:
    """The elaborated designs: controller or drive, and NAND packages of a channel. The system's clock and PCI
    Express change them, no other option.

    pcie: sizes of the drive on PCI Express, which `controller` is then.
    """

    config: FmsConfig
    clocks: Clocks
    controller: ExportedDesign
    nand: ExportedDesign
    memories: tuple[MemoryUse, ...]
    pcie: PcieSizes | None = None

    @property
    def name(self) -> str:
        """Of the configuration, with the options that its files depend on in all."""
        return f"{self.config.name}_pcie" if self.pcie else self.config.name


def export_designs(
    config: FmsConfig,
    system_mhz: float | None = None,
    step: Callable[[str], None] = lambda top: None,
    pcie: bool = False,
) -> Designs:
    """Elaborate and write; `step` is called with the name of each design.

    - system_mhz: clock of the front end and the AXI ports, if they have one of their own.
    - pcie: the function on PCI Express before the controller, with its most queues and entries.

    :class:`ConfigError` for both: the function has the clock of the NAND.
    """
    require(not (pcie and system_mhz), "system_clock", system_mhz,
            "none with PCI Express, whose function has the clock of the NAND")  # fmt: skip
    sizes = PcieSizes.of(config, MAX_QUEUES, MAX_ENTRIES) if pcie else None
    clocks = Clocks(config.timing.clock_mhz, system_mhz)

    def export(name: str, component: wiring.Component, domains: Iterable[str] = ("sync",)) -> ExportedDesign:
        step(name)
        return readable(export_design(component, name, domains))

    def top() -> wiring.Component:
        return sizes.drive(config) if sizes else Controller(config, clocks)

    return Designs(
        config,
        clocks,
        export((DRIVE if sizes else CONTROLLER).module, top(), clock_domains(clocks)),
        export("flashtrain_nand_channel", NandChannel(config)),
        tuple(memories(top())),
        sizes,
    )


def integration_package(designs: Designs, phy: bool = False) -> IntegrationPackage:
    """The export of a configuration. phy: the simulation has ONFI's pins at double data rate.

    :class:`ConfigError` for a PHY of channels with a command port, SDR or SCA, whose pins the model does not
    have.
    """
    config, clocks = designs.config, designs.clocks
    require(not (phy and config.command_port), "command_port", config.command_port,
            "false with the model of a PHY, which has no asynchronous interface")  # fmt: skip
    require(not (phy and config.chips.sdr), "chips.sdr", config.chips.sdr,
            "false with the model of a PHY, which has no asynchronous interface")  # fmt: skip
    require(not (phy and config.chips.sca), "chips.sca", config.chips.sca,
            "false with the model of a PHY, which has no bus of commands")  # fmt: skip
    name, sizes = designs.name, designs.pcie
    wrapping = DRIVE if sizes else CONTROLLER
    bundles = drive_bundles(sizes.drive(config)) if sizes else pins.bundles(config)
    bench = (
        drive_testbench.drive_testbench(config, sizes, bundles, clocks, phy)
        if sizes
        else testbench.testbench(config, bundles, clocks, phy)
    )
    rtl = _children_first(designs.controller.files)
    rtl[f"{wrapping.top}.sv"] = axi_wrapper.wrapper(wrapping, bundles, clocks)
    models = _children_first(designs.nand.files)
    die = models.pop(f"{DIE}.sv")
    models[f"{sim_top.TOP}.sv"] = sim_top.sim_top(wrapping.top, bundles, clocks, phy)
    files = [
        *_written("rtl", Role.RTL, rtl),
        File(f"rtl/{DIE}.sv", Role.DIE, die),
        *_copied(Role.MODEL, *(path for path in VERILATOR_SOURCES if path.suffix == ".sv")),
        *(_copied(Role.MODEL, PHY) if phy else ()),
        *_written("sim", Role.MODEL, models),
        *(() if sizes else _copied(Role.BENCH, TENSOR_BUFFER)),
        File(f"sim/{bench_parts.TOP}.sv", Role.BENCH, bench),
        *_copied(Role.DPI, *(path for path in (*VERILATOR_SOURCES, QUIET_HOST) if path.suffix != ".sv")),
        File(
            "flashtrain.sdc", Role.CONSTRAINTS, constraints.controller_constraints(wrapping.top, name, clocks)
        ),
        File("flashtrain.xdc", Role.CONSTRAINTS, board_constraints.xdc(wrapping.top, name, clocks)),
        File("flashtrain.lpf", Role.CONSTRAINTS, board_constraints.lpf(wrapping.top, name, clocks)),
        File("flashtrain_die.sdc", Role.DIE_CONSTRAINTS, constraints.die_constraints(config)),
        File(WAIVERS, Role.WAIVERS, file_lists.waivers()),
    ]
    tops = {
        "wrapper": wrapping.top,
        **({"drive": DRIVE.module} if sizes else {}),
        "controller": CONTROLLER.module,
        "die": DIE,
        "simulation": sim_top.TOP,
        "testbench": bench_parts.TOP,
    }
    lists = file_lists.file_lists(files, bench_parts.TOP)
    lists[fusesoc_core.PATH] = fusesoc_core.core(
        name, "a drive on PCI Express" if sizes else "the controller", files, wrapping.top, bench_parts.TOP
    )
    lists[manifest.PATH] = manifest.manifest(
        config, clocks, files, tops, bundles, (designs.controller, designs.nand), designs.memories, sizes
    )
    return IntegrationPackage(tuple(files), lists, tops)


def _children_first(texts: dict[str, str]) -> dict[str, str]:
    """A module behind those that it instantiates; the export has its top first."""
    return dict(reversed(texts.items()))


def _written(folder: str, role: Role, texts: dict[str, str]) -> list[File]:
    return [File(f"{folder}/{name}", role, text) for name, text in texts.items()]


def _copied(role: Role, *paths: Path) -> list[File]:
    return [File(f"sim/{path.name}", role, path.read_text(encoding="utf-8")) for path in paths]
