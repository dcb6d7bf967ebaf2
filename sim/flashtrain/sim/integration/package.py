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
from flashtrain.rtl.export.black_boxes import with_black_boxes
from flashtrain.rtl.export.inventory import MemoryUse, memories
from flashtrain.rtl.export.readable import readable
from flashtrain.rtl.export.systemverilog import ExportedDesign, export_design, lint
from flashtrain.sim.nand import QUIET_HOST, VERILATOR_SOURCES, NandChannel
from flashtrain.spec import FmsConfig
from flashtrain.spec.errors import require
from flashtrain.writing import write_text

from . import board_constraints, constraints, file_lists, fusesoc_core, manifest, sim_top, testbench
from .files import SIMULATED, File, Role, of_role

DIE = "flashtrain_die"
CONTROLLER = "flashtrain"
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
    """The elaborated designs: controller, and NAND packages of a channel. Only the system's clock changes
    them, no other option.
    """

    config: FmsConfig
    clocks: Clocks
    controller: ExportedDesign
    nand: ExportedDesign
    memories: tuple[MemoryUse, ...]


def export_designs(
    config: FmsConfig, system_mhz: float | None = None, step: Callable[[str], None] = lambda top: None
) -> Designs:
    """Elaborate and write; `step` is called with the name of each design.

    system_mhz: clock of the front end and the AXI ports, if they have one of their own.
    """
    clocks = Clocks(config.timing.clock_mhz, system_mhz)

    def export(name: str, component: wiring.Component, domains: Iterable[str] = ("sync",)) -> ExportedDesign:
        step(name)
        return readable(export_design(component, name, domains))

    return Designs(
        config,
        clocks,
        export(CONTROLLER, Controller(config, clocks), clock_domains(clocks)),
        export("flashtrain_nand_channel", NandChannel(config)),
        tuple(memories(Controller(config, clocks))),
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
    bundles = pins.bundles(config)
    rtl = _children_first(designs.controller.files)
    rtl[f"{axi_wrapper.TOP}.sv"] = axi_wrapper.axi_wrapper(bundles, clocks)
    models = _children_first(designs.nand.files)
    die = models.pop(f"{DIE}.sv")
    models[f"{sim_top.TOP}.sv"] = sim_top.sim_top(bundles, clocks, phy)
    files = [
        *_written("rtl", Role.RTL, rtl),
        File(f"rtl/{DIE}.sv", Role.DIE, die),
        *_copied(Role.MODEL, *(path for path in VERILATOR_SOURCES if path.suffix == ".sv")),
        *(_copied(Role.MODEL, PHY) if phy else ()),
        *_written("sim", Role.MODEL, models),
        *_copied(Role.BENCH, TENSOR_BUFFER),
        File(f"sim/{testbench.TOP}.sv", Role.BENCH, testbench.testbench(config, bundles, clocks, phy)),
        *_copied(Role.DPI, *(path for path in (*VERILATOR_SOURCES, QUIET_HOST) if path.suffix != ".sv")),
        File("flashtrain.sdc", Role.CONSTRAINTS, constraints.controller_constraints(config.name, clocks)),
        File("flashtrain.xdc", Role.CONSTRAINTS, board_constraints.xdc(config.name, clocks)),
        File("flashtrain.lpf", Role.CONSTRAINTS, board_constraints.lpf(config.name, clocks)),
        File("flashtrain_die.sdc", Role.DIE_CONSTRAINTS, constraints.die_constraints(config)),
        File(WAIVERS, Role.WAIVERS, file_lists.waivers()),
    ]
    tops = {
        "wrapper": axi_wrapper.TOP,
        "controller": CONTROLLER,
        "die": DIE,
        "simulation": sim_top.TOP,
        "testbench": testbench.TOP,
    }
    lists = file_lists.file_lists(files, testbench.TOP)
    lists[fusesoc_core.PATH] = fusesoc_core.core(config, files, axi_wrapper.TOP, testbench.TOP)
    lists[manifest.PATH] = manifest.manifest(
        config, clocks, files, tops, bundles, (designs.controller, designs.nand), designs.memories
    )
    return IntegrationPackage(tuple(files), lists, tops)


def _children_first(texts: dict[str, str]) -> dict[str, str]:
    """A module behind those that it instantiates; the export has its top first."""
    return dict(reversed(texts.items()))


def _written(folder: str, role: Role, texts: dict[str, str]) -> list[File]:
    return [File(f"{folder}/{name}", role, text) for name, text in texts.items()]


def _copied(role: Role, *paths: Path) -> list[File]:
    return [File(f"sim/{path.name}", role, path.read_text(encoding="utf-8")) for path in paths]
