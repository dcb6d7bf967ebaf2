"""A drive on PCI Express with its firmware on a core of RISC-V, and everything behind its NAND pins."""

import sys
from pathlib import Path

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import Out, connect

from flashtrain.firmware import firmware_tables
from flashtrain.firmware.sources import write_firmware
from flashtrain.native.compiler import run
from flashtrain.nvme.subsystem.settings import SubsystemSettings
from flashtrain.rtl.lib.forward import forward
from flashtrain.rtl.pcie.firmware_processor import FirmwareProcessor
from flashtrain.sim.nand import QUIET_HOST, VERILATOR_SOURCES
from flashtrain.sim.verilator.verilated import exported_sources
from flashtrain.spec import FmsConfig, NodeTable
from tests.rtl.pcie.drive_system import DriveSystem

TOP = "flashtrain_processor_bench"
TARGET = ("-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+m")
OPTIONS = ("-std=c99", "-Os", "-ffreestanding", "-fno-builtin", "-nostdlib", "-Wall", "-Wextra", "-Werror")
PROGRAM = Path("sw", "flashtrain", "firmware", "riscv")
SERIAL = "processor"


def program(folder: Path, tables: bytes) -> bytes:
    """The memory of the processor: firmware with these tables, compiled by Zig's C compiler."""
    write_firmware(folder, tables)
    zig = [sys.executable, "-m", "ziglang"]
    units = [*sorted(folder.glob("*.c")), (PROGRAM / "boot.c").resolve()]
    linked, image = folder / "firmware.elf", folder / "firmware.bin"
    script = f"-Wl,-T,{(PROGRAM / 'link.ld').resolve()}"
    build = [*zig, "cc", *TARGET, *OPTIONS, "-I", folder, *units, script, "-o", linked]
    run(build, folder / "build.log", "the firmware for RISC-V")
    run([*zig, "objcopy", "-O", "binary", linked, image], folder / "image.log", "the image of the firmware")
    return image.read_bytes()


def tables_of(config: FmsConfig, node: NodeTable, sizes: dict[str, int]) -> bytes:
    settings = SubsystemSettings(queues=sizes["queues"], entries=sizes["entries"])
    return firmware_tables(config, node, sizes["slots"], sizes["most_bytes"], settings, SERIAL)


class ProcessorSystem(wiring.Component):
    """`DriveSystem` whose firmware is the image of a `FirmwareProcessor`. trap : Out(1)   see there"""

    def __init__(self, config: FmsConfig, image: bytes, **sizes: int):
        self._drive = DriveSystem(config, **sizes)
        self._processor = FirmwareProcessor(image)
        members = self._drive.signature.members
        inside = {"firmware", "values", "registers", "attention"}
        self._outer = [name for name in members if name not in inside]
        super().__init__({name: members[name] for name in self._outer} | {"trap": Out(1)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.drive, m.submodules.processor = drive, processor = self._drive, self._processor
        forward(m, drive, self, self._outer)
        connect(m, processor.firmware, drive.firmware)
        connect(m, drive.values, processor.values)
        connect(m, processor.registers, drive.registers)
        m.d.comb += [processor.attention.eq(drive.attention), self.trap.eq(processor.trap)]
        return m


def processor_sources(config: FmsConfig, image: bytes, **sizes: int) -> list[Path]:
    """All sources of the design for Verilator; the top module is `TOP`."""
    import pythondata_cpu_picorv32

    key = f"{config!r} {sizes!r} {image.hex()}"
    exported = exported_sources(lambda: ProcessorSystem(config, image, **sizes), TOP, key)
    core = Path(pythondata_cpu_picorv32.data_location, "picorv32.v")
    return [*exported, core, *VERILATOR_SOURCES, QUIET_HOST]
